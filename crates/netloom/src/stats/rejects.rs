//! What a server refused, and why.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use netloom_proto::{RejectReason, Rejection};
use netloom_session::message::{CallRefusal, Refusal};
use netloom_session::validate::Reason;

/// What can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RejectKind {
    /// A datagram: damaged, forged, repeated, of another game.
    Datagram,
    /// A connection: another version, another schema, no room for it.
    Connection,
    /// A seat in a room, asked for over a connection.
    Seat,
    /// A message that made no sense.
    Message,
    /// An input of a player.
    Input,
    /// A call of a player.
    Call,
}

impl RejectKind {
    /// All of them.
    pub const ALL: [RejectKind; 6] = [
        RejectKind::Datagram,
        RejectKind::Connection,
        RejectKind::Seat,
        RejectKind::Message,
        RejectKind::Input,
        RejectKind::Call,
    ];

    /// What it is called in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            RejectKind::Datagram => "datagram",
            RejectKind::Connection => "connection",
            RejectKind::Seat => "seat",
            RejectKind::Message => "message",
            RejectKind::Input => "input",
            RejectKind::Call => "call",
        }
    }

    /// Why one can be refused, each with what it is called in metrics, in the order in which they are counted.
    fn reasons(self) -> Vec<String> {
        fn names<T: fmt::Debug>(reasons: &[T]) -> Vec<String> {
            reasons.iter().map(|reason| snake_case(&format!("{reason:?}"))).collect()
        }
        match self {
            RejectKind::Datagram => Rejection::ALL.iter().map(|reason| reason.name().to_owned()).collect(),
            RejectKind::Connection => names(RejectReason::ALL),
            RejectKind::Seat => names(Refusal::ALL),
            RejectKind::Message => vec![String::from("nonsense")],
            RejectKind::Input => [names(&Reason::ALL), vec![String::from("by_game")]].concat(),
            RejectKind::Call => names(CallRefusal::ALL),
        }
    }
}

/// How often something was refused for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectStats {
    /// What.
    pub kind: RejectKind,
    /// Why, as it is called in metrics: `too_often`.
    pub reason: String,
    /// How often since the server began.
    pub count: u64,
}

/// Counts of every reason, written by one thread and read by any.
#[derive(Debug)]
pub(super) struct Rejects(Box<[(RejectKind, String, AtomicU64)]>);

impl Rejects {
    pub fn new() -> Rejects {
        let reasons = |kind: RejectKind| kind.reasons().into_iter().map(move |reason| (kind, reason));
        let all = RejectKind::ALL.into_iter().flat_map(reasons);
        Rejects(all.map(|(kind, reason)| (kind, reason, AtomicU64::new(0))).collect())
    }

    /// Sets the counts of one kind, in the order of its reasons.
    pub fn write(&self, kind: RejectKind, counts: impl IntoIterator<Item = u64>) {
        let places = self.0.iter().filter(|(of, ..)| *of == kind);
        for ((_, _, place), count) in places.zip(counts) {
            place.store(count, Ordering::Relaxed);
        }
    }

    pub fn read(&self) -> Vec<RejectStats> {
        let rows = self.0.iter().map(|(kind, reason, count)| RejectStats {
            kind: *kind,
            reason: reason.clone(),
            count: count.load(Ordering::Relaxed),
        });
        rows.collect()
    }
}

/// `TooOften` as `too_often`.
fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_there_once_under_a_name_for_metrics() {
        let rejects = Rejects::new().read();
        let mut names: Vec<_> = rejects.iter().map(|row| (row.kind, &row.reason)).collect();
        assert!(names.contains(&(RejectKind::Seat, &String::from("room_full"))));
        assert!(names.contains(&(RejectKind::Input, &String::from("by_game"))));
        assert!(names.iter().all(|(_, reason)| {
            !reason.is_empty() && reason.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        }));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rejects.len());
        let of = |kind| rejects.iter().filter(|row| row.kind == kind).count();
        assert_eq!(RejectKind::ALL.map(of), [21, 7, 8, 1, 9, 10]);
    }

    #[test]
    fn counts_go_to_the_reasons_of_their_kind_in_order() {
        let rejects = Rejects::new();
        rejects.write(RejectKind::Call, [5, 6]);
        rejects.write(RejectKind::Message, [7]);
        let counted: Vec<_> = rejects.read().into_iter().filter(|row| row.count > 0).collect();
        let row = |kind, reason: &str, count| RejectStats { kind, reason: reason.to_owned(), count };
        assert_eq!(
            counted,
            [
                row(RejectKind::Message, "nonsense", 7),
                row(RejectKind::Call, "unknown", 5),
                row(RejectKind::Call, "not_allowed", 6)
            ]
        );
    }
}
