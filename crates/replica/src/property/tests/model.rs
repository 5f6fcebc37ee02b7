//! Random games against what a peer must see: per object and field, a run of values without holes that ends with the
//! newest, from the moment at which the object entered until it left.

use super::*;

const OBJECTS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// An object's diary gets a new page, of so many kilobytes.
    Write(usize, usize),
    /// An object's bag gets other items.
    Pack(usize),
    Enter(usize, u64),
    Leave(usize),
    Respawn(usize),
    /// The peer takes so many messages.
    Take(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let object = 0..OBJECTS;
    prop_oneof![
        4 => (object.clone(), 0usize..40).prop_map(|(object, kilobytes)| Step::Write(object, kilobytes)),
        3 => object.clone().prop_map(Step::Pack),
        2 => (object.clone(), prop_oneof![Just(PUBLIC_FIELDS), Just(OWNER_FIELDS)])
            .prop_map(|(object, fields)| Step::Enter(object, fields)),
        1 => object.clone().prop_map(Step::Leave),
        1 => object.prop_map(Step::Respawn),
        4 => (0usize..6).prop_map(Step::Take),
    ]
}

/// What the peer holds of one field.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// The number of the value that the field had when the peer came to see it, and of the newest that it was told.
    base: usize,
    number: usize,
    is_told: bool,
    /// Whether it saw the field for the first time, and so assumed its default.
    is_fresh: bool,
}

/// One object as the peer has it.
#[derive(Clone, Debug)]
struct Seen {
    alias: Alias,
    fields: u64,
    held: [Held; 2],
}

struct Game {
    world: World,
    peer: PropertyPeer,
    objects: Vec<ObjectIndex>,
    /// The contents that each field of each object had, the first one its default.
    values: Vec<[Vec<Vec<u8>>; 2]>,
    seen: Vec<Option<Seen>>,
    ticks: u32,
    generation: u8,
    written: u64,
}

fn fresh_values() -> [Vec<Vec<u8>>; 2] {
    [vec![Vec::new()], vec![vec![0]]]
}

impl Game {
    fn new() -> Game {
        let mut world = world();
        let objects = (0..OBJECTS as u64)
            .map(|id| world.spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap())
            .collect();
        let peer = PropertyPeer::new(world.property_log());
        let values = (0..OBJECTS).map(|_| fresh_values()).collect();
        let seen = vec![None; OBJECTS];
        Game { world, peer, objects, values, seen, ticks: 1, generation: 0, written: 0 }
    }

    fn play(&mut self, step: Step) {
        match step {
            Step::Write(object, kilobytes) => {
                self.written += 1;
                let text = format!("{}{}", self.written, " ".repeat(kilobytes * 1_024));
                write(&mut self.world, self.objects[object], &text);
                self.values[object][DIARY].push(text.into_bytes());
            }
            Step::Pack(object) => {
                self.written += 1;
                pack(&mut self.world, self.objects[object], &[self.written]);
                let content = self.world.object(self.objects[object]).unwrap().content(BAG).to_vec();
                self.values[object][BAG].push(content);
            }
            Step::Enter(object, fields) => self.enter(object, fields),
            Step::Leave(object) => {
                self.seen[object] = None;
                self.peer.leave(self.objects[object].slot());
            }
            Step::Respawn(object) => {
                self.play(Step::Leave(object));
                self.world.despawn(self.objects[object]).unwrap();
                self.ticks += 1;
                self.world.commit(Tick(self.ticks)).unwrap();
                let id = ObjectId(1_000 + u64::from(self.ticks));
                self.objects[object] = self.world.spawn(Spawn::new(id, ClassId(0))).unwrap();
                self.values[object] = fresh_values();
            }
            Step::Take(count) => {
                for _ in 0..count {
                    self.take();
                }
            }
        }
    }

