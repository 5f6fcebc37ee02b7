//! Code tables from scenes: what a server would have sent, counted.
//!
//! Which codes are frequent depends on what the clients hold when an update is written: who is far away holds older
//! states, and after a loss nearly everybody does. So a scene is replayed several times, with the round trips that players
//! have and some loss, and every snapshot that arrives is counted.
//!
//! ```text
//!   scene ──▶ replay at 20, 60, 120, 250 ms, 2 % lost ──┬─ six of eight seconds ──▶ Tally ──▶ train ──▶ tables
//!                                                       └─ the other two ─────────▶ Tally ──▶ what the tables save there
//! ```
//!
//! What a table saves on what it was trained on says little. Two of every eight seconds are held out for that: they are
//! counted apart and judge the tables.
//!
//! **Guards.** A table that knows one kind of motion only is bad at every other, by ten percent and more, and a game
//! changes. So a few seconds of all generators stand guard: wherever the tables would take 2 % more than those
//! before, some of that scene is blended into what they are made from, until they do not. Whoever trains can put more
//! scenes on guard.

use std::path::Path;

use netloom_replica::client::ReplicaClient;
use netloom_replica::codec::{BLEND_UNIT, Blend, Codes, TableError, Tally};

use crate::cubes::Cubes;
use crate::replay::{Replay, ReplayConfig, ReplayError};
use crate::{Limited, Recording, SceneError, Source, generate, record};

/// Round trips that are replayed, in milliseconds.
pub const ROUND_TRIPS_MS: [u32; 4] = [20, 60, 120, 250];
/// How many of 100 snapshots are lost on the way.
pub const LOSS_PERCENT: u32 = 2;
/// Seconds after which the held-out ones come round again, and from which of them on they are held out.
pub const PERIOD_SECONDS: u64 = 8;
/// See [`PERIOD_SECONDS`].
pub const HELD_OUT_FROM_SECONDS: u64 = 6;
/// How much more than before tables may take for a guard, in thousandths. Other scenes of the same kind differ from a guard by
/// half a percent at most (`netloom-bench tables`), and 3 % are never to be exceeded.
pub const GUARD_WORSE_MILLI_MAX: u64 = 20;
/// The scenes that stand guard, and how many seconds of them with each seed: the dear ones fewer.
const GUARDS: [(&str, usize); 5] =
    [("rigid", 8), ("crowd", 6), ("shooter", 30), ("planet", 20), ("walk", 15)];
const GUARD_SEEDS: [u64; 2] = [1_009, 1_013];
/// After so many rounds the tables before are blended in as well, twice as much in every round: that ends it.
const GUARD_ROUNDS: u32 = 48;

/// How long a generated scene is: generators never end.
pub const GENERATED_SECONDS: u32 = 60;

/// Opens a scene: a `.scene` that was recorded, recorded cubes (`.bin`, `.bin.xz`), or a generator with its seed, as in
/// `rigid:7`. It comes with the number of its ticks if that is known beforehand.
pub fn open(name: &str) -> Result<(Box<dyn Source>, Option<u64>), OpenError> {
    if let Some((generator, seed)) = name.split_once(':')
        && generate::NAMES.contains(&generator)
    {
        let seed = seed.parse().map_err(|_| OpenError::Seed { scene: name.to_owned() })?;
        let source = generate::by_name(generator, seed).ok_or(OpenError::Kind { scene: name.to_owned() })?;
        let ticks = GENERATED_SECONDS * source.ticks_per_second();
        return Ok((Box::new(Limited::new(source, ticks as usize)), Some(ticks.into())));
    }
    let path = Path::new(name);
    let unreadable = |source| OpenError::Scene { scene: name.to_owned(), source };
    if name.ends_with(".scene") {
        Ok((Box::new(Recording::open(path).map_err(unreadable)?), None))
    } else if name.ends_with(".bin") || name.ends_with(".bin.xz") {
        Ok((Box::new(Cubes::open(path).map_err(unreadable)?), None))
    } else {
        Err(OpenError::Kind { scene: name.to_owned() })
    }
}

/// Why there is no scene.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    #[error("{scene}: {source}")]
    Scene {
        /// What was asked for.
        scene: String,
        /// Why not.
        source: SceneError,
    },
    /// The seed of a generator is no number.
    #[error("{scene}: behind the colon belongs a seed, a whole number from 0 on, as in rigid:7")]
    Seed {
        /// What was asked for.
        scene: String,
    },
    /// It is neither a file of a known kind nor a generator.
    #[error(
        "{scene} is no scene: name a recording (.scene), recorded cubes (.bin, .bin.xz), or a generator and a seed, as in \
         rigid:7; generators are {}", generate::NAMES.join(", ")
    )]
    Kind {
        /// What was asked for.
        scene: String,
    },
}

