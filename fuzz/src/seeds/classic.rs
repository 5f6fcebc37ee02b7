//! Seeds for the port of the classic protocol.

use super::{Seed, seed};

const TARGET: &str = "classic_datagram";

/// Address 0 joins: asks, and answers the challenge.
const JOIN: &[u8] = &[2, 0, 0, 2, 0, 0];
/// Ready, an input, a choice, a ping: each with the own token.
const PLAY: &[u8] = &[
    3, 0, 0, 0, 0, 0, // ready
    3, 0, 0, 0x19, 5, 0, // up, right, shoot
    3, 0, 1, 0, 2, 0, // a power
    3, 0, 0, 0, 4, 1, 2, 3, 4, 0, // a ping
];
const FRAMES: &[u8] = &[0, 0, 167, 0, 0, 0, 167, 0, 0, 0, 167, 0];

pub fn seeds() -> Vec<Seed> {
    let raw = |name, datagram: &[u8]| {
        seed(TARGET, name, &[&[0], JOIN, &[1, 0, datagram.len() as u8], datagram, FRAMES])
    };
    vec![
        seed(TARGET, "a_game", &[&[0], JOIN, FRAMES, PLAY, FRAMES]),
        seed(TARGET, "silence", &[&[0], JOIN, FRAMES, &[0, 0, 0xff, 0xff]]),
        seed(TARGET, "trusted", &[&[1, 2, 1, 1, 1, 1, 4, 0x10, 1, 0, 0x19], FRAMES]),
        seed(TARGET, "a_stranger", &[&[0], PLAY, &[2, 2, 1, 1, 3, 3, 1, 0, 0]]),
        seed(TARGET, "goodbye", &[&[0], JOIN, &[3, 0, 0, 0, 1, 0], FRAMES, JOIN]),
        raw("unknown_opcode", &[0x77, 1, 0, 0xab]),
        raw("wrong_size", &[0x10, 2, 0, 1, 1]),
        seed(
            TARGET,
            "two_entities",
            &[&[
                0x11, 0x2e, 0, 2, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0xc9, 0x42, 0, 0, 0x48, 0x43, 0, 0, 0xa0,
                0x40, 0, 0, 0, 0, 1, 0x64, 0, 0, 0, 0, 0, 0xc8, 0x43, 0, 0x80, 0x16, 0x43, 0, 0, 0x40, 0xc0,
                0, 0, 0x80, 0x3f, 2,
            ]],
        ),
        seed(TARGET, "lobby", &[&[2, 10, 0, 3, 2, 4, 1, 1, 7, 0, 0, 0, 1]]),
    ]
}
