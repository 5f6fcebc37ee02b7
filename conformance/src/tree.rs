//! The files that a check may look at.
//!
//! A checker that reads the disk directly can only be tested on a correct repository, where it has nothing to find.
//! The checkers take a [`Tree`] instead: the tests of the checkers hand in a small wrong one, the tests of the
//! repository hand in the real one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders that hold nothing anyone wrote: build output, fetched packages, fuzzing finds and seeds.
const FOLDERS_SKIPPED: [&str; 7] =
    [".git", "target", "node_modules", "__pycache__", "corpus", "artifacts", "coverage"];

/// A set of text files, each named by its path from the root with `/` between the parts.
pub trait Tree {
    /// The text of a file, or `None` when there is no such text file.
    fn read(&self, path: &str) -> Option<String>;

    /// All files below a folder (`""` is the root), sorted.
    fn files_below(&self, folder: &str) -> Vec<String>;
}

/// The repository on the disk.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that this crate was built in.
    pub fn of_this_build() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Self { root }
    }

    /// A file's place on the disk.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl Tree for Repository {
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    fn files_below(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(self.path(&folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !FOLDERS_SKIPPED.contains(&name.as_str()) => {
                        folders.push(path)
                    }
                    Ok(kind) if kind.is_file() => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}

/// Files held in memory, for testing the checkers.
impl Tree for BTreeMap<&str, &str> {
    fn read(&self, path: &str) -> Option<String> {
        self.get(path).map(|text| (*text).to_owned())
    }

    fn files_below(&self, folder: &str) -> Vec<String> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.keys().filter(|path| path.starts_with(&prefix)).map(|path| (*path).to_owned()).collect()
    }
}
