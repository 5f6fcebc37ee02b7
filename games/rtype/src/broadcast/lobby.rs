//! Who comes and goes during a game, for everybody to read. Names, readiness and settings are the business of the room's lobby, which
//! tells them itself.

use super::Sink;

/// Somebody has a seat and gets a ship at the next wave.
pub fn broadcast_seated(name: &str, seat: usize, sink: &mut impl Sink) {
    sink.notify_all(&format!("{name} takes seat {} and flies from the next wave on", seat + 1));
}

/// Somebody has a ship now.
pub fn broadcast_boarded(name: &str, sink: &mut impl Sink) {
    sink.notify_all(&format!("{name} flies with you"));
}

/// Somebody's connection is lost, or back.
pub fn broadcast_away(name: &str, is_away: bool, sink: &mut impl Sink) {
    match is_away {
        true => {
            sink.notify_all(&format!("{name} has lost the connection; the ship waits, and nothing hits it"))
        }
        false => sink.notify_all(&format!("{name} is back")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Heard, Told};
    use super::*;

    #[test]
    fn everybody_reads_who_comes_goes_and_returns() {
        let mut sink = Told::default();
        broadcast_seated("Ada", 2, &mut sink);
        broadcast_boarded("Ada", &mut sink);
        broadcast_away("Ada", true, &mut sink);
        broadcast_away("Ada", false, &mut sink);
        let lines = [
            "Ada takes seat 3 and flies from the next wave on",
            "Ada flies with you",
            "Ada has lost the connection; the ship waits, and nothing hits it",
            "Ada is back",
        ];
        assert_eq!(sink.heard, lines.map(Heard::notice));
    }
}
