//! The shooter through the command: what serves by default, who plays it, and what is wrong with a level.

mod common;

use std::path::PathBuf;

use common::{Running, Server, assert_fails, command, netloom, stderr, stdout};
use netloom_scene::{Ending, Recording, Source};
use netloom_wire::Tick;
use serde_json::Value;

const RTYPE: [&str; 2] = ["--game", "rtype"];

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("netloom-rtype-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn serve(arguments: &[&str]) -> Server {
    Server::start(&[&RTYPE, arguments].concat())
}

#[test]
fn it_is_served_by_default_and_says_how_to_play() {
    let mut plain = std::process::Command::new(env!("CARGO_BIN_EXE_netloom"));
    let plain = plain.args(["serve", "--bind", "udp://127.0.0.1:0", "--http", "127.0.0.1:0"]);
    let mut server = Running::start(plain.args(["--no-webtransport", "--metrics", ""]));
    server.line_with("Netloom serves rtype");
    let rates = server.line_with("players each");
    assert!(rates.starts_with("1 room for 4 players each, 60 steps and 30 snapshots"), "{rates}");
    server.line_with("open this in a browser");
    server.line_with("  http://127.0.0.1:");
    let connect = server.line_with("netloom connect");
    assert!(!connect.contains("--game"), "{connect}");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn bots_get_through_the_lobby_play_and_see_the_world_of_the_server() {
    let server = serve(&["--rooms", "2"]);
    // Five do not fit into one room: the fifth has another one.
    let arguments = ["bots", server.address(), "--count", "5", "--duration", "4", "--behaviour", "wander"];
    let output = netloom(&[&arguments[..], &["--json"], &RTYPE].concat());
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    assert_eq!((&report["joined"], &report["hash_mismatches"]), (&5.into(), &0.into()), "{report:#}");
    assert_eq!(report["worlds"].as_array().map(Vec::len), Some(2), "{report:#}");
    let ships = |world: &Value| world["objects"].as_u64() > world["bots"].as_u64();
    assert!(report["worlds"].as_array().unwrap().iter().all(ships), "{report:#}");
    assert!(output.status.success());
}

#[test]
fn a_player_in_a_terminal_flies() {
    let server = serve(&[]);
    let arguments = ["connect", server.address(), "--plain", "--frames", "300"];
    let output = netloom(&[&arguments[..], &RTYPE].concat());
    let shown = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    let places: Vec<&str> = shown.lines().filter_map(|line| line.split(" at=").nth(1)).collect();
    let flown: Vec<&&str> = places.iter().filter(|place| **place != "nowhere").collect();
    assert!(flown.len() > 2 && flown.windows(2).any(|pair| pair[0] != pair[1]), "{shown}");
}

#[test]
fn the_truth_has_a_line_for_every_step_with_everything_in_it() {
    let path = folder("truth").join("truth.jsonl");
    let mut server = serve(&["--truth", &path.to_string_lossy()]);
    let arguments = ["connect", server.address(), "--plain", "--frames", "240"];
    assert!(netloom(&[&arguments[..], &RTYPE].concat()).status.success());
    server.process.signal("TERM");
    assert_eq!(server.process.wait().code(), Some(0));
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert!(steps.len() > 60 && steps.windows(2).all(|pair| pair[1] == pair[0] + 1), "{} steps", steps.len());
    let times: Vec<f64> = lines.iter().map(|line| line["ms"].as_f64().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[1] > pair[0]));
    let ship = |line: &Value| {
        let objects = line["objects"].as_array().unwrap();
        objects.iter().find(|object| object["class"] == "Ship").cloned()
    };
    let ships: Vec<Value> = lines.iter().filter_map(ship).collect();
    assert!(ships.iter().all(|ship| ship["seat"] == 0 && ship["owner"] == 1 && ship["id"] == ships[0]["id"]));
    assert!(ships.iter().any(|ship| ship["x"] != ships[0]["x"]), "it flew");
    let nowhere = netloom(&["serve", "--game", "rtype", "--truth", "/no/such/folder/truth"]);
    assert_fails(&nowhere, 2, &["--truth", "/no/such/folder/truth"]);
}

