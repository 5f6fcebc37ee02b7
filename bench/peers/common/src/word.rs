//! What the server's process says to the clients'.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Everybody is there: from now on a bad network is bad.
    Connected,
    /// Measuring begins.
    Start,
    /// Measuring ends.
    Stop,
    /// All objects are where the walk was at this tick: tell how it went.
    Compare { tick: u64 },
}

impl Display for Word {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Word::Connected => formatter.write_str("connected"),
            Word::Start => formatter.write_str("start"),
            Word::Stop => formatter.write_str("stop"),
            Word::Compare { tick } => write!(formatter, "compare {tick}"),
        }
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(line: &str) -> Result<Word, String> {
        let compare = line.strip_prefix("compare ").and_then(|tick| tick.parse().ok());
        match (line, compare) {
            ("connected", _) => Ok(Word::Connected),
            ("start", _) => Ok(Word::Start),
            ("stop", _) => Ok(Word::Stop),
            (_, Some(tick)) => Ok(Word::Compare { tick }),
            _ => Err(format!("{line} is nothing that a server says")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_understood_as_it_was_said() {
        for word in [Word::Connected, Word::Start, Word::Stop, Word::Compare { tick: 77 }] {
            assert_eq!(word.to_string().parse(), Ok(word));
        }
        assert!("compare all".parse::<Word>().is_err());
    }
}
