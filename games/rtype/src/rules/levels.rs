//! Levels, as data: what comes when.
//!
//! Whoever writes a level needs to be told what is wrong with it, and where: a file, a line and the name of the field. And whatever
//! is read here is bounded, so that no level, however odd, makes a step take longer or a number overflow.
//!
//! ```text
//!   { "name": "Outer belt",
//!     "seconds": 60,                        when the waves are over and, if there is one, the boss comes
//!     "boss": "warden",
//!     "boss_health": 2000,                  for one ship; without it as its kind has it
//!     "debris_every_steps": 120,
//!     "waves": [
//!       { "at_seconds": 2,
//!         "spawns": [ { "kind": "drone", "count": 5, "every_steps": 15, "formation": "wedge", "y": 450, "capsule": true } ] } ] }
//! ```

use std::path::Path;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::kinds::EnemyKind;
use super::{HEIGHT, STEPS_PER_SECOND, WIDTH};

mod field;

use field::{flag, level_name, whole};

/// Levels of a game.
pub const LEVELS_MAX: usize = 32;
/// Waves of a level.
pub const WAVES_MAX: usize = 64;
/// Spawns of a wave.
pub const SPAWNS_MAX: usize = 16;
/// Bytes of a level's file.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Where enemies come from unless a level says otherwise: out of sight, by the right edge.
pub const SPAWN_X: i32 = WIDTH + 60;
/// How near to the upper and lower edges enemies come into the field.
const SPAWN_EDGE_Y: i32 = 60;

/// Where the members of a group are, and when they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formation {
    /// One after the other, at the same height.
    #[default]
    Line,
    /// One after the other, each `spread` lower.
    Stairs,
    /// All at once, one above the other, `spread` apart.
    Column,
    /// The middle one first, those beside it later, `spread` apart.
    Wedge,
    /// One after the other, at any height.
    Scatter,
}

/// A group of enemies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// What they are.
    #[serde(deserialize_with = "field::kind")]
    pub kind: EnemyKind,
    /// How many.
    #[serde(default = "one", deserialize_with = "whole::count")]
    pub count: i32,
    /// Steps after the wave began.
    #[serde(default, deserialize_with = "whole::after_steps")]
    pub after_steps: i32,
    /// Steps between one and the next.
    #[serde(default = "every_default", deserialize_with = "whole::every_steps")]
    pub every_steps: i32,
    /// Where they are.
    #[serde(default, deserialize_with = "field::formation")]
    pub formation: Formation,
    /// Where they come into the field, from the left.
    #[serde(default = "x_default", deserialize_with = "whole::x")]
    pub x: i32,
    /// The height of the first of them, or of the middle.
    #[serde(default = "y_default", deserialize_with = "whole::y")]
    pub y: i32,
    /// The height between one and the next.
    #[serde(default = "spread_default", deserialize_with = "whole::spread")]
    pub spread: i32,
    /// Units of a step to the left; 0: as their kind has it.
    #[serde(default, deserialize_with = "whole::speed")]
    pub speed: i32,
    /// Steps between shots of each; 0: as their kind has it.
    #[serde(default, deserialize_with = "whole::fire_every_steps")]
    pub fire_every_steps: i32,
    /// Whether the last of them leaves a capsule.
    #[serde(default, deserialize_with = "flag::capsule")]
    pub capsule: bool,
}

fn one() -> i32 {
    1
}

fn every_default() -> i32 {
    20
}

fn x_default() -> i32 {
    SPAWN_X
}

fn y_default() -> i32 {
    HEIGHT / 2
}

fn spread_default() -> i32 {
    80
}

impl Spawn {
    /// Steps after the wave began at which a member comes.
    pub fn step_of(&self, member: i32) -> i32 {
        let place = match self.formation {
            Formation::Column => 0,
            Formation::Wedge => (2 * member - (self.count - 1)).abs() / 2,
            Formation::Line | Formation::Stairs | Formation::Scatter => member,
        };
        self.after_steps + place * self.every_steps
    }

