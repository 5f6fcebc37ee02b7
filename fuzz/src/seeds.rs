//! What the fuzzer starts from: a few inputs per target that reach deep, made by the real encoders.
//!
//! From nothing a fuzzer has to find magic numbers, checksums and the shape of every message by chance. From one valid
//! input of each shape it only has to vary them. The files in `corpus/` are written by `cargo run --example seeds`; a
//! test notices when an encoder changed and they were not written again.

mod classic;
mod proto;
mod replica;
mod rtype;
mod scene;
mod session;
mod transport;
mod wire;

/// One file of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The target that it is for.
    pub target: &'static str,
    /// The name of the file.
    pub name: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Every seed.
pub fn all() -> Vec<Seed> {
    let mut seeds = wire::seeds();
    seeds.extend(proto::seeds());
    seeds.extend(replica::seeds());
    seeds.extend(transport::seeds());
    seeds.extend(session::seeds());
    seeds.extend(rtype::seeds());
    seeds.extend(classic::seeds());
    seeds.extend(scene::seeds());
    seeds
}

fn seed(target: &'static str, name: &'static str, parts: &[&[u8]]) -> Seed {
    let bytes = parts.concat();
    Seed { target, name, bytes }
}
