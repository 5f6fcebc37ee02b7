//! What all bots found out together.

use std::collections::BTreeMap;
use std::fmt;

use netloom::prelude::Tick;
use netloom_sim::report::quantile;
use serde::Serialize;

use super::bot::BotReport;
use super::stage::Stage;
use super::{BotsArgs, behaviour::Behaviour};
use crate::table::{Table, figure};

/// The report.
#[derive(Debug, Serialize)]
pub struct Report {
    pub server: String,
    pub behaviour: Behaviour,
    pub bots: u32,
    /// Bots that had a seat.
    pub joined: u32,
    /// Seats that bots had, one after the other.
    pub joins: u32,
    pub seconds: f64,
    pub rtt_ms: Quantiles,
    pub packet_loss_pct: f64,
    pub snapshot_interval_ms: f64,
    pub snapshot_age_ms: Quantiles,
    pub received_bytes_per_bot_per_sec: f64,
    pub sent_bytes_per_bot_per_sec: f64,
    pub rejected_inputs: u64,
    /// By reason.
    pub disconnects: BTreeMap<String, u32>,
    pub worlds: Vec<World>,
    pub hash_mismatches: u32,
}

/// Half and nearly all of some measures are below these.
#[derive(Debug, Serialize)]
pub struct Quantiles {
    pub p50: f64,
    pub p99: f64,
}

/// The worlds of the bots of one room, compared with the server's.
#[derive(Debug, Serialize)]
pub struct World {
    pub room: String,
    /// The tick at which the most bots, and of those ticks the newest.
    pub tick: u32,
    /// The server's hash, in hexadecimal digits; empty if it told none.
    pub hash: String,
    pub objects: usize,
    pub bots: u32,
    pub equal: u32,
    /// Ticks that were compared, and those at which all bots were equal.
    pub ticks: u32,
    pub ticks_all_equal: u32,
}

impl Report {
    pub fn new(args: &BotsArgs, seconds: f64, bots: &[BotReport], stage: &Stage) -> Report {
        let joined: Vec<&BotReport> = bots.iter().filter(|bot| bot.has_joined).collect();
        let of_each = seconds.max(f64::MIN_POSITIVE) * joined.len().max(1) as f64;
        let sum = |figure: fn(&BotReport) -> u64| joined.iter().map(|bot| figure(bot)).sum::<u64>() as f64;
        let mut disconnects = BTreeMap::new();
        for (reason, count) in bots.iter().flat_map(|bot| &bot.disconnects) {
            *disconnects.entry(reason.clone()).or_default() += count;
        }
        let worlds = worlds(&joined, stage);
        Report {
            server: args.address.clone(),
            behaviour: args.behaviour,
            bots: args.count,
            joined: joined.len() as u32,
            joins: joined.iter().map(|bot| bot.joins).sum(),
            seconds,
            rtt_ms: Quantiles::of(joined.iter().flat_map(|bot| &bot.rtts_us)),
            packet_loss_pct: 100.0 * sum(|bot| bot.packets_lost) / sum(|bot| bot.packets_sent).max(1.0),
            snapshot_interval_ms: joined.first().map_or(0.0, |bot| bot.interval.as_millis_f64()),
            snapshot_age_ms: Quantiles::of(joined.iter().flat_map(|bot| &bot.ages_us)),
            received_bytes_per_bot_per_sec: sum(|bot| bot.bytes_received) / of_each,
            sent_bytes_per_bot_per_sec: sum(|bot| bot.bytes_sent) / of_each,
            rejected_inputs: joined.iter().map(|bot| bot.rejected).sum(),
            disconnects,
            hash_mismatches: worlds.iter().map(|world| world.bots - world.equal).sum(),
            worlds,
        }
    }

    /// Whether everybody stayed and saw what the server has.
    pub fn is_good(&self) -> bool {
        self.joined == self.bots && self.disconnects.is_empty() && self.hash_mismatches == 0
    }
}

impl Quantiles {
    fn of<'a>(measures_us: impl Iterator<Item = &'a u32>) -> Quantiles {
        let measures_ms: Vec<f64> = measures_us.map(|us| f64::from(*us) / 1e3).collect();
        Quantiles { p50: quantile(&measures_ms, 0.5), p99: quantile(&measures_ms, 0.99) }
    }
}

