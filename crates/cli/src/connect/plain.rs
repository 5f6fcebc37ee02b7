//! The same as lines of text, for who has no terminal.

use std::time::{Duration, Instant};

use super::Player;
use crate::games::{Playable, Steering};
use crate::out;
use crate::signals::Signals;

const FRAME: Duration = Duration::from_micros(16_667);
/// Frames from one line to the next.
const FRAMES_PER_LINE: u64 = 30;
/// Frames in each direction of the circle.
const FRAMES_PER_WAY: u64 = 20;

/// Plays for so many frames, counted from when there is a seat.
pub fn run<P: Playable>(
    player: &mut Player<P>,
    frames: Option<u64>,
    signals: &Signals,
) -> Result<(), String> {
    let (mut frame, mut next) = (0, Instant::now());
    while frames.is_none_or(|frames| frame < frames) && player.ending.is_none() && !signals.take() {
        player.frame(circle(frame))?;
        while let Some(line) = player.seen.lines.pop_front() {
            out::line(format_args!("  {line}"));
        }
        if player.seen.room.is_some() {
            frame += 1;
            if frame.is_multiple_of(FRAMES_PER_LINE) {
                print(player);
            }
        }
        next = (next + FRAME).max(Instant::now());
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

/// Right, up, left, down, and again.
fn circle(frame: u64) -> Steering {
    let ways = [(1, 0), (0, 1), (-1, 0), (0, -1)];
    let (right, up) = ways[(frame / FRAMES_PER_WAY) as usize % ways.len()];
    Steering { right, up, ..Steering::default() }
}

fn print<P: Playable>(player: &Player<P>) {
    let seen = &player.seen;
    let own = seen.own.map_or(String::from("nowhere"), |[x, y]| format!("{x:.1},{y:.1}"));
    out::line(format_args!(
        "{} room={} rtt_ms={:.1} jitter_ms={:.1} loss_pct={:.1} objects={} players={} in_bytes_per_s={:.0} \
         out_bytes_per_s={:.0} delay_ms={:.0} at={own}",
        seen.state,
        seen.room.as_deref().unwrap_or("-"),
        seen.rtt_ms,
        seen.jitter_ms,
        seen.loss_pct,
        seen.objects,
        seen.others + 1,
        seen.bytes_in_per_sec,
        seen.bytes_out_per_sec,
        seen.delay_ms,
    ));
}
