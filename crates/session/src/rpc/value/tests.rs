use super::*;
use crate::rpc::ARGS_BYTES_MAX;
use proptest::prelude::*;

/// A value that owns what is inside it, to compare with.
#[derive(Clone, Debug)]
enum Tree {
    Nil,
    Bool(bool),
    Int(i64),
    UInt(u64),
    F32(f32),
    F64(f64),
    Text(String),
    Bytes(Vec<u8>),
    Object(Option<Alias>),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    fn write(&self, writer: &mut ValueWriter<'_>) {
        match self {
            Tree::Nil => writer.nil(),
            Tree::Bool(value) => writer.bool(*value),
            Tree::Int(value) => writer.int(*value),
            Tree::UInt(value) => writer.uint(*value),
            Tree::F32(value) => writer.f32(*value),
            Tree::F64(value) => writer.f64(*value),
            Tree::Text(text) => writer.text(text),
            Tree::Bytes(bytes) => writer.bytes(bytes),
            Tree::Object(object) => writer.object(*object),
            Tree::List(items) => {
                writer.list(items.len());
                items.iter().for_each(|item| item.write(writer));
            }
            Tree::Map(entries) => {
                writer.map(entries.len());
                for (key, value) in entries {
                    writer.text(key);
                    value.write(writer);
                }
            }
        }
    }

    fn is(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Tree::Nil, Value::Nil) => true,
            (Tree::Bool(a), Value::Bool(b)) => a == b,
            (Tree::Int(a), Value::Int(b)) => a == b,
            (Tree::UInt(a), Value::UInt(b)) => a == b,
            (Tree::UInt(a), Value::Int(b)) => i64::try_from(*a) == Ok(*b),
            (Tree::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
            (Tree::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
            (Tree::Text(a), Value::Text(b)) => a == b,
            (Tree::Bytes(a), Value::Bytes(b)) => a == b,
            (Tree::Object(a), Value::Object(b)) => a == b,
            (Tree::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.clone()).all(|(a, b)| a.is(&b))
            }
            (Tree::Map(a), Value::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b.clone()).all(|(a, b)| a.0 == b.0 && a.1.is(&b.1))
            }
            _ => false,
        }
    }
}

fn alias() -> impl Strategy<Value = Option<Alias>> {
    proptest::option::of(
        (any::<u16>(), any::<u8>()).prop_map(|(slot, generation)| Alias { slot, generation }),
    )
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Nil),
        any::<bool>().prop_map(Tree::Bool),
        any::<i64>().prop_map(Tree::Int),
        (-40_000i64..70_000).prop_map(Tree::Int),
        any::<u64>().prop_map(Tree::UInt),
        any::<f32>().prop_map(Tree::F32),
        any::<f64>().prop_map(Tree::F64),
        ".{0,40}".prop_map(Tree::Text),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Tree::Bytes),
        alias().prop_map(Tree::Object),
    ];
    leaf.prop_recursive(6, 60, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Tree::List),
            proptest::collection::vec((".{0,8}", inner), 0..20).prop_map(Tree::Map),
        ]
    })
}

