//! The promises of a channel, checked message by message.

use super::Violation;

/// What a channel promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Every message once, in the order of sending.
    Ordered,
    /// Every message once.
    Unordered,
    /// Each message at most once.
    Unreliable,
    /// Each message at most once, and never an older one after a newer one.
    Sequenced,
}

impl Promise {
    /// Whether every message must arrive in the end.
    pub fn is_reliable(self) -> bool {
        matches!(self, Promise::Ordered | Promise::Unordered)
    }
}

/// One direction of one channel.
#[derive(Clone, Debug)]
pub struct ChannelCheck {
    promise: Promise,
    sent: u32,
    delivered: u32,
    // One past the newest delivered index.
    newest: u32,
    seen: Bits,
    acked: Bits,
    settled: Bits,
}

impl ChannelCheck {
    /// A channel on which nothing was sent yet.
    pub fn new(promise: Promise) -> ChannelCheck {
        let none = Bits::default();
        let (seen, acked, settled) = (none.clone(), none.clone(), none);
        ChannelCheck { promise, sent: 0, delivered: 0, newest: 0, seen, acked, settled }
    }

    /// The channel's promise.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The index that the next message sent must carry.
    pub fn next_index(&self) -> u32 {
        self.sent
    }

    /// Messages sent.
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// Messages delivered.
    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    /// The message with [`ChannelCheck::next_index`] was accepted for sending.
    pub fn handle_sent(&mut self) {
        self.sent += 1;
    }

    /// A message was handed to the application.
    pub fn handle_delivered(&mut self, index: u32) -> Result<(), Violation> {
        let violation = |rule, why: &str| Err(Violation::new(rule, format!("message {index} {why}")));
        if index >= self.sent {
            return violation("only sent messages arrive", "was never sent");
        }
        if self.seen.insert(index) {
            return violation("no message arrives twice", "was delivered again");
        }
        match self.promise {
            Promise::Ordered if index != self.newest => {
                let why = format!("was delivered where {} was due", self.newest);
                return violation("ordered messages arrive in order", &why);
            }
            Promise::Sequenced if index < self.newest => {
                let why = format!("was delivered after {}", self.newest - 1);
                return violation("sequenced messages never go backwards", &why);
            }
            _ => {}
        }
        self.newest = self.newest.max(index + 1);
        self.delivered += 1;
        Ok(())
    }

    /// The stack reported what became of a tagged message.
    pub fn handle_outcome(&mut self, index: u32, is_acked: bool) -> Result<(), Violation> {
        let rule = "a tagged message has one outcome";
        if index >= self.sent {
            return Err(Violation::new(rule, format!("outcome for message {index}, which was never sent")));
        }
        if self.settled.insert(index) {
            return Err(Violation::new(rule, format!("a second outcome for message {index}")));
        }
        if is_acked {
            self.acked.insert(index);
        }
        Ok(())
    }

    /// Whether everything that must arrive has arrived.
    pub fn is_complete(&self) -> bool {
        !self.promise.is_reliable() || self.delivered == self.sent
    }

    /// Checks what holds once the session has been drained.
    ///
    /// Outcomes are compared only here: an acknowledgement may outrun the event that hands the message out. On a
    /// sequenced channel an acknowledged message may rightly be dropped as too old, so nothing follows from it.
    pub fn check_drained(&self) -> Result<(), Violation> {
        if !self.is_complete() {
            let missing = (0..self.sent).find(|&index| !self.seen.contains(index)).unwrap_or(self.sent);
            return Err(Violation::new(
                "every reliable message arrives",
                format!("{} of {} delivered, the first missing is {missing}", self.delivered, self.sent),
            ));
        }
        self.check_outcomes()
    }

    /// Checks that everything reported as arrived was delivered.
    pub fn check_outcomes(&self) -> Result<(), Violation> {
        if self.promise == Promise::Sequenced {
            return Ok(());
        }
        match (0..self.sent).find(|&index| self.acked.contains(index) && !self.seen.contains(index)) {
            None => Ok(()),
            Some(index) => Err(Violation::new(
                "an acknowledged message was delivered",
                format!("message {index} was reported as arrived and never was"),
            )),
        }
    }
}

/// A growing set of small numbers.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Adds `index` and says whether it was there before.
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let was_there = self.0[word] & bit != 0;
        self.0[word] |= bit;
        was_there
    }

    fn contains(&self, index: u32) -> bool {
        self.0.get(index as usize / 64).is_some_and(|word| word & (1 << (index % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(promise: Promise, sent: u32) -> ChannelCheck {
        let mut check = ChannelCheck::new(promise);
        (0..sent).for_each(|_| check.handle_sent());
        check
    }

    fn rule(result: Result<(), Violation>) -> &'static str {
        result.unwrap_err().rule
    }

    #[test]
    fn what_was_never_sent_may_not_arrive() {
        assert_eq!(rule(channel(Promise::Unreliable, 3).handle_delivered(3)), "only sent messages arrive");
    }

    #[test]
    fn no_promise_allows_a_second_delivery() {
        for promise in [Promise::Ordered, Promise::Unordered, Promise::Unreliable, Promise::Sequenced] {
            let mut check = channel(promise, 2);
            check.handle_delivered(0).unwrap();
            assert_eq!(rule(check.handle_delivered(0)), "no message arrives twice", "{promise:?}");
        }
    }

    #[test]
    fn only_unordered_kinds_may_swap_messages() {
        assert_eq!(
            rule(channel(Promise::Ordered, 2).handle_delivered(1)),
            "ordered messages arrive in order"
        );
        let mut sequenced = channel(Promise::Sequenced, 2);
        sequenced.handle_delivered(1).unwrap();
        assert_eq!(rule(sequenced.handle_delivered(0)), "sequenced messages never go backwards");
        for promise in [Promise::Unordered, Promise::Unreliable] {
            let mut check = channel(promise, 2);
            check.handle_delivered(1).unwrap();
            check.handle_delivered(0).unwrap();
        }
    }

    #[test]
    fn reliable_channels_are_complete_when_drained_and_others_need_not_be() {
        for promise in [Promise::Ordered, Promise::Unordered] {
            let mut check = channel(promise, 2);
            check.handle_delivered(0).unwrap();
            assert!(check.check_drained().unwrap_err().detail.contains("first missing is 1"));
            check.handle_delivered(1).unwrap();
            check.check_drained().unwrap();
        }
        channel(Promise::Unreliable, 9).check_drained().unwrap();
    }

    #[test]
    fn an_outcome_is_single_and_true() {
        let mut check = channel(Promise::Unreliable, 100);
        check.handle_outcome(70, true).unwrap();
        assert_eq!(rule(check.check_outcomes()), "an acknowledged message was delivered");
        check.handle_delivered(70).unwrap();
        check.check_outcomes().unwrap();
        assert_eq!(rule(check.handle_outcome(70, false)), "a tagged message has one outcome");
        check.handle_outcome(71, false).unwrap();
        check.check_outcomes().unwrap();
        assert_eq!(rule(check.handle_outcome(100, true)), "a tagged message has one outcome");
    }
}
