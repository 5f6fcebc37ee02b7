//! Lines that have a name.

use netloom_wire::Micros;

use crate::batch::SLOT_BYTES_LIMIT;
use crate::link::{Bandwidth, Buffer, LinkConfig, Loss};

/// The names of all presets.
pub const PRESETS: [&str; 5] = ["none", "home wifi", "4G", "transatlantic", "awful"];

/// A name that no preset has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no line called `{name}`: choose one of {}", PRESETS.join(", "))]
pub struct UnknownPreset {
    /// The name.
    pub name: String,
}

/// One direction of a line, by its name; case does not matter, nor whether words are joined by a space, `-` or `_`.
///
/// | name | one way, ms | loss | rate, Mbit/s (queue, ms) | besides |
/// |---|---|---|---|---|
/// | none | 0 | 0 | unlimited | nothing happens |
/// | home wifi | 8 ± 6 | 0.4 %, in bursts | 50 (60) | a little disorder |
/// | 4G | 30 ± 15 | 0.6 %, in bursts | 12 (200) | disorder |
/// | transatlantic | 45 ± 3 | 0.1 % | 100 (50) | far and calm |
/// | awful | 150 ± 80 | 10 %, in bursts | 1 (400) | duplicates, much disorder |
pub fn preset(name: &str) -> Result<LinkConfig, UnknownPreset> {
    let is_asked = |known: &&str| known.eq_ignore_ascii_case(&name.trim().replace(['-', '_'], " "));
    let known = PRESETS.into_iter().find(is_asked).ok_or_else(|| UnknownPreset { name: name.to_owned() })?;
    let none = LinkConfig { mtu_bytes: SLOT_BYTES_LIMIT, ..LinkConfig::default() };
    Ok(match known {
        "home wifi" => LinkConfig {
            loss: bursts(0.002, 0.4),
            latency: Micros::from_millis(8),
            jitter: Micros::from_millis(6),
            reorder: 0.001,
            reorder_delay_max: Micros::from_millis(10),
            bandwidth: bandwidth(50, 60),
            ..none
        },
        "4G" => LinkConfig {
            loss: bursts(0.002, 0.25),
            latency: Micros::from_millis(30),
            jitter: Micros::from_millis(15),
            reorder: 0.005,
            reorder_delay_max: Micros::from_millis(30),
            bandwidth: bandwidth(12, 200),
            ..none
        },
        "transatlantic" => LinkConfig {
            loss: Loss::Uniform(0.001),
            latency: Micros::from_millis(45),
            jitter: Micros::from_millis(3),
            bandwidth: bandwidth(100, 50),
            ..none
        },
        "awful" => LinkConfig {
            loss: bursts(0.04, 0.25),
            latency: Micros::from_millis(150),
            jitter: Micros::from_millis(80),
            reorder: 0.05,
            reorder_delay_max: Micros::from_millis(100),
            duplicate: 0.02,
            bandwidth: bandwidth(1, 400),
            ..none
        },
        _ => none,
    })
}

/// Loss that comes in bursts: three of four datagrams are lost while it lasts.
fn bursts(begin: f64, end: f64) -> Loss {
    Loss::Bursts { good_to_bad: begin, bad_to_good: end, loss_good: 0.0, loss_bad: 0.75 }
}

fn bandwidth(megabits_per_second: u64, queue_ms: u64) -> Option<Bandwidth> {
    Some(Bandwidth {
        bytes_per_second: megabits_per_second * 125_000,
        buffer: Buffer::Time(Micros::from_millis(queue_ms)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_possible_line_and_only_none_does_nothing() {
        for name in PRESETS {
            let line = preset(name).unwrap();
            line.check().unwrap();
            assert_eq!(line.latency == Micros::ZERO, name == "none", "{name}");
        }
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        assert_eq!(preset("Home-WiFi"), preset("home wifi"));
        assert_eq!(preset(" home_wifi "), preset("home wifi"));
        assert_eq!(preset("4g"), preset("4G"));
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        assert_eq!(
            preset("5G").unwrap_err().to_string(),
            "there is no line called `5G`: choose one of none, home wifi, 4G, transatlantic, awful"
        );
    }
}