/// What a scene needed.
#[derive(Clone, Debug)]
pub struct Counted {
    /// In the seconds to train on.
    pub trained: Tally,
    /// In the seconds to judge by.
    pub held_out: Tally,
    /// How many ticks it has.
    pub ticks: u64,
}

/// How many ticks after a snapshot its acknowledgement comes, for each of [`ROUND_TRIPS_MS`]; each once.
pub fn ack_ticks(ticks_per_second: u32) -> Vec<usize> {
    let mut all: Vec<usize> = ROUND_TRIPS_MS
        .iter()
        .map(|rtt_ms| (rtt_ms * ticks_per_second).div_ceil(1_000).max(1) as usize)
        .collect();
    all.dedup();
    all
}

/// Replays a scene once with acknowledgements that come so many ticks later, and adds what it needed to `counted`.
/// `progress` is told after each tick.
pub fn count(
    source: impl Source,
    ack_ticks: usize,
    codes: &Codes,
    counted: &mut Counted,
    mut progress: impl FnMut(),
) -> Result<(), ReplayError> {
    let ticks_per_second = u64::from(source.ticks_per_second());
    let config = ReplayConfig { ack_ticks, loss_percent: LOSS_PERCENT, ..ReplayConfig::new(codes.clone()) };
    let mut replay = Replay::new(source, config)?;
    let mut reader = ReplicaClient::new(replay.server().world().classes().clone(), codes.clone());
    counted.ticks = 0;
    while replay.tick()? {
        let is_held_out = counted.ticks / ticks_per_second % PERIOD_SECONDS >= HELD_OUT_FROM_SECONDS;
        let tally = if is_held_out { &mut counted.held_out } else { &mut counted.trained };
        for sent in replay.sent().filter(|sent| sent.has_arrived) {
            let read = reader.handle_snapshot_counting(sent.payload, tally);
            read.map_err(|error| ReplayError::Diverged {
                tick: counted.ticks + 1,
                client: 0,
                what: format!("cannot read a snapshot: {error}"),
            })?;
            while reader.poll_event().is_some() {}
        }
        counted.ticks += 1;
        progress();
    }
    Ok(())
}

/// What all scenes needed, in the seconds to train on. If they count evenly, each counts as much as the one in which most
/// happened. Where training starts from nothing, contexts that were hardly seen borrow from those next to them.
pub fn seen<'a>(scenes: impl Iterator<Item = &'a Counted> + Clone, prior: &Codes, is_even: bool) -> Tally {
    let mut all = Tally::new(prior);
    let most = scenes.clone().map(|scene| scene.trained.symbols()).max().unwrap_or(0);
    for scene in scenes {
        match is_even {
            true => all.add_scaled(&scene.trained, most),
            false => all.add(&scene.trained),
        }
    }
    if *prior == Codes::untrained() {
        all.lend();
    }
    all
}

/// A scene on which tables may not be worse.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What it is called.
    pub name: String,
    /// What it needs.
    pub tally: Tally,
}

/// The guards, as these tables encode them: at the same round trips as everything else, for a table that knows near players
/// only is bad for those far away. `progress` is told before each.
pub fn guards(codes: &Codes, mut progress: impl FnMut(&str)) -> Result<Vec<Guard>, ReplayError> {
    let guard = |&(name, seconds): &(&'static str, usize)| {
        progress(name);
        let mut counted = Counted::new(codes);
        for seed in GUARD_SEEDS {
            let Some(source) = generate::by_name(name, seed) else { continue };
            let ticks_per_second = source.ticks_per_second();
            // Some scenes take longer to compute than to replay.
            let mut bytes = Vec::new();
            record(Limited::new(source, seconds * ticks_per_second as usize), &mut bytes, || {})?;
            for ack_ticks in ack_ticks(ticks_per_second) {
                count(Recording::new(&bytes[..])?, ack_ticks, codes, &mut counted, || {})?;
            }
        }
        Ok(Guard { name: name.to_owned(), tally: counted.all() })
    };
    GUARDS.iter().map(guard).collect()
}

/// The tables that say in the fewest bits what was seen, and nowhere on guard take more than 2 % above `prior`, with which
/// everything was counted. The same counts give the same tables.
pub fn train(seen: &Tally, prior: &Codes, guards: &[Guard], name: &str) -> Result<Codes, TableError> {
    let mut blend =
        Blend { others: guards.iter().map(|guard| (&guard.tally, 0)).collect(), ..Blend::default() };
    for round in 0.. {
        let codes = seen.train(name, &blend)?;
        let mut is_good = true;
        for (tally, part) in &mut blend.others {
            let (before, after) = (tally.bits(prior), tally.bits(&codes));
            if after * 1_000 > before * (1_000 + GUARD_WORSE_MILLI_MAX) {
                *part = part.saturating_add(1 + *part / 8);
                is_good = false;
            }
        }
        if is_good {
            return Ok(codes);
        }
        if round >= GUARD_ROUNDS {
            blend.prior = blend.prior.saturating_mul(2).min(BLEND_UNIT << 12);
        }
    }
    unreachable!("the tables before are good enough for their own guards")
}

