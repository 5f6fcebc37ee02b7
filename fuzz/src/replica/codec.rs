//! Updates of one object as they come, against any baselines that a client could hold.

use netloom_replica::codec::{
    self as many, Baseline, Blobs, Carrier, Pair, SmallCode, States, decode, encode, encode_small,
};
use netloom_replica::entry::{rotation_words, value_of};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{Audience, FieldKind};
use netloom_wire::{BitReader, BitWriter, Profile, QuantizeCounters};

use super::entry::Contents;
use super::witness::check_values;
use super::{CLASSES, codes, table};
use crate::input::Input;
use crate::wire::same_bits;

/// More than any update takes.
const UPDATE_BYTES_MAX: usize = 2_048;

/// What both sides know before an update is read.
struct Known<'a> {
    class: &'a Class,
    profile: Profile,
    visible: u64,
    newer: Baseline<'a>,
    older: Option<Baseline<'a>>,
}

/// An update that was read.
#[derive(Debug, PartialEq)]
struct Update {
    words: Vec<i32>,
    contents: Contents,
    jump_age: Option<u32>,
}

/// Reads one update. Within the ranges of the class what is read is a state of it, and written again it is the same.
pub fn replica_codec(data: &[u8]) {
    let mut input = Input::new(data);
    let setup = input.u8();
    let (class, profile) = (ClassId(setup % CLASSES as u8), input.pick(Profile::ALL));
    let class = table().class(class, profile).expect("one of the classes");
    let visible = class.visible(input.pick([Audience::Public, Audience::Team, Audience::Owner]));
    // A client only holds what it has checked, but the decoder does not depend on that.
    let is_wild = setup & 0x80 != 0;
    let mut baseline = || {
        let age = u32::from(input.u8());
        (age, if is_wild { wild_words(class, &mut input) } else { valid_words(class, profile, &mut input) })
    };
    let (newer, older) = (baseline(), baseline());
    let older = Baseline { words: &older.1, age: newer.0 + older.0 };
    let known = Known {
        class,
        profile,
        visible,
        newer: Baseline { words: &newer.1, age: newer.0 },
        older: (setup & 0x40 == 0).then_some(older),
    };
    let oldest = (setup & 0x20 != 0).then(baseline);
    let bits = input.rest();
    if let Some((behind, words)) = oldest {
        return known.read_from_three(behind, &words, setup & 0x10 != 0, BitReader::new(bits));
    }
    let Some((update, _)) = known.read(BitReader::new(bits)) else { return };
    if !is_wild {
        known.check(&update);
    }
}

