//! An account that the server's time fills.

use netloom_wire::Micros;

/// Credit in some small unit, of which every microsecond earns the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    earned_per_microsecond: u64,
    credit_max: u64,
    credit: u64,
    updated: Micros,
}

impl Account {
    /// A full account.
    pub fn new(earned_per_microsecond: u64, credit_max: u64, now: Micros) -> Account {
        Account { earned_per_microsecond, credit_max, credit: credit_max, updated: now }
    }

    /// Earns what has passed. A clock that goes back earns nothing, neither now nor on its way forward again.
    pub fn handle_time(&mut self, now: Micros) {
        let earned = (now - self.updated).0.saturating_mul(self.earned_per_microsecond);
        self.updated = self.updated.max(now);
        self.credit = self.credit.saturating_add(earned).min(self.credit_max);
    }

    /// Pays, if there is enough.
    pub fn spend(&mut self, cost: u64) -> bool {
        let left = self.credit.checked_sub(cost);
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }

    /// What it holds at most: what costs more can never be paid for.
    pub fn credit_max(&self) -> u64 {
        self.credit_max
    }
}
