//! Messages that can be told apart, and configurations for floods of them.

use netloom_proto::{Config, RateConfig};

use super::{World, sealed};

/// A message that tells its number, of a length that varies with it.
pub fn message_of(number: u32, bytes: usize) -> Vec<u8> {
    let mut message = number.to_le_bytes().to_vec();
    message.extend((4..bytes.max(4)).map(|at| (number as usize * 31 + at) as u8));
    message
}

pub fn number(message: &[u8]) -> u32 {
    let number = u32::from_le_bytes(message[..4].try_into().expect("four bytes at least"));
    assert_eq!(message, message_of(number, message.len()), "damaged");
    number
}

pub fn numbers(world: &World, node: usize, channel: u8) -> Vec<u32> {
    world.nodes[node].messages(channel).iter().map(|message| number(message)).collect()
}

/// Handing out events is not what these tests are about.
pub fn unlimited_events(config: Config) -> Config {
    Config { events_per_tick: 8_192, events_initial: 8_192, events_queued_max: 16_384, ..config }
}

pub fn at_rate(bytes_per_second: u64) -> Config {
    let rate = RateConfig {
        bytes_per_second_max: bytes_per_second,
        bytes_per_second_initial: bytes_per_second,
        bytes_per_second_min: bytes_per_second,
        ..RateConfig::default()
    };
    unlimited_events(Config { rate, ..sealed() })
}
