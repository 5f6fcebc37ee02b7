//! Seeds for sessions.

mod lobby;
mod packed;
mod pair;
mod rpc;

use super::Seed;

pub fn seeds() -> Vec<Seed> {
    let mut seeds = lobby::seeds();
    seeds.extend(packed::seeds());
    seeds.extend(rpc::seeds());
    seeds.extend(pair::seeds());
    seeds
}