#[test]
fn a_recorded_scene_has_the_ship_that_flew_and_plays_again() {
    let path = folder("scene").join("rtype.scene");
    let mut server = serve(&["--record-scene", &path.to_string_lossy()]);
    let arguments = ["connect", server.address(), "--plain", "--frames", "240"];
    assert!(netloom(&[&arguments[..], &RTYPE].concat()).status.success());
    server.process.signal("TERM");
    assert_eq!(server.process.wait().code(), Some(0));
    let mut scene = Recording::open(&path).unwrap();
    assert_eq!((scene.name(), scene.ticks_per_second()), ("rtype", 30));
    let mut world = scene.world().unwrap();
    let (mut tick, mut ships) = (Tick(0), std::collections::BTreeSet::new());
    while scene.play(&mut world).unwrap() {
        tick = tick.next();
        world.commit(tick).unwrap();
        let ship = world.iter().find(|object| object.class().schema().name() == "Ship");
        ships.extend(ship.map(|ship| ship.words().to_vec()));
    }
    assert_eq!(scene.ending(), Some(Ending::Finished), "the server ended the file when it stopped");
    assert!(tick.0 > 60 && ships.len() > 10, "{} ticks, {} states of a ship", tick.0, ships.len());
    let nowhere = netloom(&["serve", "--game", "rtype", "--record-scene", "/no/such/folder/a.scene"]);
    assert_fails(&nowhere, 2, &["--record-scene", "/no/such/folder/a.scene", "folder that exists"]);
}

#[test]
fn levels_of_ones_own_are_played_and_mistakes_in_them_have_their_place() {
    let path = folder("levels");
    let level = path.join("1.json");
    let shown = level.to_string_lossy().into_owned();
    let levels = path.to_string_lossy().into_owned();
    let fails = |arguments: &[&str], parts: &[&str]| {
        let all = [&["serve", "--metrics", "", "--bind", "127.0.0.1:0"][..], &RTYPE, arguments].concat();
        assert_fails(&netloom(&all), 2, parts);
    };
    fails(&["--levels", "/no/such/folder"], &["/no/such/folder"]);
    fails(&["--level", "99"], &["99", "1 to"]);
    std::fs::write(&level, "{\n  \"name\": \"Mine\",\n  \"seconds\": -3,\n  \"waves\": []\n}\n").unwrap();
    fails(&["--levels", &levels], &[&shown, "3", "seconds"]);
    std::fs::write(
        &level,
        r#"{ "name": "Mine", "seconds": 60, "waves": [ { "at_seconds": 1, "spawns": [ { "kind": "drone" } ] } ] }"#,
    )
    .unwrap();
    fails(&["--levels", &levels, "--level", "2"], &["level 2", "1 to 1"]);
    let mut serve = command(&[&["serve", "--bind", "127.0.0.1:0", "--metrics", ""][..], &RTYPE].concat());
    let mut server = Running::start(serve.args(["--levels", &levels]));
    server.line_with("Ctrl-C");
}

#[test]
fn what_the_game_has_no_room_for_is_said_before_it_is_served() {
    for (setting, value, parts) in [
        ("NETLOOM_ROOM_MAX_CLIENTS", "5", ["room.max_clients = 5", "0 to 4 with the game rtype"]),
        ("NETLOOM_ROOM_TICK_RATE", "30", ["room.tick_rate = 30", "60 with the game rtype"]),
        ("NETLOOM_RTYPE_BOTS", "4", ["rtype.bots = 4", "0 to 3"]),
    ] {
        let mut serve = command(&[&["serve", "--bind", "127.0.0.1:0", "--metrics", ""][..], &RTYPE].concat());
        assert_fails(&serve.env(setting, value).output().unwrap(), 2, &parts);
    }
}
