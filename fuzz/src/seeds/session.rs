//! Seeds for sessions.

mod lobby;
mod rpc;

use super::Seed;

pub fn seeds() -> Vec<Seed> {
    let mut seeds = lobby::seeds();
    seeds.extend(rpc::seeds());
    seeds
}
