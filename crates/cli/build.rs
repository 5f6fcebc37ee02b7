//! Puts the pages and the JavaScript SDK into the program.
//!
//! A server that is one file has no folder to get lost, and a path that is not in the table cannot be asked for. So the folders are
//! walked when the program is built, and every file becomes a row: its path, its type, its bytes plain and packed, its tag.
//!
//! ```text
//!   pages/cubes/index.html       ──▶  /cubes/                    every game has a folder; its page is also at / while it is served
//!   games/rtype/web/main.js      ──▶  /rtype/main.js
//!   games/rtype/levels/1.json    ──▶  /rtype/levels/1.json
//!   pages/common/chat.js         ──▶  /common/chat.js            what the pages of games share
//!   bindings/js/src/index.js     ──▶  /netloom/index.js          without src/node, which browsers cannot run
//! ```
//!
//! A line `<!-- include common/chat.html -->` of a page stands for the file of that name in pages.
//!
//! Two fifths of the scripts are comments, for those who read the repository. Browsers get the lines that are left, and few of their
//! spaces.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use zopfli::{Format, Options};

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let mut files = Vec::new();
    let pages = here.join("pages");
    collect(&pages, "", &[], &mut files);
    let tools = ["test", "package.json", "tsconfig.json"];
    collect(&here.join("../../games/rtype/web"), "/rtype", &tools, &mut files);
    collect(&here.join("../../games/rtype/levels"), "/rtype/levels", &[], &mut files);
    collect(&here.join("../../bindings/js/src"), "/netloom", &["node"], &mut files);
    files.retain(|(path, _)| !path.ends_with(".html"));
    files.sort();
    let mut table = String::from("&[\n");
    for (number, (path, file)) in files.iter().enumerate() {
        let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let kind = content_type(file);
        let bytes = match kind.split(';').next() {
            Some("text/javascript") => without_comments(&bytes, file),
            Some("text/html") => with_includes(&bytes, file, &pages),
            _ => bytes,
        };
        let packed = packed(&bytes).filter(|packed| is_text(kind) && packed.len() < bytes.len());
        let keep = |name: String, bytes: &[u8]| {
            let file = out.join(name);
            std::fs::write(&file, bytes).expect("the folder of build output can be written to");
            format!("include_bytes!({file:?})")
        };
        let packed = packed.map(|packed| keep(format!("page-{number}.gz"), &packed));
        let packed = packed.map_or(String::from("None"), |packed| format!("Some({packed})"));
        let (tag, plain) = (hash(&bytes), keep(format!("page-{number}"), &bytes));
        writeln!(
            table,
            "Page {{ path: {path:?}, content_type: {kind:?}, tag: \"{tag:016x}\", plain: {plain}, packed: {packed} }},"
        )
        .expect("a string takes everything");
    }
    table.push(']');
    std::fs::write(out.join("pages.rs"), table).expect("the folder of build output can be written to");
}

/// The files of a folder and of those in it, if there is one, each with the path that it is asked for by.
fn collect(folder: &Path, path: &str, without: &[&str], files: &mut Vec<(String, PathBuf)>) {
    // A folder that does not exist is watched, too: it may come.
    println!("cargo::rerun-if-changed={}", folder.display());
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.expect("a folder can be read to its end");
        let name = entry.file_name().into_string().expect("names in pages are plain text");
        if name.starts_with('.') || without.contains(&&*name) {
            continue;
        }
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
            "{}: a name with letters that are written differently in addresses",
            entry.path().display()
        );
        match (entry.path().is_dir(), &*name) {
            (true, _) => collect(&entry.path(), &format!("{path}/{name}"), without, files),
            (false, "index.html") => files.push((format!("{path}/"), entry.path())),
            (false, _) => files.push((format!("{path}/{name}"), entry.path())),
        }
    }
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("txt" | "md" | "ts") => "text/plain; charset=utf-8",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("ogg") => "audio/ogg",
        _ => "application/octet-stream",
    }
}

/// A page with the parts that it shares with others in their places, indented as the lines that stand for them.
fn with_includes(bytes: &[u8], file: &Path, pages: &Path) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut whole = String::with_capacity(2 * text.len());
    for line in text.lines() {
        let part = line.trim().strip_prefix("<!-- include ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(part) = part.map(|name| pages.join(name)) else {
            whole += line;
            whole.push('\n');
            continue;
        };
        let content = std::fs::read_to_string(&part)
            .unwrap_or_else(|error| panic!("{} includes {}: {error}", file.display(), part.display()));
        let indent = &line[..line.len() - line.trim_start().len()];
        content.lines().for_each(|line| whole.extend([indent, line, "\n"]));
    }
    whole.into_bytes()
}

/// A script without its documentation, types, indentation, empty lines and most spaces. What looks like a comment in a template literal is text: an
/// odd number of backticks in a line begins or ends one.
fn without_comments(bytes: &[u8], file: &Path) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (mut is_template, mut is_comment) = (false, false);
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let trimmed = line.trim();
        let begins = !is_template && trimmed.starts_with("/*");
        let ends = trimmed.find("*/").map(|at| at + 2 == trimmed.len());
        if is_comment || (begins && ends != Some(false)) {
            is_comment = ends.is_none();
            assert_ne!(ends, Some(false), "{}: code behind a comment: {line}", file.display());
        } else if is_template || !(trimmed.is_empty() || trimmed.starts_with("//")) {
            kept.push_str(&if is_template { String::from(line) } else { narrow(&without_types(trimmed)) });
            kept.push('\n');
            is_template ^= line.matches('`').count() % 2 == 1;
        }
    }
    assert!(
        !is_comment && !is_template,
        "{}: a comment or a template literal without an end",
        file.display()
    );
    kept.into_bytes()
}

/// A line without the types in it, `/** … */`, unless that may be in a text: behind an odd number of quotes.
fn without_types(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, (_, after))) =
        rest.split_once("/**").and_then(|(before, comment)| Some((before, comment.split_once("*/")?)))
    {
        kept.push_str(before);
        if ['"', '\'', '`'].iter().any(|quote| kept.matches(*quote).count() % 2 == 1) {
            return String::from(line);
        }
        rest = after.trim_start();
    }
    kept + rest
}

/// A line without the spaces around what separates words anyway, unless it has anything that may be a text or an expression
/// in which a space counts: 2 % less once it is packed.
fn narrow(line: &str) -> String {
    if line.contains(['"', '\'', '`', '/', '\\']) {
        return String::from(line);
    }
    let separates = |one: Option<char>| one.is_some_and(|one| "{}()=,;:?<>*&|".contains(one));
    let mut kept = String::new();
    let mut rest = line.chars().peekable();
    while let Some(one) = rest.next() {
        if one != ' ' || !(separates(kept.chars().last()) || separates(rest.peek().copied())) {
            kept.push(one);
        }
    }
    kept
}

/// Whether packing such a file is worth trying.
fn is_text(content_type: &str) -> bool {
    ["text/", "application/json", "application/manifest", "image/svg", "application/wasm"]
        .iter()
        .any(|kind| content_type.starts_with(kind))
}

/// As gzip, by the packer that takes longest and leaves least: 3 % less than the usual one, once for every build.
fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::new();
    zopfli::compress(Options::default(), Format::Gzip, bytes, &mut packed).ok()?;
    Some(packed)
}

/// FNV-1a: tells one content from another, which is all that a tag is for.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
