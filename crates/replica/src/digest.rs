//! A small number that two sides can compare instead of everything they hold.
//!
//! Acknowledgements prove what a client received, not what it holds: a fault in an application, or damage that a
//! checksum missed, stays unseen while an object rests. So the server now and then sends the digest of a *region*, 64
//! alias slots of which nothing is on its way, and the client compares it with its own:
//!
//! ```text
//!   digest of an object = FNV-1a 32 over: class u8, then for each field that the public sees, in the order of the
//!                         schema: its words, 4 bytes each; of text, bytes and arrays the content, after its length in 4 bytes
//!   digest of a region  = the sum over its objects of (digest XOR (slot × 256 + generation)) × 0x9e3779b1
//! ```
//!
//! All arithmetic is modulo 2^32, all numbers are little-endian.

use netloom_wire::Alias;
use netloom_wire::hash::Fnv32;
use netloom_wire::schema::Audience;

use crate::class::Class;
use crate::codec::Blobs;

/// Slots of a region.
pub(crate) const REGION_SLOTS: usize = 64;

/// Regions that there can be.
pub(crate) const REGIONS_MAX: usize = crate::limits::VISIBLE_MAX.div_ceil(REGION_SLOTS);

/// The digest of an object's public fields.
pub(crate) fn object_digest(number: u8, class: &Class, words: &[i32], blobs: &impl Blobs) -> u32 {
    let visible = class.visible(Audience::Public);
    let mut hash = Fnv32::new().with(&[number]);
    for (index, field) in class.fields().iter().enumerate().filter(|(index, _)| visible >> index & 1 != 0) {
        hash = match field.kind.content_bytes_max() {
            Some(_) => {
                let content = blobs.blob(index);
                hash.with(&(content.len() as u32).to_le_bytes()).with(content)
            }
            None => {
                let own = &words[field.first..field.first + field.count];
                own.iter().fold(hash, |hash, word| hash.with(&word.to_le_bytes()))
            }
        };
    }
    hash.value()
}

/// What an object adds to the digest of its region.
#[inline]
pub(crate) fn placed(digest: u32, alias: Alias) -> u32 {
    (digest ^ (u32::from(alias.slot) << 8 | u32::from(alias.generation))).wrapping_mul(0x9e37_79b1)
}