    /// The height at which a member comes. `random` is any number, for formations that want one.
    pub fn y_of(&self, member: i32, random: u32) -> i32 {
        let y = match self.formation {
            Formation::Line => self.y,
            Formation::Stairs => self.y + member * self.spread,
            Formation::Column | Formation::Wedge => {
                self.y + (2 * member - (self.count - 1)) * self.spread / 2
            }
            Formation::Scatter => SPAWN_EDGE_Y + (random % (HEIGHT - 2 * SPAWN_EDGE_Y) as u32) as i32,
        };
        y.clamp(SPAWN_EDGE_Y, HEIGHT - SPAWN_EDGE_Y)
    }
}

/// Groups that come together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Seconds after the level began.
    #[serde(deserialize_with = "whole::at_seconds")]
    pub at_seconds: i32,
    /// The groups.
    #[serde(deserialize_with = "field::spawns")]
    pub spawns: Vec<Spawn>,
}

/// A level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// Seconds after which its waves are over, and an endless one begins anew.
    pub seconds: i32,
    /// Who waits at its end.
    pub boss: Option<EnemyKind>,
    /// What that one begins with, if there is one ship in the game; 0: as its kind has it.
    pub boss_health: i32,
    /// Steps between one piece of debris and the next; 0: there is none.
    pub debris_every_steps: i32,
    /// Whether it never ends, and nobody loses a ship.
    pub endless: bool,
    /// What comes, in order of time.
    pub waves: Vec<Wave>,
}

impl Level {
    /// Steps after which its waves are over.
    pub fn steps(&self) -> i32 {
        self.seconds * STEPS_PER_SECOND as i32
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(deserialize_with = "level_name")]
    name: String,
    #[serde(deserialize_with = "whole::seconds")]
    seconds: i32,
    #[serde(default, deserialize_with = "field::boss")]
    boss: Option<EnemyKind>,
    #[serde(default, deserialize_with = "whole::boss_health")]
    boss_health: i32,
    #[serde(default, deserialize_with = "whole::debris_every_steps")]
    debris_every_steps: i32,
    #[serde(default, deserialize_with = "flag::endless")]
    endless: bool,
    #[serde(deserialize_with = "field::waves")]
    waves: Vec<Wave>,
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Level, D::Error> {
        from.deserialize_map(Whole)
    }
}

/// Reads a level and compares its fields with each other while the reader still knows where in the file it is.
struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Level;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("a level, with at least `name`, `seconds` and `waves`")
    }

    fn visit_map<A: MapAccess<'de>>(self, from: A) -> Result<Level, A::Error> {
        let written = Written::deserialize(MapAccessDeserializer::new(from))?;
        let Written { name, seconds, boss, boss_health, debris_every_steps, endless, waves } = written;
        let level = Level { name, seconds, boss, boss_health, debris_every_steps, endless, waves };
        level.check().map_err(de::Error::custom)?;
        Ok(level)
    }
}

impl Level {
    fn check(&self) -> Result<(), String> {
        if self.endless && self.boss.is_some() {
            return Err("`boss`: an endless level has no end for one to wait at".into());
        }
        if self.boss_health > 0 && self.boss.is_none() {
            return Err("`boss_health`: there is no `boss` in this level".into());
        }
        let mut earlier = -1;
        for (index, wave) in self.waves.iter().enumerate() {
            let number = index + 1;
            if wave.at_seconds <= earlier {
                return Err(format!(
                    "`at_seconds` of wave {number} must be later than that of the wave before"
                ));
            }
            earlier = wave.at_seconds;
            for spawn in &wave.spawns {
                let last = (0..spawn.count).map(|member| spawn.step_of(member)).max().unwrap_or(0);
                if wave.at_seconds * STEPS_PER_SECOND as i32 + last >= self.steps() {
                    return Err(format!("`seconds`: wave {number} is still coming when the waves are over"));
                }
            }
        }
        Ok(())
    }
}

