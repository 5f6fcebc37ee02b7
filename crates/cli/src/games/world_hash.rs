//! Whether a client sees what the server has: one number for a whole world at one tick.
//!
//! Both sides keep the last 32 states of every object, as the quantized words that snapshots carry. The hash of an object is
//! taken over its class and the words that were in force at a tick; the hash of a world is the sum of those of its objects, so
//! that the order and the names that each side has for them do not matter. Two equal sums mean that every field of every object
//! was the same, bit for bit, while all of them moved.
//!
//! A bot asks the server for its own numbers in the chat, `/hash 4711` for that tick and the eleven after it, and the answer is a
//! notice with twelve hashes. That works over every transport, and asks nothing of the server's operator. A game takes part by
//! asking [`answer`] first whenever somebody says something.

use netloom::prelude::{Room, Tick};
use netloom::replica::client::ReplicaClient;
use netloom::wire::hash::Fnv64;

/// Ticks that are asked for at once. Their hashes fit into a notice, and both sides remember them all for a second.
pub const TICKS: u32 = 12;

/// The ticks from one on that are asked for.
pub fn ticks(first: Tick) -> impl Iterator<Item = Tick> {
    (0..TICKS).map(move |after| Tick(first.0.wrapping_add(after)))
}

/// What a bot says to ask for the hashes from a tick on.
pub fn question(first: Tick) -> String {
    format!("/hash {}", first.0)
}

/// The answer to something that was said, if it was a [`question`].
pub fn answer(room: &Room, text: &str) -> Option<String> {
    let first = Tick(text.strip_prefix("/hash ")?.trim().parse().ok()?);
    let hashes: Vec<String> = ticks(first).map(|tick| format!("{:016x}", of_room(room, tick))).collect();
    Some(format!("hash {} {}", first.0, hashes.join(" ")))
}

/// The ticks and their hashes in an [`answer`].
pub fn read_answer(text: &str) -> Option<Vec<(Tick, u64)>> {
    let (first, hashes) = text.strip_prefix("hash ")?.split_once(' ')?;
    let hashes = hashes.split(' ').map(|hash| u64::from_str_radix(hash, 16).ok());
    ticks(Tick(first.parse().ok()?)).zip(hashes).map(|(tick, hash)| Some((tick, hash?))).collect()
}

/// The hash of a world as the server has it. What was not there at that tick does not count.
pub fn of_room(room: &Room, tick: Tick) -> u64 {
    let objects = room.world().iter();
    let known = objects.filter_map(|object| Some((object.class_id().0, object.words_at(tick)?)));
    known.fold(0, |sum, (class, words)| sum.wrapping_add(of_object(class, words)))
}

/// The hash of a world as a client has it.
pub fn of_client(objects: &ReplicaClient, tick: Tick) -> u64 {
    let known = objects.iter().filter_map(|object| Some((object.class(), object.words_at(tick)?)));
    known.fold(0, |sum, (class, words)| sum.wrapping_add(of_object(class, words)))
}

fn of_object(class: u8, words: &[i32]) -> u64 {
    let hash = Fnv64::new().with(&[class]);
    words.iter().fold(hash, |hash, word| hash.with(&word.to_le_bytes())).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_as_it_is_written_and_nothing_else_is_one() {
        assert_eq!(question(Tick(7)), "/hash 7");
        assert_eq!(read_answer("hash 7 00000000000000ff a"), Some(vec![(Tick(7), 255), (Tick(8), 10)]));
        for text in ["hash", "hash 7", "hash x 1", "hash 7 zz", "hello"] {
            assert_eq!(read_answer(text), None);
        }
        assert!(17 * TICKS as usize + "hash 4294967295".len() <= netloom::session::message::REASON_BYTES_MAX);
    }

    #[test]
    fn every_word_counts_and_so_does_the_class() {
        let base = of_object(1, &[1, 2, 3]);
        assert_ne!(base, of_object(2, &[1, 2, 3]));
        assert_ne!(base, of_object(1, &[1, 2, 4]));
        assert_ne!(base, of_object(1, &[2, 1, 3]));
    }
}
