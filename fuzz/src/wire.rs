//! The encodings: pure functions of bytes, so most promises are round trips.

mod delta;
mod entropy;
mod primitives;
mod record;
mod schema;
mod stream;

pub use delta::wire_delta;
pub use entropy::wire_entropy;
pub use primitives::wire_primitives;
pub use record::wire_record;
pub use schema::wire_schema;
pub use stream::wire_stream;

use netloom_wire::BitReader;

/// Whether two byte strings share their first `bit_count` bits.
pub(crate) fn same_bits(left: &[u8], right: &[u8], bit_count: usize) -> bool {
    let (Some(mut left), Some(mut right)) =
        (BitReader::with_bit_len(left, bit_count), BitReader::with_bit_len(right, bit_count))
    else {
        return false;
    };
    while left.remaining_bits() > 0 {
        let count = left.remaining_bits().min(56) as u32;
        if left.read_bits(count) != right.read_bits(count) {
            return false;
        }
    }
    true
}
