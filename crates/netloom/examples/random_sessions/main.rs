//! Servers with random games, for comparing what a client in another language makes of them.
//!
//! ```text
//! cargo run -p netloom --example random_sessions -- --help
//! ```
//!
//! Everything follows from the seed of a session: the kinds of objects and their fields, who sees what, what happens, the calls,
//! and whether it goes over UDP, sealed UDP or WebSocket. Each line of the input is a command, each line of the output is JSON:
//!
//! ```text
//!   open 17 ──▶ {"seed":17,"what":"open","details":{ address, encryption, declaration … }}
//!               {"seed":17,"what":"tick","details":{ what changed for the player in this tick, to the bit }}
//!               {"seed":17,"what":"call" | "set" | "input" | "write" | "called", …}
//!               {"seed":17,"what":"still", …}     from now on nothing changes but what the player writes
//!   close 17 ─▶ {"seed":17,"what":"closed", …}
//! ```

#![forbid(unsafe_code)]

mod declaration;
mod game;
mod truth;
mod values;

use std::collections::BTreeMap;
use std::io::BufRead;

use netloom::prelude::*;
use netloom::proto::Security;
use netloom::replica::server::interest::{Axes, GridConfig, Policy};
use netloom::replica::server::{Heartbeat, ServerConfig as ReplicationConfig};
use netloom::session::random::Random;
use serde_json::json;

use declaration::Declaration;
use game::RandomGame;
use truth::Log;

const HELP: &str = "Servers with random games, for comparing what a client in another language makes of them.

usage: random_sessions [--help]

Commands, one a line, from the input; it ends with it:
  open <seed>    opens the server of a seed on a free port of the loopback, and says where
  close <seed>   closes it
Every other line of the output is something that is true on a server. bindings/js/test/random_sessions.test.js reads them.";

/// Which way a session goes: half over UDP, of which half is sealed, and half over WebSocket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Udp,
    SealedUdp,
    WebSocket,
}

impl Way {
    fn of(seed: u64) -> Way {
        match seed % 4 {
            1 => Way::Udp,
            3 => Way::SealedUdp,
            _ => Way::WebSocket,
        }
    }
}

fn room_config(random: &mut Random) -> RoomConfig {
    let sends_per_second = [20, 30, 60][random.below(3) as usize];
    let grid = GridConfig {
        cell_metres: random.between(5.0, 100.0),
        axes: [Axes::Xy, Axes::Xz, Axes::Xyz][random.below(3) as usize],
        radius_metres: random.between(20.0, 300.0),
        leave_margin_metres: random.between(0.0, 20.0),
        dwell_ticks: random.below(20) as u32,
        refresh_ticks: 1 + random.below(8) as u32,
    };
    let replication = ReplicationConfig {
        policy: if random.below(2) == 0 { Policy::Everyone } else { Policy::Grid(grid) },
        baseline_ticks: 1 + random.below(8) as u32,
        heartbeat: match random.below(3) {
            0 => Heartbeat::Resend { ticks: 20 + random.below(100) as u32 },
            1 => Heartbeat::Digest { ticks: 5 + random.below(50) as u32 },
            _ => Heartbeat::Off,
        },
        ..ReplicationConfig::default()
    };
    RoomConfig { sends_per_second, replication, ..RoomConfig::new("random") }
}

fn open(seed: u64) -> Result<ServerHandle, Box<dyn std::error::Error>> {
    let (log, way) = (Log { seed }, Way::of(seed));
    let mut random = Random::new(seed);
    let Declaration { protocol, down, json: declaration } = Declaration::random(&mut random, seed)?;
    let room = room_config(&mut random);
    let policy = if room.replication.policy == Policy::Everyone { "everyone" } else { "grid" };
    let mut config = ServerConfig::default();
    config.connection.security = if way == Way::SealedUdp { Security::Required } else { Security::Optional };
    let scheme = if way == Way::WebSocket { "ws" } else { "udp" };
    let server = Server::builder(protocol)
        .config(config)
        .room(room, RandomGame::new(random, log, down))
        .listen(&format!("{scheme}://127.0.0.1:0"))
        .bind()?
        .spawn()?;
    let address = server.local_addresses().first().map(ToString::to_string);
    let encryption = if way == Way::SealedUdp { "required" } else { "off" };
    let details = json!({
        "address": address,
        "scheme": scheme,
        "encryption": encryption,
        "policy": policy,
        "declaration": declaration,
    });
    log.say("open", details);
    Ok(server)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().len() > 1 {
        println!("{HELP}");
        return Ok(());
    }
    let mut servers: BTreeMap<u64, ServerHandle> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (command, seed) = line.split_once(' ').ok_or_else(|| format!("no command: {line}"))?;
        let seed: u64 = seed.parse()?;
        match command {
            "open" => {
                servers.insert(seed, open(seed)?);
            }
            "close" => {
                if let Some(server) = servers.remove(&seed) {
                    server.stop("the session is over")?;
                }
                Log { seed }.say("closed", json!(null));
            }
            _ => return Err(format!("no command: {line}").into()),
        }
    }
    Ok(())
}