/// Why levels could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// The folder or a file in it.
    #[error("{path}: {source}")]
    Unreadable {
        /// Which one.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file that is much larger than a level.
    #[error("{file}: larger than {FILE_BYTES_MAX} bytes: this is no level")]
    TooLarge {
        /// Which one.
        file: String,
    },
    /// Something in a file that is no level, or no good one.
    #[error("{file}, line {line}: {what}")]
    Malformed {
        /// The file.
        file: String,
        /// Where in it, from 1 on.
        line: usize,
        /// What is wrong, naming the field.
        what: String,
    },
    /// A folder without levels.
    #[error("{path}: no level in here: a level is a file that ends in .json")]
    None {
        /// The folder.
        path: String,
    },
    /// More levels than a game has.
    #[error("{path}: more than {LEVELS_MAX} levels")]
    TooMany {
        /// The folder.
        path: String,
    },
}

/// The levels of a game, from 1 on. After an endless one, or the last, there is no other: see [`Levels::after`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    levels: Vec<Level>,
}

/// The levels that come with the game: file name and content, in order.
const EMBEDDED: [(&str, &str); 4] = [
    ("1_outer_belt.json", include_str!("../../levels/1_outer_belt.json")),
    ("2_the_gate.json", include_str!("../../levels/2_the_gate.json")),
    ("3_the_deep.json", include_str!("../../levels/3_the_deep.json")),
    ("4_storm.json", include_str!("../../levels/4_storm.json")),
];

impl Levels {
    /// The levels that come with the game. The last of them is `storm`, an endless one for measuring.
    pub fn embedded() -> Levels {
        let levels = EMBEDDED.iter().map(|(file, json)| {
            Levels::parse(file, json).expect("the levels of this crate are well formed: there is a test")
        });
        Levels { levels: levels.collect() }
    }

    /// The levels of a folder: its files that end in .json, in order of their names.
    pub fn read_folder(folder: &Path) -> Result<Levels, LevelError> {
        let unreadable = |path: &Path| {
            let path = path.display().to_string();
            move |source| LevelError::Unreadable { path, source }
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
        files.sort();
        let path = folder.display().to_string();
        if files.is_empty() {
            return Err(LevelError::None { path });
        }
        if files.len() > LEVELS_MAX {
            return Err(LevelError::TooMany { path });
        }
        let mut levels = Vec::new();
        for path in files {
            let file = path.display().to_string();
            if path.metadata().map_err(unreadable(&path))?.len() > FILE_BYTES_MAX {
                return Err(LevelError::TooLarge { file });
            }
            let json = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
            levels.push(Levels::parse(&file, &json)?);
        }
        Ok(Levels { levels })
    }

    /// One level, from what is written in a file of that name.
    pub fn parse(file: &str, json: &str) -> Result<Level, LevelError> {
        serde_json::from_str(json).map_err(|error| LevelError::Malformed {
            file: file.into(),
            line: error.line(),
            what: field::without_place(&error),
        })
    }

    /// Levels that were parsed one by one, at least one and at most [`LEVELS_MAX`]; what is more is left out.
    pub fn new(first: Level, others: Vec<Level>) -> Levels {
        let mut levels = vec![first];
        levels.extend(others);
        levels.truncate(LEVELS_MAX);
        Levels { levels }
    }

    /// How many there are, at least one.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u8 {
        self.levels.len() as u8
    }

    /// A level by its number, from 1 on; beyond the last it is the last.
    pub fn get(&self, level: u8) -> &Level {
        &self.levels[usize::from(level.clamp(1, self.len())) - 1]
    }

    /// The number of the level that comes after one: none after the last, and an endless one comes only when it is asked for.
    pub fn after(&self, level: u8) -> Option<u8> {
        let next = level.checked_add(1)?;
        (next <= self.len() && !self.get(next).endless).then_some(next)
    }
}
