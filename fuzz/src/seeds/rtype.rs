//! A level with everything in it, and games with everybody in them.

use super::{Seed, seed};

const LEVEL: &[u8] = br#"{
  "name": "Seed", "seconds": 9, "boss": "leviathan", "debris_every_steps": 30, "endless": false,
  "waves": [
    { "at_seconds": 0, "spawns": [
      { "kind": "carrier", "count": 2, "after_steps": 5, "every_steps": 9, "formation": "column", "spread": 300 },
      { "kind": "dasher", "x": 1500, "y": 200, "speed": 7, "fire_every_steps": 40, "capsule": true } ] },
    { "at_seconds": 2, "spawns": [
      { "kind": "hunter", "count": 5, "formation": "wedge" }, { "kind": "weaver", "formation": "scatter" } ] } ] }"#;

pub(super) fn seeds() -> Vec<Seed> {
    // An operation that lets 256 steps pass.
    let fly: Vec<u8> = [[7, 0xff]; 60].concat();
    let join: Vec<u8> = (0..4).flat_map(|seat| [0, seat]).collect();
    let press: Vec<u8> = (0..4).flat_map(|seat| [2, seat, 0x38]).collect();
    let answer: Vec<u8> = (0..4).flat_map(|seat| [3, seat, 0, 1, 4, seat, 0, 0]).collect();
    let mut seeds = vec![seed("rtype_level", "everything", &[LEVEL])];
    for (name, level) in [("first_level", 0), ("second_level", 1), ("third_level", 2), ("storm", 3)] {
        let head = [level, 1, 2, 3, 4];
        seeds.push(seed(
            "rtype_rules",
            name,
            &[&head, &join, &press, &fly[..20], &answer, &fly, &answer, &fly],
        ));
    }
    seeds
}
