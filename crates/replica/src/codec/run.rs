//! Bits on their way to a writer or a cache entry.

use netloom_wire::BitWriter;

use super::prefix::Code;

/// Takes bits, the first one lowest, and counts them whether it can keep them or not.
pub(super) trait Run: Copy + Default {
    /// Appends `count` bits, at most 64; those of `bits` above them must be zero.
    fn put(&mut self, bits: u64, count: u32);

    /// How many bits were put.
    fn length(&self) -> u32;

    /// Appends a code.
    #[inline]
    fn put_code(&mut self, code: Code) {
        self.put(u64::from(code.bits), u32::from(code.length));
    }

    /// Appends a code and `count` bits after it, as for [`put`](Run::put).
    #[inline]
    fn put_code_and(&mut self, bits: u64, count: u32, code: Code) {
        self.put_code(code);
        self.put(bits, count);
    }
}

/// A run that keeps its bits.
pub(super) trait Written: Run {
    /// The most bits that are kept.
    const BITS_MAX: u32;

    /// Appends the run, which must have been kept, to a writer.
    fn write(&self, writer: &mut BitWriter<'_>);
}

/// Up to 64 bits: nearly every position and rotation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortRun {
    pub bits: u64,
    pub length: u32,
}

/// Up to 128 bits: three residuals of any size, and any transform in full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongRun {
    pub bits: u128,
    pub length: u32,
}

impl Run for ShortRun {
    #[inline]
    fn put(&mut self, bits: u64, count: u32) {
        self.bits |= bits << (self.length & 63);
        self.length += count;
    }

    /// In one step: whatever is put waits for the length of what was put before.
    #[inline]
    fn put_code_and(&mut self, bits: u64, count: u32, code: Code) {
        self.put(u64::from(code.bits) | bits << code.length, u32::from(code.length) + count);
    }

    #[inline]
    fn length(&self) -> u32 {
        self.length
    }
}

impl Written for ShortRun {
    const BITS_MAX: u32 = 64;

    #[inline]
    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.append_bits(self.bits, self.length);
    }
}

impl Run for LongRun {
    #[inline]
    fn put(&mut self, bits: u64, count: u32) {
        self.bits |= u128::from(bits) << (self.length & 127);
        self.length += count;
    }

    #[inline]
    fn length(&self) -> u32 {
        self.length
    }
}

impl Written for LongRun {
    const BITS_MAX: u32 = 128;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.append_bits(self.bits as u64, self.length.min(64));
        if self.length > 64 {
            writer.append_bits((self.bits >> 64) as u64, self.length - 64);
        }
    }
}
