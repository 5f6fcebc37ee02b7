//! When a message is applied, held or dropped.

use super::*;

/// A client with one slot of interest.
struct Client {
    class: Class,
    /// The generation in the slot, and what the client is to the object; `None` if it left.
    slot: Option<(u8, Option<Audience>)>,
    contents: Vec<(usize, Vec<u8>)>,
}

impl PropertyTarget for Client {
    fn place(&self, slot: u16) -> Place<'_> {
        match self.slot {
            Some((generation, Some(audience))) if slot == ALIAS.slot => {
                Place::Here { generation, class: &self.class, audience }
            }
            Some((generation, None)) if slot == ALIAS.slot => Place::Left { generation },
            _ => Place::Empty,
        }
    }

    fn set_property(&mut self, slot: u16, field: usize, content: &[u8]) {
        assert_eq!(slot, ALIAS.slot);
        self.contents.push((field, content.to_vec()));
    }
}

fn client(slot: Option<(u8, Option<Audience>)>) -> Client {
    Client { class: class(), slot, contents: Vec::new() }
}

fn message(alias: Alias, field: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 4 + content.len()];
    assert_eq!(PropertyMessage { alias, field, content }.write(&mut out), Some(out.len()));
    out
}

fn inbox_with(messages: &[Vec<u8>]) -> PropertyInbox {
    let mut inbox = PropertyInbox::new(20);
    messages.iter().for_each(|message| inbox.handle_property(message, Tick(100)).unwrap());
    inbox
}

const HERE: Option<Audience> = Some(Audience::Owner);

#[test]
fn generations_decide_what_is_applied_held_or_stale() {
    let (applied, held, stale) = ((1, 0, 0), (0, 1, 0), (0, 0, 1));
    for (slot, expected) in [
        (None, held),
        (Some((ALIAS.generation, HERE)), applied),
        (Some((ALIAS.generation, None)), stale),
        (Some((ALIAS.generation - 1, HERE)), held),
        (Some((ALIAS.generation - 1, None)), held),
        (Some((ALIAS.generation.wrapping_sub(100), None)), held),
        (Some((ALIAS.generation + 1, HERE)), stale),
        (Some((ALIAS.generation + 100, None)), stale),
        (Some((ALIAS.generation, Some(Audience::Public))), stale),
    ] {
        let mut inbox = inbox_with(&[message(ALIAS, BAG as u8, &[0])]);
        let mut client = client(slot);
        let result = inbox.poll_property(Tick(101), &mut client);
        let is_applied = expected == applied;
        assert_eq!(
            result,
            Ok(is_applied.then_some(AppliedProperty { alias: ALIAS, field: BAG })),
            "{slot:?}"
        );
        let counters = inbox.counters();
        assert_eq!((counters.applied, inbox.len() as u64, counters.stale), expected, "{slot:?}");
        assert_eq!(client.contents.len(), usize::from(is_applied));
    }
}

#[test]
fn what_waits_is_applied_in_order_when_its_object_comes_and_dropped_after_a_second() {
    let other = Alias { slot: 9, generation: 0 };
    let diary = DIARY as u8;
    let mut inbox = inbox_with(&[
        message(ALIAS, diary, b"one"),
        message(other, diary, b"nobody's"),
        message(ALIAS, diary, b"two"),
        message(ALIAS, diary, b""),
    ]);
    let mut client = client(None);
    assert_eq!(inbox.poll_property(Tick(120), &mut client), Ok(None));
    assert_eq!(inbox.len(), 4);
    client.slot = Some((ALIAS.generation, HERE));
    for read in 1..=3 {
        let applied = inbox.poll_property(Tick(120), &mut client);
        assert_eq!(applied, Ok(Some(AppliedProperty { alias: ALIAS, field: DIARY })));
        assert_eq!(client.contents.len(), read, "one at a time");
    }
    let expected = [b"one".to_vec(), b"two".to_vec(), vec![]].map(|content| (DIARY, content));
    assert_eq!(client.contents, expected);
    assert_eq!((inbox.poll_property(Tick(120), &mut client), inbox.len()), (Ok(None), 1));
    assert_eq!((inbox.poll_property(Tick(121), &mut client), inbox.is_empty()), (Ok(None), true));
    assert_eq!(inbox.counters(), InboxCounters { applied: 3, expired: 1, ..InboxCounters::default() });
}

