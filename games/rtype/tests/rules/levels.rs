//! Level files: good ones, and what is said about bad ones.

use proptest::prelude::*;

use super::*;

const GOOD: &str = r#"{
  "name": "Good",
  "seconds": 30,
  "boss": "warden",
  "debris_every_steps": 100,
  "waves": [
    { "at_seconds": 1,
      "spawns": [
        { "kind": "drone", "count": 5, "every_steps": 10, "formation": "wedge", "y": 400, "spread": 90, "capsule": true }
      ] },
    { "at_seconds": 5, "spawns": [ { "kind": "turret" } ] }
  ]
}"#;

#[test]
fn a_good_file_is_what_it_says() {
    let level = Levels::parse("good.json", GOOD).expect("well formed");
    assert_eq!((level.name.as_str(), level.seconds, level.boss), ("Good", 30, Some(EnemyKind::Warden)));
    assert_eq!((level.debris_every_steps, level.endless, level.waves.len()), (100, false, 2));
    let spawn = &level.waves[0].spawns[0];
    let when: Vec<i32> = (0..5).map(|member| spawn.step_of(member)).collect();
    let heights: Vec<i32> = (0..5).map(|member| spawn.y_of(member, 0)).collect();
    assert_eq!(when, [20, 10, 0, 10, 20]);
    assert_eq!(heights, [220, 310, 400, 490, 580]);
    let turret = &level.waves[1].spawns[0];
    assert_eq!((turret.count, turret.formation, turret.capsule), (1, Formation::Line, false));
}

