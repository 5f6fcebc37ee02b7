//! Why a command was refused, and the message that says so.
//!
//! ```text
//!   0      4      5
//!   ├ step ┼ code ┼ text ┤
//!     u32    u8     length as a varint, at most 120, then UTF-8; empty unless the code is the game's own
//! ```

use netloom_wire::{ByteReader, ByteSink, ReadError, Tick};

/// Bytes of text that a game may say about a reason of its own.
pub const REASON_TEXT_BYTES_MAX: usize = 120;

/// Bytes of the message at most.
pub const REJECTED_BYTES_MAX: usize = 4 + 1 + 1 + REASON_TEXT_BYTES_MAX;

/// Codes from here on are the game's.
const GAME_CODES: u8 = 128;

/// Why a command was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Reason {
    /// Its commands claim more time than has passed.
    #[error("commands for more time than has passed")]
    TimeBudget,
    /// Faster than anybody can move.
    #[error("moved too fast")]
    TooFast,
    /// Somewhere else, with nothing between.
    #[error("moved to where no way leads so soon")]
    Teleport,
    /// A number that is none.
    #[error("a number is infinite or not a number")]
    NotFinite,
    /// More often than allowed.
    #[error("too many actions")]
    TooOften,
    /// The action is not yet possible again.
    #[error("the action is still cooling down")]
    Cooldown,
    /// There is no such action.
    #[error("there is no such action")]
    UnknownAction,
    /// Bits that no button has.
    #[error("an input with bits that no button has")]
    Mask,
    /// A reason of the game's own, 0 to 127.
    #[error("refused by the game (reason {0})")]
    Game(u8),
}

impl Reason {
    /// Every reason but those of the game, in the order of their codes.
    pub const ALL: [Reason; 8] = [
        Reason::TimeBudget,
        Reason::TooFast,
        Reason::Teleport,
        Reason::NotFinite,
        Reason::TooOften,
        Reason::Cooldown,
        Reason::UnknownAction,
        Reason::Mask,
    ];

    /// The code on the wire, which never changes its meaning.
    pub const fn code(self) -> u8 {
        match self {
            Reason::TimeBudget => 0,
            Reason::TooFast => 1,
            Reason::Teleport => 2,
            Reason::NotFinite => 3,
            Reason::TooOften => 4,
            Reason::Cooldown => 5,
            Reason::UnknownAction => 6,
            Reason::Mask => 7,
            Reason::Game(own) => GAME_CODES | own,
        }
    }

    /// Its place in [`Reason::ALL`]; those of the game all come behind them.
    pub(crate) const fn place(self) -> usize {
        match self {
            Reason::Game(_) => Reason::ALL.len(),
            known => known.code() as usize,
        }
    }

    /// The reason behind a code; `None` for codes that this version does not know.
    pub fn from_code(code: u8) -> Option<Reason> {
        match code.checked_sub(GAME_CODES) {
            Some(own) => Some(Reason::Game(own)),
            None => Reason::ALL.get(usize::from(code)).copied(),
        }
    }
}

/// A command that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {}: {reason}", step.0)]
pub struct Rejected {
    /// The step that the command was for.
    pub step: Tick,
    /// Why.
    pub reason: Reason,
}

/// The answer as a client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedMessage<'a> {
    /// What was refused.
    pub rejected: Rejected,
    /// What the game says about a reason of its own; empty for the others.
    pub text: &'a str,
}

impl<'a> RejectedMessage<'a> {
    /// The answer to a command; `text` goes along with a reason of the game's own, the others have theirs.
    pub fn new(rejected: Rejected, text: &'a str) -> RejectedMessage<'a> {
        let is_own = matches!(rejected.reason, Reason::Game(_));
        RejectedMessage { rejected, text: if is_own { text } else { "" } }
    }

    /// Writes the answer.
    pub fn write(&self, out: &mut impl ByteSink) {
        out.write_u32(self.rejected.step.0);
        out.write_u8(self.rejected.reason.code());
        out.write_str(self.text, REASON_TEXT_BYTES_MAX);
    }

    /// Reads the answer.
    pub fn read(bytes: &'a [u8]) -> Result<RejectedMessage<'a>, ReadError> {
        let mut reader = ByteReader::new(bytes);
        let step = Tick(reader.read_u32()?);
        let reason = Reason::from_code(reader.read_u8()?).ok_or(ReadError::OutOfRange)?;
        let text = reader.read_str(REASON_TEXT_BYTES_MAX)?;
        if !text.is_empty() && !matches!(reason, Reason::Game(_)) {
            return Err(ReadError::OutOfRange);
        }
        reader.finish()?;
        Ok(RejectedMessage { rejected: Rejected { step, reason }, text })
    }
}

#[cfg(test)]
mod tests {
    use netloom_wire::{MessageBuffer, WriteError};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_return_and_unknown_ones_are_none() {
        for (code, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!((usize::from(reason.code()), Reason::from_code(reason.code())), (code, Some(reason)));
        }
        assert_eq!(Reason::from_code(8), None);
        assert_eq!(Reason::from_code(127), None);
        assert_eq!(Reason::from_code(255), Some(Reason::Game(127)));
    }

    fn written(rejected: Rejected, text: &str) -> Result<Vec<u8>, WriteError> {
        let mut out = MessageBuffer::new(256);
        RejectedMessage::new(rejected, text).write(&mut out);
        out.finish().map(<[u8]>::to_vec)
    }

    #[test]
    fn an_answer_names_the_step_and_the_reason_in_words() {
        let rejected = Rejected { step: Tick(7), reason: Reason::Game(3) };
        let bytes = written(rejected, "no ammunition").unwrap();
        assert_eq!(RejectedMessage::read(&bytes), Ok(RejectedMessage { rejected, text: "no ammunition" }));

        let rejected = Rejected { step: Tick(8), reason: Reason::Cooldown };
        let bytes = written(rejected, "not needed").unwrap();
        assert_eq!(bytes, [8, 0, 0, 0, 5, 0]);
        let message = RejectedMessage::read(&bytes).unwrap();
        assert_eq!(message.rejected.to_string(), "step 8: the action is still cooling down");
        assert_eq!(RejectedMessage::read(&[8, 0, 0, 0, 5, 1, b'x']), Err(ReadError::OutOfRange));
        assert_eq!(RejectedMessage::read(&[8, 0, 0, 0, 99, 0]), Err(ReadError::OutOfRange));
    }

    #[test]
    fn a_text_that_is_too_long_is_not_written() {
        let rejected = Rejected { step: Tick(7), reason: Reason::Game(0) };
        let long = "x".repeat(REASON_TEXT_BYTES_MAX + 1);
        assert_eq!(written(rejected, &long), Err(WriteError::TooLong));
        assert_eq!(written(rejected, &long[1..]).map(|bytes| bytes.len()), Ok(REJECTED_BYTES_MAX));
    }

    proptest! {
        #[test]
        fn what_reads_writes_back_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..140)) {
            if let Ok(message) = RejectedMessage::read(&bytes) {
                prop_assert_eq!(written(message.rejected, message.text), Ok(bytes));
            }
        }
    }
}
