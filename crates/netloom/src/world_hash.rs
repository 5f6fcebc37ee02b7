//! Whether a client sees what the server has: one number for a whole world at one tick.
//!
//! Both sides keep the last 32 states of every object, as the quantized words that snapshots carry. The hash of an object is
//! taken over its class and the words that were in force at a tick, of those fields that everybody is sent; the hash of a world is
//! the sum of those of its objects, so that the order and the names that each side has for them do not matter. Two equal sums mean
//! that every such field of every object was the same, bit for bit, while all of them moved.
//!
//! A client asks the server for its own numbers by a call, and is answered by another:
//!
//! ```text
//!   client ─▶ server   world_hash (first tick)                         that tick and the eleven after it
//!   server ─▶ client   world_hashes (first tick, [hash, hash, …])      twelve, integers of 64 bits
//! ```
//!
//! That works over every transport and in every language, and asks nothing of the server's operator. A game takes part by
//! having both calls in its protocol ([`ASK`], [`ANSWER`]) and leaving the first to [`answer`], or to a [`Recorder`] if objects come
//! and go: what is gone has no past that could be asked for later.

use std::collections::VecDeque;

use netloom_replica::client::ReplicaClient;
use netloom_replica::{Class, ClassId};
use netloom_session::client::{Called, ClientError};
use netloom_session::protocol::ProtocolBuilder;
use netloom_session::rpc::Callers;
use netloom_wire::hash::Fnv64;
use netloom_wire::schema::Audience;

use crate::prelude::*;

/// Ticks that are asked for at once. Their hashes fit into a notice, and both sides remember them all for a second.
pub const TICKS: u32 = 12;

/// The ticks from one on that are asked for.
pub fn ticks(first: Tick) -> impl Iterator<Item = Tick> {
    (0..TICKS).map(move |after| Tick(first.0.wrapping_add(after)))
}

/// The call by which a client asks for the hashes from a tick on. Each answer costs the server a walk over its world.
pub const ASK: &str = "world_hash";
/// The call that answers.
pub const ANSWER: &str = "world_hashes";

/// Adds both calls to a protocol.
pub fn with_calls(protocol: ProtocolBuilder) -> ProtocolBuilder {
    let ask = RpcOptions {
        callers: Callers::Clients,
        bytes_max: 16,
        per_second: 2,
        burst: 4,
        ..RpcOptions::default()
    };
    let answer = RpcOptions { callers: Callers::Server, ..RpcOptions::default() };
    protocol.rpc(ASK, ask).rpc(ANSWER, answer)
}

/// Asks the server for the hashes from a tick on.
pub fn ask<I: Input>(client: &mut Client<I>, first: Tick) -> Result<(), ClientError> {
    client.call(ASK, &(first.0,))
}

/// Answers a player's [`ASK`].
pub fn answer(room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
    answer_with(room, from, call, of_room)
}

fn answer_with(
    room: &mut Room,
    from: PlayerId,
    call: &Call<'_>,
    hash: impl Fn(&Room, Tick) -> u64,
) -> Result<(), CallRefused> {
    let (first,): (u32,) = call.args()?;
    let hashes: Vec<u64> = ticks(Tick(first)).map(|tick| hash(room, tick)).collect();
    Ok(room.call(CallTarget::Player(from), ANSWER, None, &(first, hashes))?)
}

/// The hashes of the last ticks, taken while everything of them was there.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    kept: VecDeque<(Tick, u64)>,
}

/// Ticks that are kept: as many as objects have states of.
const TICKS_KEPT: usize = 32;

impl Recorder {
    /// Takes the hash of what was told last: to be called at the beginning of every [`Game::step`].
    pub fn record(&mut self, room: &Room) {
        let Some(tick) = room.world().tick() else { return };
        if self.kept.back().is_some_and(|(newest, _)| *newest == tick) {
            return;
        }
        if self.kept.len() == TICKS_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((tick, of_room(room, tick)));
    }

    /// Answers a player's [`ASK`].
    pub fn answer(&self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        answer_with(room, from, call, |room, tick| {
            let kept = self.kept.iter().find(|(kept, _)| *kept == tick);
            kept.map_or_else(|| of_room(room, tick), |(_, hash)| *hash)
        })
    }
}

/// The ticks and their hashes, if a call is an [`ANSWER`].
pub fn read_answer(called: &Called) -> Option<Vec<(Tick, u64)>> {
    if *called.name != *ANSWER {
        return None;
    }
    let (first, hashes): (u32, Vec<u64>) = called.args().ok()?;
    Some(ticks(Tick(first)).zip(hashes).collect())
}

/// The hash of a world as the server has it. What was not there at that tick does not count.
pub fn of_room(room: &Room, tick: Tick) -> u64 {
    let objects = room.world().iter();
    objects.fold(0, |sum, object| match object.words_at(tick) {
        Some(words) => sum.wrapping_add(of_object(object.class_id(), object.class(), words)),
        None => sum,
    })
}

/// The hash of a world as a client has it.
pub fn of_client(objects: &ReplicaClient, tick: Tick) -> u64 {
    objects.iter().fold(0, |sum, object| match (objects.class(object), object.words_at(tick)) {
        (Some(class), Some(words)) => sum.wrapping_add(of_object(ClassId(object.class()), class, words)),
        _ => sum,
    })
}

fn of_object(id: ClassId, class: &Class, words: &[i32]) -> u64 {
    let public = class.schema().visible_mask(Audience::Public);
    let fields = class.fields().iter().enumerate().filter(|(field, _)| public >> field & 1 == 1);
    fields
        .fold(Fnv64::new().with(&[id.0]), |hash, (_, field)| {
            let words = words.get(field.first..field.first + field.count).unwrap_or_default();
            words.iter().fold(hash, |hash, word| hash.with(&word.to_le_bytes()))
        })
        .value()
}

#[cfg(test)]
mod tests {
    use netloom_session::rpc::{RpcId, encode_args};

    use super::*;

    fn called(name: &str, args: Vec<u8>) -> Called {
        Called {
            id: RpcId(0),
            name: name.into(),
            caller: None,
            object: None,
            tick: None,
            late: Micros::ZERO,
            args: args.into(),
        }
    }

    #[test]
    fn an_answer_names_the_ticks_that_were_asked_for_and_nothing_else_is_one() {
        let (mut hashes, mut words) = (Vec::new(), Vec::new());
        encode_args(&(u32::MAX, [u64::MAX, 10]), &mut hashes).unwrap();
        encode_args(&("7", "zz"), &mut words).unwrap();
        let told = read_answer(&called(ANSWER, hashes.clone()));
        assert_eq!(told, Some(vec![(Tick(u32::MAX), u64::MAX), (Tick(0), 10)]));
        assert_eq!(read_answer(&called(ASK, hashes)), None);
        assert_eq!(read_answer(&called(ANSWER, words)), None);
    }

    #[test]
    fn every_word_that_everybody_is_sent_counts_and_so_does_the_class() {
        #[derive(Replicated, Default)]
        #[replicated(crate = netloom_session)]
        struct Purse {
            colour: u16,
            weight: u8,
            #[replicated(owner)]
            coins: u16,
        }
        let class = Purse::class().unwrap();
        let of = |id, words: [i32; 3]| of_object(ClassId(id), &class, &words);
        let secret = class.schema().index_of("coins").unwrap();
        let base = of(1, [1, 2, 3]);
        assert_ne!(base, of(2, [1, 2, 3]));
        for word in 0..3 {
            let mut words = [1, 2, 3];
            words[word] = 9;
            assert_eq!(base == of(1, words), word == secret, "word {word}");
        }
    }
}
