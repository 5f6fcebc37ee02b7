//! How good predictions were, and which field of the state was wrong.
//!
//! A misprediction that is smoothed away is not noticed until there are many. So they are counted by field: the field
//! that is wrong most often names the cause, say a cooldown that the client does not know.

use netloom_wire::Tick;

use super::Severity;
use crate::step::Fields;

/// The errors of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldErrors {
    /// As the game calls it.
    pub name: &'static str,
    /// How often the server had another value.
    pub count: u64,
    /// The largest difference, in the unit of the field; infinite if something was not a number.
    pub largest: f64,
    /// The step of the largest.
    pub largest_at: Tick,
}

/// When the server disagreed.
#[derive(Clone, Debug, PartialEq)]
pub struct Misprediction<Input> {
    /// The step of which the server spoke.
    pub step: Tick,
    /// The step of which it spoke before: the two parted in between.
    pub since: Tick,
    /// What the client did in `step`; `None` if it did nothing, or no longer knows.
    pub input: Option<Input>,
}

/// How good predictions were, since the beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictReport<Input> {
    /// States of the server that were as predicted.
    pub confirmed: u64,
    /// Corrections that nobody could see.
    pub small: u64,
    /// Corrections that were smoothed.
    pub medium: u64,
    /// Corrections by a jump.
    pub large: u64,
    /// States that came after newer ones.
    pub stale: u64,
    /// How often the server was silent for longer than the log reaches.
    pub pauses: u64,
    /// The newest misprediction.
    pub last: Option<Misprediction<Input>>,
    /// By field, in the order of the description.
    pub fields: Vec<FieldErrors>,
}

impl<Input> PredictReport<Input> {
    /// Corrections of all kinds.
    pub fn corrections(&self) -> u64 {
        self.small + self.medium + self.large
    }
}

/// Where it is counted.
#[derive(Debug)]
pub(super) struct Ledger<Input> {
    pub report: PredictReport<Input>,
}

impl<Input> Ledger<Input> {
    pub fn new(fields: &Fields) -> Ledger<Input> {
        let field = |(name, _)| FieldErrors { name, count: 0, largest: 0.0, largest_at: Tick(0) };
        let report = PredictReport {
            confirmed: 0,
            small: 0,
            medium: 0,
            large: 0,
            stale: 0,
            pauses: 0,
            last: None,
            fields: fields.iter().map(field).collect(),
        };
        Ledger { report }
    }

    /// Whether two states are the same to the wire; notes in which fields they are not.
    pub fn compare(&mut self, step: Tick, own: &Fields, servers: &Fields) -> bool {
        let mut is_same = own.len() == servers.len();
        let values = own.iter().zip(servers.iter());
        for (((_, own), (_, server)), errors) in values.zip(&mut self.report.fields) {
            let Some(error) = own.error(&server) else { continue };
            is_same = false;
            errors.count += 1;
            if error > errors.largest {
                (errors.largest, errors.largest_at) = (error, step);
            }
        }
        is_same
    }

    pub fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Small => self.report.small += 1,
            Severity::Medium => self.report.medium += 1,
            Severity::Large => self.report.large += 1,
        }
    }
}