impl Counted {
    /// Nothing yet, of what is encoded with these tables.
    pub fn new(codes: &Codes) -> Counted {
        Counted { trained: Tally::new(codes), held_out: Tally::new(codes), ticks: 0 }
    }

    /// In all seconds.
    pub fn all(self) -> Tally {
        let Counted { trained: mut all, held_out, .. } = self;
        all.add(&held_out);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(generator: &str, seed: u64, seconds: usize, codes: &Codes) -> Counted {
        let mut counted = Counted::new(codes);
        let source = generate::by_name(generator, seed).unwrap();
        let ticks = seconds * source.ticks_per_second() as usize;
        count(Limited::new(source, ticks), 2, codes, &mut counted, || {}).unwrap();
        counted
    }

    #[test]
    fn tables_that_were_trained_on_a_scene_are_smaller_where_they_were_not_trained_and_always_the_same() {
        let generic = Codes::generic();
        let one = counted("walk", 3, 8, &generic);
        assert!(one.trained.updates() > 2 * one.held_out.updates() && one.held_out.updates() > 0);
        let table = train(&one.trained, &generic, &[], "walk").unwrap();
        let (before, after) = (one.held_out.bits(&generic), one.held_out.bits(&table));
        assert!(after < before, "{after} bits instead of {before}");
        let again = train(&counted("walk", 3, 8, &generic).trained, &generic, &[], "walk").unwrap();
        assert_eq!(again.serialize(), table.serialize());
    }

    #[test]
    fn on_guard_tables_take_at_most_two_percent_more_than_those_before() {
        let generic = Codes::generic();
        let walk = counted("walk", 3, 4, &generic).trained;
        let crowd = Guard { name: String::from("crowd"), tally: counted("crowd", 5, 2, &generic).trained };
        let alone = train(&walk, &generic, &[], "walk").unwrap();
        let guarded = train(&walk, &generic, std::slice::from_ref(&crowd), "walk").unwrap();
        let worse = |codes: &Codes| crowd.tally.bits(codes) as f64 / crowd.tally.bits(&generic) as f64;
        assert!(worse(&alone) > 1.03 && worse(&guarded) <= 1.02, "{} and {}", worse(&alone), worse(&guarded));
        assert!(walk.bits(&alone) < walk.bits(&guarded) && walk.bits(&guarded) < walk.bits(&generic));
    }

    #[test]
    fn a_scene_that_was_written_down_needs_the_same_codes() {
        let generic = Codes::generic();
        let direct = counted("shooter", 3, 3, &generic).all();
        let mut bytes = Vec::new();
        let source = generate::by_name("shooter", 3).unwrap();
        let ticks = 3 * source.ticks_per_second() as usize;
        record(Limited::new(source, ticks), &mut bytes, || {}).unwrap();
        let mut recorded = Counted::new(&generic);
        count(Recording::new(&bytes[..]).unwrap(), 2, &generic, &mut recorded, || {}).unwrap();
        let recorded = recorded.all();
        assert_eq!((recorded.updates(), recorded.symbols()), (direct.updates(), direct.symbols()));
        let tables =
            [&direct, &recorded].map(|tally| train(tally, &generic, &[], "same").unwrap().serialize());
        assert_eq!(tables[0], tables[1]);
    }

    #[test]
    fn scenes_that_count_evenly_count_the_same_however_much_happens() {
        let generic = Codes::generic();
        let (much, little) = (counted("walk", 3, 6, &generic), counted("shooter", 3, 2, &generic));
        let most = much.trained.symbols().max(little.trained.symbols());
        let all = seen([&much, &little].into_iter(), &generic, true);
        assert!(all.symbols().abs_diff(2 * most) < most / 20, "{} of {most}", all.symbols());
        let plain = seen([&much, &little].into_iter(), &generic, false);
        assert_eq!(plain.symbols(), much.trained.symbols() + little.trained.symbols());
    }

    #[test]
    fn acknowledgements_come_as_late_as_round_trips_take_and_no_two_are_the_same() {
        assert_eq!(ack_ticks(20), [1, 2, 3, 5]);
        assert_eq!(ack_ticks(60), [2, 4, 8, 15]);
        assert_eq!(ack_ticks(1), [1]);
    }

    #[test]
    fn what_is_no_scene_says_what_would_be() {
        let refused = |name: &str| open(name).err().unwrap().to_string();
        assert!(refused("scene.txt").contains("rigid, crowd"), "{}", refused("scene.txt"));
        assert!(refused("rigid:x").contains("rigid:7"));
        assert!(refused("no/such.scene").starts_with("no/such.scene: "));
        assert_eq!(open("rigid:7").unwrap().1, Some(1_800));
    }
}
