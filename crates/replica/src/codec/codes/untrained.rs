//! Tables that no scene has taught anything.

use netloom_wire::entropy::{TableSet, lengths_for};

use super::{Codes, GROUPS};

/// Of 16 objects, how many have the common baselines, as long as nobody has counted them.
const COMMON_OF_16: u64 = 15;

impl Codes {
    /// Where training starts from that is to owe nothing to other tables: the codes of the wire where it has some, and equally
    /// long ones for everything else.
    pub fn untrained() -> Codes {
        let wire = TableSet::generic();
        let mut lengths = Vec::new();
        for group in GROUPS {
            let row: Vec<u8> = match group.name {
                "residual" => wire.residual.lengths().collect(),
                "mask" => wire.mask.lengths().collect(),
                "gap" => {
                    // A code of n bits says that one in 2^n was this one.
                    let weights =
                        |part: u64| wire.run.lengths().map(move |bits| part << (32 - u32::from(bits)));
                    let weights: Vec<u64> = weights(COMMON_OF_16).chain(weights(16 - COMMON_OF_16)).collect();
                    lengths_for(&weights, group.bits_max).expect("as many symbols as codes can have")
                }
                _ => lengths_for(&vec![1; group.symbols], group.bits_max)
                    .expect("as many symbols as codes can have"),
            };
            (0..group.tables).for_each(|_| lengths.extend_from_slice(&row));
        }
        Codes::from_lengths("untrained", &lengths).expect("complete codes for every group")
    }
}