#[test]
fn a_message_that_the_class_does_not_allow_is_refused_with_its_reason_and_the_next_goes_on() {
    let mut client = client(Some((ALIAS.generation, HERE)));
    for (field, content, reason) in [
        (2, &b"a name rides in snapshots"[..], ReadError::InvalidField),
        (3, b"", ReadError::InvalidField),
        (64, b"", ReadError::InvalidField),
        (255, b"", ReadError::InvalidField),
        (DIARY as u8, &[0xff], ReadError::InvalidUtf8),
        (DIARY as u8, &[b'x'; 60_001], ReadError::TooLong),
        (BAG as u8, &[], ReadError::UnexpectedEnd),
        (BAG as u8, &[101], ReadError::TooLong),
        (BAG as u8, &[1, 0, 0, 0], ReadError::UnexpectedEnd),
        (BAG as u8, &[0, 0], ReadError::TrailingData),
    ] {
        let mut inbox = inbox_with(&[message(ALIAS, field, content), message(ALIAS, DIARY as u8, b"fine")]);
        assert_eq!(inbox.poll_property(Tick(100), &mut client), Err(reason), "{field}");
        assert!(matches!(inbox.poll_property(Tick(100), &mut client), Ok(Some(_))));
        assert_eq!(inbox.counters().refused, 1);
    }
    assert_eq!(inbox_with(&[]).handle_property(&[1, 0, 0], Tick(0)), Err(ReadError::UnexpectedEnd));
}

#[test]
fn messages_for_nobody_are_held_within_bounds_and_the_oldest_give_way() {
    let mut inbox = PropertyInbox::new(20);
    for number in 0..1_000u16 {
        let content = number.to_string();
        inbox.handle_property(&message(ALIAS, DIARY as u8, content.as_bytes()), Tick(0)).unwrap();
    }
    assert_eq!((inbox.len(), inbox.counters().overflowed), (256, 744));
    let mut client = client(Some((ALIAS.generation, HERE)));
    inbox.poll_property(Tick(0), &mut client).unwrap();
    assert_eq!(client.contents, [(DIARY, b"744".to_vec())]);

    let mut inbox = PropertyInbox::new(20);
    let long = message(ALIAS, DIARY as u8, &[b'x'; 60_000]);
    (0..100).for_each(|_| inbox.handle_property(&long, Tick(0)).unwrap());
    assert_eq!(inbox.len(), (1 << 20) / 60_000);
}

proptest! {
    #[test]
    fn any_messages_are_taken_or_refused_without_panic(messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..40)) {
        let mut inbox = PropertyInbox::new(2);
        let mut client = client(Some((0, HERE)));
        let mut taken = 0;
        for (tick, bytes) in messages.iter().enumerate() {
            // Half of them for the object that is there.
            let bytes = if tick % 2 == 0 { [&[7, 0, 0][..], bytes].concat() } else { bytes.clone() };
            taken += u64::from(inbox.handle_property(&bytes, Tick(tick as u32)).is_ok());
            while !matches!(inbox.poll_property(Tick(tick as u32), &mut client), Ok(None)) {}
        }
        let InboxCounters { applied, stale, expired, overflowed, refused } = inbox.counters();
        prop_assert_eq!(applied + stale + expired + overflowed + refused + inbox.len() as u64, taken);
        for (field, content) in client.contents {
            prop_assert!(class().fields()[field].kind.read_content(&content).is_ok());
        }
    }
}