fn walk(value: Value<'_>) -> usize {
    1 + match value {
        Value::List(items) => items.map(walk).sum(),
        Value::Map(entries) => entries.map(|(_, value)| 1 + walk(value)).sum(),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(tree in tree()) {
        let mut bytes = vec![1, 2, 3];
        let mut writer = ValueWriter::new(&mut bytes);
        tree.write(&mut writer);
        let length = writer.finish().unwrap();
        prop_assert_eq!(bytes.len(), 3 + length);
        let value = Value::read(&bytes[3..]).unwrap();
        prop_assert!(tree.is(&value), "{:?} became {:?}", tree, value);
        let mut again = Vec::new();
        let mut writer = ValueWriter::new(&mut again);
        writer.value(&value);
        prop_assert_eq!(writer.finish(), Ok(length));
        prop_assert_eq!(&again, &bytes[3..]);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic_or_an_allocation(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let before = netloom_count::allocations();
        let checked = check(&bytes);
        let walked = Value::read(&bytes).map(walk);
        prop_assert_eq!(netloom_count::allocations(), before);
        prop_assert_eq!(checked.is_ok(), walked.is_ok());
        if let Ok(elements) = walked {
            prop_assert!(elements <= bytes.len());
        }
    }

    #[test]
    fn a_value_cut_short_or_extended_is_refused(tree in tree(), cut in any::<proptest::sample::Index>()) {
        let mut bytes = Vec::new();
        let mut writer = ValueWriter::new(&mut bytes);
        tree.write(&mut writer);
        let length = writer.finish().unwrap();
        prop_assert_eq!(check(&bytes[..cut.index(length)]), Err(ValueError::UnexpectedEnd));
        bytes.push(0xc0);
        prop_assert_eq!(check(&bytes), Err(ValueError::TrailingData));
    }

    #[test]
    fn objects_are_translated_in_place_and_nothing_else_changes(tree in tree()) {
        let mut bytes = Vec::new();
        let mut writer = ValueWriter::new(&mut bytes);
        tree.write(&mut writer);
        writer.finish().unwrap();
        let original = bytes.clone();
        let swap = |alias: Alias| Some(Alias { slot: !alias.slot, ..alias });
        let count = translate_objects(&mut bytes, swap).unwrap();
        prop_assert_eq!(check(&bytes), Ok(()));
        prop_assert!(count > 0 || bytes == original);
        prop_assert_eq!(translate_objects(&mut bytes, swap), Ok(count));
        prop_assert_eq!(bytes, original);
    }
}

#[test]
fn every_form_of_an_integer_is_the_same_integer() {
    for bytes in [
        &[5][..],
        &[0xcc, 5],
        &[0xcd, 0, 5],
        &[0xce, 0, 0, 0, 5],
        &[0xcf, 0, 0, 0, 0, 0, 0, 0, 5],
        &[0xd0, 5],
        &[0xd1, 0, 5],
        &[0xd2, 0, 0, 0, 5],
        &[0xd3, 0, 0, 0, 0, 0, 0, 0, 5],
    ] {
        assert_eq!(Value::read(bytes), Ok(Value::Int(5)));
    }
    assert_eq!(Value::read(&[0xff]), Ok(Value::Int(-1)));
    assert_eq!(Value::read(&[0xcf, 255, 255, 255, 255, 255, 255, 255, 255]), Ok(Value::UInt(u64::MAX)));
}

#[test]
fn nesting_is_allowed_to_the_limit_and_not_beyond() {
    let nested = |depth: usize| [vec![0x91; depth], vec![0xc0]].concat();
    assert_eq!(check(&nested(DEPTH_MAX)), Ok(()));
    assert_eq!(check(&nested(DEPTH_MAX + 1)), Err(ValueError::TooDeep));
    assert_eq!(check(&nested(ARGS_BYTES_MAX - 1)), Err(ValueError::TooDeep));
    let nested_maps = |depth: usize| [[0x81, 0xa1, b'k'].repeat(depth), vec![0x80]].concat();
    assert_eq!(check(&nested_maps(DEPTH_MAX - 1)), Ok(()));
    assert_eq!(check(&nested_maps(DEPTH_MAX)), Err(ValueError::TooDeep));
}

#[test]
fn huge_lengths_are_refused_at_once() {
    for marker in [0xc6, 0xdb, 0xdd, 0xdf] {
        assert_eq!(check(&[0x91, marker, 0xff, 0xff, 0xff, 0xff, 0x01]), Err(ValueError::UnexpectedEnd));
    }
    for marker in [0xc5, 0xda, 0xdc, 0xde] {
        assert_eq!(check(&[0x91, marker, 0xff, 0xff, 0x01]), Err(ValueError::UnexpectedEnd));
    }
    assert_eq!(
        check(&[0xde, 0, 2, 0xa1, b'k', 1]),
        Err(ValueError::UnexpectedEnd),
        "a key without its value"
    );
}

#[test]
fn too_many_values_and_too_many_bytes_are_refused() {
    let list = |count: usize| [&[0xdc][..], &(count as u16).to_be_bytes(), &vec![0xc0; count]].concat();
    assert_eq!(check(&list(ELEMENTS_MAX - 1)), Ok(()));
    assert_eq!(check(&list(ELEMENTS_MAX)), Err(ValueError::TooManyElements));
    let blob = |count: usize| [&[0xc5][..], &(count as u16).to_be_bytes(), &vec![0; count]].concat();
    assert_eq!(check(&blob(ARGS_BYTES_MAX - 3)), Ok(()));
    assert_eq!(check(&blob(ARGS_BYTES_MAX - 2)), Err(ValueError::TooLong));
}

#[test]
fn what_has_no_meaning_here_is_refused() {
    for (bytes, error) in [
        (&[][..], ValueError::UnexpectedEnd),
        (&[0xc1], ValueError::UnknownType),
        (&[0xd4, 1, 0], ValueError::UnknownType),
        (&[0xc7, 0, 1], ValueError::UnknownType),
        (&[0xd6, 2, 0, 0, 0, 0], ValueError::UnknownType),
        (&[0xd6, 1, 0, 0, 0, 1], ValueError::InvalidObject),
        (&[0xa1, 0xff], ValueError::InvalidUtf8),
        (&[0x81, 0x01, 0x01], ValueError::KeyIsNoText),
        (&[0x81, 0x91, 0xa0, 0x01], ValueError::KeyIsNoText),
        (&[0x01, 0x01], ValueError::TrailingData),
    ] {
        assert_eq!(check(bytes), Err(error), "{bytes:02x?}");
    }
}

#[test]
fn an_object_that_nobody_sees_stays_unseen() {
    let (mut bytes, seen) = (Vec::new(), Alias { slot: 7, generation: 1 });
    let mut writer = ValueWriter::new(&mut bytes);
    writer.list(3);
    writer.object(Some(seen));
    writer.object(None);
    writer.object(Some(Alias { slot: 8, generation: 0 }));
    assert_eq!(writer.finish(), Ok(19));
    let to_other = |alias| (alias == seen).then_some(Alias { slot: 900, generation: 3 });
    assert_eq!(translate_objects(&mut bytes, to_other), Ok(3));
    let objects: Vec<Value> = Items::of_list(&bytes).collect();
    let other = Alias { slot: 900, generation: 3 };
    assert_eq!(objects, [Value::Object(Some(other)), Value::Object(None), Value::Object(None)]);
}

#[test]
fn a_map_gives_the_first_value_of_a_key() {
    let bytes = [0x83, 0xa1, b'a', 1, 0xa1, b'b', 2, 0xa1, b'a', 3];
    let Ok(Value::Map(entries)) = Value::read(&bytes) else { panic!("no map") };
    assert_eq!(entries.get("a"), Some(Value::Int(1)));
    assert_eq!(entries.get("b"), Some(Value::Int(2)));
    assert_eq!(entries.get("c"), None);
    assert_eq!(entries.len(), 3);
}

#[test]
fn a_writer_that_does_not_write_one_whole_value_leaves_the_buffer_alone() {
    let fails = |write: &dyn Fn(&mut ValueWriter<'_>)| {
        let mut bytes = vec![9];
        let mut writer = ValueWriter::new(&mut bytes);
        write(&mut writer);
        let error = writer.finish().unwrap_err();
        assert_eq!(bytes, [9]);
        error
    };
    assert_eq!(fails(&|_| {}), ValueError::UnexpectedEnd);
    assert_eq!(fails(&|writer| writer.list(1)), ValueError::UnexpectedEnd);
    assert_eq!(fails(&|writer| (0..2).for_each(|_| writer.nil())), ValueError::TrailingData);
    assert_eq!(fails(&|writer| writer.list(usize::MAX)), ValueError::TooLong);
    assert_eq!(fails(&|writer| writer.bytes(&[0; ARGS_BYTES_MAX + 1])), ValueError::TooLong);
    assert_eq!(fails(&|writer| (0..20_000).for_each(|_| writer.f64(0.0))), ValueError::TooLong);
    let too_deep = |writer: &mut ValueWriter<'_>| {
        (0..=DEPTH_MAX).for_each(|_| writer.list(1));
        writer.nil();
    };
    assert_eq!(fails(&too_deep), ValueError::TooDeep);
}
