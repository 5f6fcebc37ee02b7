//! Scenes from seeds, and tables from scenes: what `crates/replica/tables/make` relies on.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{command, netloom, stderr};

/// A file of this test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("netloom-scene-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.0).expect("the command wrote it")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may never have been written.
        let _gone = fs::remove_file(&self.0);
    }
}

fn run(arguments: &[&str]) {
    let output = netloom(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
}

#[test]
fn a_seed_gives_the_same_scene_and_a_scene_the_same_table_byte_by_byte() {
    let scenes = [Scratch::new("a.scene"), Scratch::new("b.scene")];
    let tables = [Scratch::new("a.table"), Scratch::new("b.table")];
    for (scene, table) in scenes.iter().zip(&tables) {
        run(&["scene", "walk:3", "--seconds", "9", "--out", scene.path()]);
        run(&["train", scene.path(), "--only-these", "--even", "--name", "walk", "--out", table.path()]);
    }
    assert_eq!(scenes[0].bytes(), scenes[1].bytes());
    assert_eq!(tables[0].bytes(), tables[1].bytes());
    let other = Scratch::new("c.scene");
    run(&["scene", "walk:4", "--seconds", "9", "--out", other.path()]);
    assert_ne!(scenes[0].bytes(), other.bytes());
}

#[test]
fn a_match_of_bots_is_a_scene_that_tables_can_be_trained_on_from_nothing() {
    let scenes = [Scratch::new("m.scene"), Scratch::new("n.scene")];
    for scene in &scenes {
        let arguments = ["scene", "rtype:7", "--seconds", "8", "--players", "2", "--out", scene.path()];
        let output = command(&arguments).env("NETLOOM_RTYPE_BOTS", "2").output().expect("the command starts");
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(scenes[0].bytes(), scenes[1].bytes());
    let table = Scratch::new("m.table");
    let [scene, out] = [scenes[0].path(), table.path()];
    run(&["train", scene, "--prior", "untrained", "--only-these", "--name", "m", "--out", out]);
    run(&["train", scene, "--prior", out, "--only-these", "--name", "m", "--out", out]);
}

#[test]
fn mistakes_say_what_would_be_right() {
    let out = Scratch::new("never.scene");
    for (arguments, part) in [
        (&["scene", "chess:7", "--out", out.path()][..], "planet, walk, wander, rtype, cubes"),
        (&["scene", "rigid", "--out", out.path()], "rigid:7"),
        (&["scene", "walk:x", "--out", out.path()], "walk:7"),
        (&["scene", "walk:1", "--players", "3", "--out", out.path()], "rtype"),
        (&["scene", "rtype:1", "--players", "5", "--out", out.path()], "4 places"),
        (&["scene", "walk:1", "--seconds", "0", "--out", out.path()], "1..=3600"),
        (&["scene", "walk:1", "--seconds", "1", "--out", "no/such/folder/x.scene"], "a folder that exists"),
    ] {
        let output = netloom(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}
