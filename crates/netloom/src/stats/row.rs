//! Numbers that belong together, written by one thread and read by any, without a lock.
//!
//! ```text
//!   writer:  version odd │ word, word, word … │ version even        never waits
//!   reader:  version?    │ copy the words     │ the same, and even?  else once more
//! ```

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// How often a reader tries. A row is written in less than a microsecond, four times a second.
const ATTEMPTS: usize = 64;

/// A row.
#[derive(Debug)]
pub(super) struct Row<const WORDS: usize> {
    version: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Row<WORDS> {
    pub fn new() -> Row<WORDS> {
        Row { version: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; WORDS] }
    }

    /// To be called by one thread only.
    pub fn write(&self, words: &[u64; WORDS]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // The words come after the odd version for whoever sees any of them.
        fence(Ordering::Release);
        for (place, word) in self.words.iter().zip(words) {
            place.store(*word, Ordering::Relaxed);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The words as they were at one moment; `None` if they change all the time.
    pub fn read(&self) -> Option<[u64; WORDS]> {
        (0..ATTEMPTS).find_map(|_| {
            let before = self.version.load(Ordering::Acquire);
            let words = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let after = self.version.load(Ordering::Relaxed);
            (before == after && before.is_multiple_of(2)).then_some(words)
        })
    }
}

/// A number with a fraction as a word.
pub(super) fn word(number: f64) -> u64 {
    number.to_bits()
}

/// The number that [`word`] was made of.
pub(super) fn number(word: u64) -> f64 {
    f64::from_bits(word)
}

/// A short text as words.
pub(super) struct Text;

impl Text {
    /// Words that a text takes: names have 64 bytes.
    pub const WORDS: usize = 8;

    /// As much of a text as there is room for.
    pub fn write(text: &str, words: &mut [u64]) {
        let bytes = &text.as_bytes()[..text.floor_char_boundary(8 * words.len())];
        let mut chunks = bytes.chunks(8);
        for word in words {
            let mut padded = [0; 8];
            if let Some(chunk) = chunks.next() {
                padded[..chunk.len()].copy_from_slice(chunk);
            }
            *word = u64::from_le_bytes(padded);
        }
    }

    /// The text in words that [`write`](Text::write) wrote.
    pub fn read(words: &[u64]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_reader_never_sees_half_of_a_row() {
        let (row, is_done) = (Row::<16>::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200_000 {
                    row.write(&[number; 16]);
                }
                is_done.store(true, Ordering::Relaxed);
            });
            while !is_done.load(Ordering::Relaxed) {
                if let Some(words) = row.read() {
                    assert!(words.iter().all(|word| *word == words[0]), "{words:?}");
                }
            }
        });
        assert_eq!(row.read(), Some([199_999; 16]));
    }

    #[test]
    fn texts_come_back_and_are_cut_where_a_letter_ends() {
        for text in ["", "a", "Ägypten", &"x".repeat(64)] {
            let mut words = [7; Text::WORDS];
            Text::write(text, &mut words);
            assert_eq!(Text::read(&words), text);
        }
        let mut words = [0; Text::WORDS];
        Text::write(&"ä".repeat(40).replacen('ä', "a", 1), &mut words);
        assert_eq!(Text::read(&words).len(), 63);
    }
}