/// What is said when a part of the good file is replaced by something else.
fn complaint(part: &str, replacement: &str) -> String {
    assert!(GOOD.contains(part), "{part}");
    let error = Levels::parse("bad.json", &GOOD.replacen(part, replacement, 1)).expect_err(replacement);
    error.to_string()
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_field() {
    for (part, replacement, line, field) in [
        (r#""count": 5"#, r#""count": 0"#, 9, "`count`"),
        (r#""count": 5"#, r#""count": 65"#, 9, "`count`"),
        (r#""count": 5"#, r#""count": 99999999999999999999"#, 9, "`count`"),
        (r#""count": 5"#, r#""count": -1"#, 9, "`count`"),
        (r#""count": 5"#, r#""count": 2.5"#, 9, "`count`"),
        (r#""count": 5"#, r#""count": "five""#, 9, "`count`"),
        (r#""count": 5"#, r#""count": null"#, 9, "`count`"),
        (r#""count": 5"#, r#""cuont": 5"#, 9, "`cuont`"),
        (r#""count": 5"#, r#""count": 5, "count": 6"#, 9, "`count`"),
        (r#""every_steps": 10"#, r#""every_steps": 0"#, 9, "`every_steps`"),
        (r#""y": 400"#, r#""y": 900"#, 9, "`y`"),
        (r#""y": 400"#, r#""x": 20"#, 9, "`x`"),
        (r#""spread": 90"#, r#""spread": 801"#, 9, "`spread`"),
        (r#""spread": 90"#, r#""speed": 13"#, 9, "`speed`"),
        (r#""spread": 90"#, r#""after_steps": -1"#, 9, "`after_steps`"),
        (r#""spread": 90"#, r#""fire_every_steps": 601"#, 9, "`fire_every_steps`"),
        (r#""wedge""#, r#""wegde""#, 9, "`formation`"),
        (r#""drone""#, r#""warden""#, 9, "`kind`"),
        (r#""drone""#, "7", 9, "`kind`"),
        (r#""kind": "drone", "#, "", 9, "`kind`"),
        (r#""capsule": true"#, r#""capsule": 1"#, 9, "`capsule`"),
        (r#""at_seconds": 1,"#, r#""at_seconds": 601,"#, 7, "`at_seconds`"),
        (r#""name": "Good""#, r#""name": """#, 2, "`name`"),
        (r#""name": "Good""#, r#""name": "\u0007""#, 2, "`name`"),
        (r#""name": "Good","#, "", 13, "`name`"),
        (r#""seconds": 30"#, r#""seconds": 0"#, 3, "`seconds`"),
        (r#""boss": "warden""#, r#""boss": "drone""#, 4, "`boss`"),
        (r#""boss": "warden""#, r#""boss_health": -1"#, 4, "`boss_health`"),
        (r#""boss": "warden""#, r#""boss_health": 300"#, 13, "`boss_health`: there is no `boss`"),
        (r#""boss": "warden""#, r#""endless": "yes""#, 4, "`endless`"),
        (r#""debris_every_steps": 100"#, r#""debris_every_steps": -5"#, 5, "`debris_every_steps`"),
        (r#"[ { "kind": "turret" } ]"#, "[]", 11, "`spawns`"),
        (r#"[ { "kind": "turret" } ]"#, "{}", 11, "`spawns`"),
        (r#""seconds": 30"#, r#""seconds": 4"#, 13, "`seconds`: wave 2"),
        (r#""at_seconds": 5"#, r#""at_seconds": 1"#, 13, "`at_seconds` of wave 2"),
        (r#""debris_every_steps": 100"#, r#""endless": true"#, 13, "`boss`"),
    ] {
        let said = complaint(part, replacement);
        assert!(said.starts_with(&format!("bad.json, line {line}: ")), "{replacement}: {said}");
        assert!(said.contains(field), "{replacement}: {said}");
    }
}

/// `vectors/levels.json` has what every implementation of the rules says about bad levels.
#[test]
fn every_reader_of_levels_says_the_same() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/levels.json");
    let recorded = std::fs::read_to_string(path).expect("tests/vectors/levels.json is there");
    let recorded: serde_json::Value = serde_json::from_str(&recorded).expect("well formed");
    let good = recorded["good"].as_str().expect("a good level");
    assert!(Levels::parse("good.json", good).is_ok());
    let cases = recorded["cases"].as_array().expect("cases");
    assert!(cases.len() >= 40);
    for case in cases {
        let text = |field: &str| case[field].as_str();
        // Without a part, all of it.
        let part = text("part").unwrap_or(good);
        assert!(good.contains(part), "{part}");
        let level = good.replacen(part, text("replacement").expect("a replacement"), 1);
        match Levels::parse("bad.json", &level) {
            Err(LevelError::Malformed { what, .. }) => assert_eq!(Some(what.as_str()), text("said")),
            other => panic!("{level}: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_json_is_told_with_its_line() {
    let said = Levels::parse("cut.json", &GOOD[..60]).expect_err("cut").to_string();
    assert!(said.starts_with("cut.json, line 5: "), "{said}");
    assert!(Levels::parse("empty.json", "").is_err());
    assert!(Levels::parse("deep.json", &"[".repeat(100_000)).is_err());
}

#[test]
fn long_lists_are_refused() {
    let spawn = r#"{ "kind": "turret" }"#;
    let many = vec![spawn; 17].join(",");
    let said = complaint(r#"[ { "kind": "turret" } ]"#, &format!("[{many}]"));
    assert!(said.contains("`spawns`") && said.contains("1 to 16"), "{said}");
    let waves: Vec<String> =
        (0..65).map(|at| format!(r#"{{ "at_seconds": {at}, "spawns": [{spawn}] }}"#)).collect();
    let level = format!(r#"{{ "name": "Long", "seconds": 100, "waves": [{}] }}"#, waves.join(","));
    let said = Levels::parse("long.json", &level).expect_err("too long").to_string();
    assert!(said.contains("`waves`") && said.contains("1 to 64"), "{said}");
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("netloom-rtype-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn write(&self, file: &str, content: &str) {
        std::fs::write(self.0.join(file), content).expect("written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_is_read_in_order_of_names_and_other_files_are_left_alone() {
    let folder = Folder::new("order");
    assert!(matches!(Levels::read_folder(&folder.0), Err(LevelError::None { .. })));
    folder.write("2.json", &GOOD.replace("Good", "Second"));
    folder.write("1.json", &GOOD.replace("Good", "First"));
    folder.write("notes.txt", "not a level");
    let levels = Levels::read_folder(&folder.0).expect("two levels");
    assert_eq!((levels.len(), levels.get(1).name.as_str()), (2, "First"));
    assert_eq!((levels.after(1), levels.after(2)), (Some(2), None));
    assert_eq!(levels.get(77).name, "Second", "beyond the last it is the last");

    folder.write("3.json", "{}");
    let said = Levels::read_folder(&folder.0).expect_err("no level").to_string();
    assert!(said.contains("3.json, line 1") && said.contains("`name`"), "{said}");
    folder.write("3.json", &" ".repeat(300_000));
    assert!(matches!(Levels::read_folder(&folder.0), Err(LevelError::TooLarge { .. })));
    let nowhere = folder.0.join("nowhere");
    assert!(matches!(Levels::read_folder(&nowhere), Err(LevelError::Unreadable { .. })));
}

#[test]
fn a_folder_with_more_levels_than_a_game_has_is_refused() {
    let folder = Folder::new("many");
    for level in 0..33 {
        folder.write(&format!("{level}.json"), GOOD);
    }
    assert!(matches!(Levels::read_folder(&folder.0), Err(LevelError::TooMany { .. })));
}

#[test]
fn the_levels_of_the_game_are_those_of_its_folder() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("levels");
    let levels = Levels::embedded();
    assert_eq!(levels, Levels::read_folder(&folder).expect("well formed"));
    assert!(levels.len() >= 4);
    assert!(levels.get(2).boss.is_some() && levels.get(3).boss.is_some());
    assert!(levels.get(levels.len()).endless);
    assert_eq!(levels.after(levels.len() - 1), None, "an endless level comes only when it is asked for");
}

#[test]
fn what_is_over_a_limit_does_not_come() {
    let group = r#"{ "kind": "turret", "count": 64, "formation": "column", "speed": 1 }"#;
    let level = format!(
        r#"{{ "name": "Crowd", "seconds": 30, "debris_every_steps": 1, "waves": [
            {{ "at_seconds": 0, "spawns": [{group}, {group}] }} ] }}"#
    );
    let levels = Levels::new(Levels::parse("crowd.json", &level).expect("well formed"), Vec::new());
    let mut state = game(&levels, &[0, 1, 2, 3]);
    for _ in 0..1_200 {
        state.step(&levels, &[buttons::SHOOT; SEATS]);
        assert!(state.enemies.len() <= ENEMIES_MAX && state.debris.len() <= DEBRIS_MAX);
        assert!(state.shots.iter().filter(|shot| shot.seat == NO_SEAT).count() <= ENEMY_SHOTS_MAX);
    }
    assert_eq!(state.debris.len(), DEBRIS_MAX);
}

const KINDS: [&str; 6] = ["drone", "weaver", "hunter", "turret", "dasher", "carrier"];
const FORMATIONS: [&str; 5] = ["line", "stairs", "column", "wedge", "scatter"];

prop_compose! {
    /// A group with any number that is allowed, the outermost ones above all.
    fn any_spawn()(
        kind in prop::sample::select(&KINDS[..]),
        formation in prop::sample::select(&FORMATIONS[..]),
        count in prop_oneof![Just(1), Just(64), 1..=64],
        every in 1..=4,
        x in prop_oneof![Just(800), Just(1_700)],
        y in prop_oneof![Just(60), Just(840), 60..=840],
        spread in prop_oneof![Just(-800), Just(800), -800..=800],
        speed in prop_oneof![Just(0), Just(12), 0..=12],
        fire in prop_oneof![Just(0), Just(1), 0..=600],
        capsule in any::<bool>(),
    ) -> String {
        format!(
            r#"{{ "kind": "{kind}", "formation": "{formation}", "count": {count}, "every_steps": {every}, "x": {x}, "y": {y},
            "spread": {spread}, "speed": {speed}, "fire_every_steps": {fire}, "capsule": {capsule} }}"#
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_level_that_is_taken_can_be_played(
        spawns in prop::collection::vec(any_spawn(), 1..=16),
        boss in prop::sample::select(vec!["warden", "leviathan", "none"]),
        debris in prop_oneof![Just(0), Just(1), 0..=600],
        seed in any::<u32>(),
    ) {
        let level = format!(
            r#"{{ "name": "Any", "seconds": 5, "boss": "{boss}", "debris_every_steps": {debris},
            "waves": [ {{ "at_seconds": 0, "spawns": [{}] }} ] }}"#,
            spawns.join(",")
        );
        let levels = Levels::new(Levels::parse("any.json", &level).expect("within bounds"), Vec::new());
        let mut state = State::new(&levels, 1, seed);
        for seat in 0..SEATS {
            state.add_ship(seat);
        }
        for _ in 0..700 {
            step_bots(&mut state, &levels);
            crate::logs::check_bounds(&state);
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_but_never_breaks_anything(at in 0..GOOD.len(), byte in any::<u8>()) {
        let mut bytes = GOOD.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(text) = std::str::from_utf8(&bytes)
            && let Err(error) = Levels::parse("damaged.json", text)
        {
            prop_assert!(error.to_string().starts_with("damaged.json, line "));
        }
    }
}
