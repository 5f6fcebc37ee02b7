//! Whether a client sees what the server has: one number for a whole world at one tick.
//!
//! Both sides keep the last 32 states of every object, as the quantized words that snapshots carry. The hash of an object is
//! taken over its class and the words that were in force at a tick; the hash of a world is the sum of those of its objects, so
//! that the order and the names that each side has for them do not matter. Two equal sums mean that every field of every object
//! was the same, bit for bit, while all of them moved.
//!
//! A bot asks the server for its own number in the chat, `/hash 4711`, and the answer is a notice, `hash 4711 0123456789abcdef`.
//! That works over every transport, and asks nothing of the server's operator. A game takes part by asking [`answer`] first
//! whenever somebody says something.

use netloom::prelude::{Room, Tick};
use netloom::replica::client::ReplicaClient;
use netloom::wire::hash::Fnv64;

/// What a bot says to ask for the hash at a tick.
pub fn question(tick: Tick) -> String {
    format!("/hash {}", tick.0)
}

/// The answer to something that was said, if it was a [`question`].
pub fn answer(room: &Room, text: &str) -> Option<String> {
    let tick = Tick(text.strip_prefix("/hash ")?.trim().parse().ok()?);
    Some(format!("hash {} {:016x}", tick.0, of_room(room, tick)))
}

/// The tick and the hash in an [`answer`].
pub fn read_answer(text: &str) -> Option<(Tick, u64)> {
    let (tick, hash) = text.strip_prefix("hash ")?.split_once(' ')?;
    Some((Tick(tick.parse().ok()?), u64::from_str_radix(hash, 16).ok()?))
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
        assert_eq!(read_answer("hash 7 00000000000000ff"), Some((Tick(7), 255)));
        for text in ["hash", "hash 7", "hash x 1", "hash 7 zz", "hello"] {
            assert_eq!(read_answer(text), None);
        }
    }

    #[test]
    fn every_word_counts_and_so_does_the_class() {
        let base = of_object(1, &[1, 2, 3]);
        assert_ne!(base, of_object(2, &[1, 2, 3]));
        assert_ne!(base, of_object(1, &[1, 2, 4]));
        assert_ne!(base, of_object(1, &[2, 1, 3]));
    }
}