    fn enter(&mut self, object: usize, fields: u64) {
        let newest = [DIARY, BAG].map(|field| self.values[object][field].len() - 1);
        let held = |field: usize, is_fresh| Held {
            base: newest[field],
            number: newest[field],
            is_told: false,
            is_fresh,
        };
        match &mut self.seen[object] {
            Some(seen) => {
                let added = fields & !seen.fields;
                for field in [DIARY, BAG] {
                    if added >> field & 1 != 0 {
                        seen.held[field] = held(field, false);
                    } else if added != 0 && !seen.held[field].is_told {
                        seen.held[field].base = newest[field];
                    }
                }
                seen.fields = fields;
            }
            seen => {
                self.generation = self.generation.wrapping_add(1);
                let alias = Alias { slot: object as u16, generation: self.generation };
                *seen = Some(Seen {
                    alias,
                    fields,
                    held: [held(DIARY, true), held(BAG, fields & 1 << BAG != 0)],
                });
            }
        }
        let alias = self.seen[object].as_ref().unwrap().alias;
        self.peer.enter(self.world.property_log(), alias, self.objects[object], fields);
    }

    /// Takes a message and checks that the peer may have it and that it follows on what the peer holds.
    fn take(&mut self) -> bool {
        let mut out = vec![0; PROPERTY_MESSAGE_BYTES_MAX];
        let resyncs = self.peer.counters().resyncs;
        let polled = self.peer.poll_property(&self.world, &mut out);
        if self.peer.counters().resyncs > resyncs {
            self.begin_anew();
        }
        let Some(length) = polled else { return false };
        let message = PropertyMessage::read(&out[..length]).unwrap();
        let (object, field) = (usize::from(message.alias.slot), usize::from(message.field));
        let seen = self.seen[object].as_mut().expect("an object that the peer has");
        assert_eq!(seen.alias, message.alias);
        assert!(seen.fields >> field & 1 != 0, "a field that the peer may see");
        let values = &self.values[object][field];
        let number = values.iter().rposition(|value| value == message.content).expect("a value that it had");
        let held = &mut seen.held[field];
        let follows = number == held.number + 1;
        let begins = !held.is_told && (number == held.base || number == held.base + 1);
        assert!(follows || begins, "{number} after {held:?} of {}", values.len());
        held.is_told = true;
        held.number = number;
        true
    }

    /// The peer fell behind: for all fields that it sees, what it gets begins with the value that they have.
    fn begin_anew(&mut self) {
        for (values, seen) in self.values.iter().zip(&mut self.seen) {
            for (values, held) in values.iter().zip(seen.iter_mut().flat_map(|seen| &mut seen.held)) {
                let newest = values.len() - 1;
                let is_fresh = held.is_fresh && !held.is_told;
                *held = Held { base: newest, number: newest, is_told: false, is_fresh };
            }
        }
    }

    /// The peer takes everything and then holds the newest of all that it may see.
    fn finish(&mut self) {
        let most = self.world.property_log().end() as usize + 2 * OBJECTS;
        let taken = (0..=most).take_while(|_| self.take()).count();
        assert!(taken <= most, "it comes to an end");
        for (object, seen) in self.seen.iter().enumerate() {
            let Some(seen) = seen else { continue };
            for field in [DIARY, BAG].into_iter().filter(|field| seen.fields >> field & 1 != 0) {
                let Held { number, is_told, is_fresh, .. } = seen.held[field];
                assert_eq!(number + 1, self.values[object][field].len());
                assert!(is_told || is_fresh && number == 0, "what is not told is what is assumed");
            }
        }
    }
}

proptest! {
    #[test]
    fn a_peer_sees_every_value_in_order_and_ends_with_the_newest(steps in proptest::collection::vec(step(), 1..120)) {
        let mut game = Game::new();
        steps.into_iter().for_each(|step| game.play(step));
        game.finish();
        game.play(Step::Write(0, 0));
        game.play(Step::Pack(1));
        game.finish();
    }
}