/// Compares the bots of every room with the server, at one tick for all of them.
fn worlds(joined: &[&BotReport], stage: &Stage) -> Vec<World> {
    let mut rooms: BTreeMap<&str, Vec<&BotReport>> = BTreeMap::new();
    for bot in joined {
        rooms.entry(&bot.room).or_default().push(bot);
    }
    rooms.into_iter().map(|(room, bots)| compare(room, &bots, &stage.truth(room))).collect()
}

fn compare(room: &str, bots: &[&BotReport], truth: &[(Tick, u64)]) -> World {
    let equal = |tick: &(Tick, u64)| bots.iter().filter(|bot| bot.hashes.contains(tick)).count();
    // A snapshot that was lost is not sent again, only what is newer: a bot may lack a tick. So the newest of the best counts.
    let best = truth.iter().max_by_key(|tick| equal(tick));
    World {
        room: room.to_owned(),
        tick: best.map_or(0, |(tick, _)| tick.0),
        hash: best.map_or(String::new(), |(_, hash)| format!("{hash:016x}")),
        objects: bots.iter().map(|bot| bot.objects).max().unwrap_or(0),
        bots: bots.len() as u32,
        equal: best.map_or(0, equal) as u32,
        ticks: truth.len() as u32,
        ticks_all_equal: truth.iter().filter(|tick| equal(tick) == bots.len()).count() as u32,
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { bots, joined, joins, seconds, server, .. } = self;
        writeln!(
            formatter,
            "{joined} of {bots} bots joined {server} ({joins} seats), {seconds:.1} s measured\n"
        )?;
        let mut table = Table::new(&["measure", "p50", "p99", "unit"]);
        for (name, Quantiles { p50, p99 }) in
            [("round trip", &self.rtt_ms), ("snapshot age", &self.snapshot_age_ms)]
        {
            table.row([name.to_owned(), figure(*p50), figure(*p99), String::from("ms")]);
        }
        writeln!(formatter, "{table}")?;
        let mut table = Table::new(&["measure", "value", "unit"]);
        for (name, value, unit) in [
            ("snapshot interval", self.snapshot_interval_ms, "ms"),
            ("packet loss", self.packet_loss_pct, "%"),
            ("received per bot", self.received_bytes_per_bot_per_sec, "bytes/s"),
            ("sent per bot", self.sent_bytes_per_bot_per_sec, "bytes/s"),
            ("inputs refused", self.rejected_inputs as f64, ""),
        ] {
            table.row([name.to_owned(), figure(value), unit.to_owned()]);
        }
        writeln!(formatter, "{table}")?;
        for world in &self.worlds {
            writeln!(formatter, "{world}")?;
        }
        let total: u32 = self.disconnects.values().sum();
        writeln!(formatter, "{total} disconnects")?;
        for (reason, count) in &self.disconnects {
            writeln!(formatter, "  {count} x {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Display for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let World { room, tick, hash, objects, bots, equal, ticks, ticks_all_equal } = self;
        if hash.is_empty() {
            return write!(
                formatter,
                "world {room}: the server told no hash, so that {bots} bots were not compared"
            );
        }
        write!(
            formatter,
            "world {room}: {equal} of {bots} bots equal the server at tick {tick} ({objects} objects, hash {hash}; \
             all equal at {ticks_all_equal} of {ticks} ticks)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bot(hashes: &[(u32, u64)]) -> BotReport {
        let hashes = hashes.iter().map(|(tick, hash)| (Tick(*tick), *hash)).collect();
        BotReport { has_joined: true, hashes, ..BotReport::default() }
    }

    #[test]
    fn the_newest_tick_at_which_most_are_equal_counts() {
        let truth = [(Tick(1), 10), (Tick(2), 20), (Tick(3), 30)];
        let bots = [bot(&[(1, 10), (2, 20), (3, 99)]), bot(&[(1, 10), (2, 20), (3, 30)])];
        let world = compare("yard", &bots.iter().collect::<Vec<_>>(), &truth);
        assert_eq!((world.tick, world.equal, world.bots, world.ticks_all_equal), (2, 2, 2, 2));
        let wrong = bot(&[(1, 11), (2, 21), (3, 31)]);
        let world = compare("yard", &[&wrong, &bots[1]], &truth);
        assert_eq!((world.equal, world.bots), (1, 2));
        let world = compare("yard", &[&wrong], &[]);
        assert_eq!((world.equal, world.bots, &*world.hash), (0, 1, ""));
    }
}