impl Known<'_> {
    fn read(&self, mut reader: BitReader<'_>) -> Option<(Update, usize)> {
        let mut words = vec![0; self.class.word_count()];
        let mut contents = Contents::default();
        let mut keep = |field: usize, content: &[u8]| contents.push(field, content);
        let Known { class, visible, newer, older, .. } = *self;
        let decoded =
            decode(class, visible, newer, older, codes(), &mut reader, &mut words, &mut keep).ok()?;
        Some((Update { words, contents, jump_age: decoded.jump_age }, reader.bit_position()))
    }

    /// The same with a third baseline, or of something that is carried.
    fn read_from_three(&self, behind: u32, oldest: &[i32], is_carried: bool, mut reader: BitReader<'_>) {
        let Known { class, visible, newer, older, .. } = *self;
        let older_age = older.map_or(0, |older| older.age);
        let pair = Pair::of_three(newer.age, older_age, older_age + behind);
        let older = older.map(|older| older.words);
        let states = States { newer: newer.words, older, oldest: Some(oldest), is_carried };
        let mut words = vec![0; class.word_count()];
        let _ = pair.decode_from(class, visible, &states, codes(), &mut reader, &mut words, &mut |_, _| {});
        if let Some(carrier) = Carrier::new(class, oldest, newer.words) {
            carrier.explains(oldest, newer.words, &mut words);
        }
    }

    /// Whether the words are a state of the class, and survive a round trip.
    fn check(&self, update: &Update) {
        let Known { class, visible, newer, older, .. } = *self;
        let hidden = !visible;
        let value = |index: usize| Some(value_of(&class.fields()[index], &update.words, self.profile, &[]));
        check_values(class, visible, value);
        for (_, field) in class.fields().iter().enumerate().filter(|(index, _)| hidden >> index & 1 != 0) {
            let own = field.first..field.first + field.count;
            assert_eq!(update.words[own.clone()], newer.words[own], "what is not seen does not change");
        }
        let mut out = [0; UPDATE_BYTES_MAX];
        let mut writer = BitWriter::new(&mut out);
        let Update { words, contents, jump_age } = update;
        encode(class, visible, words, newer, older, *jump_age, contents, codes(), &mut writer);
        let length = writer.bit_len();
        writer.finish().expect("a state of the class can be written");
        let reader = BitReader::with_bit_len(&out, length).expect("what was written");
        let (again, taken) = self.read(reader).expect("what was written can be read");
        assert_eq!((taken, &again.words, again.jump_age), (length, words, *jump_age));
        for (index, field) in class.fields().iter().enumerate() {
            // A content whose number stays has not changed, whatever the sender said.
            if field.kind.content_bytes_max().is_some()
                && field.count > 0
                && words[field.first] != newer.words[field.first]
            {
                assert_eq!(again.contents.blob(index), contents.blob(index));
            }
        }
        let small = encode_small(class, visible, words, newer, older, *jump_age, codes());
        if let Some(small) = small {
            assert_eq!(small.length() as usize, length);
            assert!(same_bits(&small.bits().to_le_bytes(), &out, length));
        }
        let Some(older) = older else { return };
        let pair = Pair::new(newer.age, Some(older.age));
        let many = many::Update {
            current: words,
            newer: newer.words,
            older: older.words,
            jumped: jump_age.is_some(),
        };
        let (mut batch, mut one_of_many) = (many::Batch::default(), [0]);
        if let Some(beside) = pair.beside(class, visible) {
            beside.load(&mut batch, 0, &many);
            beside.encode(&mut batch, codes(), &mut one_of_many);
        }
        assert!(one_of_many == [0] || small == Some(SmallCode(one_of_many[0])), "as it is encoded alone");
    }
}

/// Words that stand for something: a byte says what they are, where that is not clear.
fn valid_words(class: &Class, profile: Profile, input: &mut Input<'_>) -> Vec<i32> {
    let mut words = vec![0; class.word_count()];
    let counters = &mut QuantizeCounters::default();
    for field in class.fields().iter().filter(|field| field.count > 0) {
        let own = &mut words[field.first..field.first + field.count];
        match field.kind {
            FieldKind::Bool => own[0] = i32::from(input.u8() & 1),
            FieldKind::Int(_) | FieldKind::Quantized(_) => own[0] = field.range.clamp(input.i32().into()),
            FieldKind::F32 => own[0] = f32::from(input.u16()).to_bits() as i32,
            FieldKind::Position(own_profile) => {
                let place = position(input);
                let words = own_profile.quantize_position(place, &Default::default(), counters);
                own.copy_from_slice(&[words.words[0], words.words[1], words.words[2], words.raw.into()]);
            }
            FieldKind::Rotation(_) => {
                let quaternion = [0; 4].map(|_: i32| f32::from(input.u16() as i16));
                let rotation = profile.quantize_rotation(quaternion, counters);
                own.copy_from_slice(&rotation_words(rotation));
            }
            FieldKind::Scale(own_profile) => {
                let scale = [0; 3].map(|_: i32| f32::from(input.u8()) / 16.0);
                let words = own_profile.quantize_scale(scale, counters);
                own.copy_from_slice(&[words.words[0], words.words[1], words.words[2], words.raw.into()]);
            }
            FieldKind::Velocity(own_profile) => {
                let velocity = [0; 3].map(|_: i32| f32::from(input.u16() as i16));
                let words = own_profile.quantize_velocity(velocity, counters);
                own.copy_from_slice(&[words.words[0], words.words[1], words.words[2], words.raw.into()]);
            }
            _ => own.iter_mut().for_each(|word| *word = i32::from(input.u8())),
        }
    }
    words
}

/// A place near, far, or beyond the reach of words.
fn position(input: &mut Input<'_>) -> [f64; 3] {
    let unit = input.pick([0.01, 0.000_1, 1.0, 100.0]);
    [0; 3].map(|_: i32| f64::from(input.u16() as i16) * unit)
}

fn wild_words(class: &Class, input: &mut Input<'_>) -> Vec<i32> {
    (0..class.word_count()).map(|_| input.i32()).collect()
}
