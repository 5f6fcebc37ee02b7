//! Arbitrary bytes read as choices.
//!
//! Every choice takes whole bytes from the front, so that a seed can be written by hand and a mutation of one byte
//! changes one choice. After the last byte everything reads as zero.

use arbitrary::Unstructured;

/// Choices that are left.
pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Input<'a> {
        Input(Unstructured::new(data))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn u8(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn u16(&mut self) -> u16 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn u32(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn i32(&mut self) -> i32 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn u64(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// One of `count` things, from one byte.
    pub fn choice(&mut self, count: usize) -> usize {
        usize::from(self.u8()) % count.max(1)
    }

    /// One of `items`, from one byte.
    pub fn pick<T: Copy, const N: usize>(&mut self, items: [T; N]) -> T {
        items[self.choice(N)]
    }

    /// At most `count` bytes.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let count = count.min(self.0.len());
        self.0.bytes(count).unwrap_or_default()
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }
}
