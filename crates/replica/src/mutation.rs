//! Deliberate bugs, one at a time, that the simulator's checkers must catch. Compiled only for that test.

use std::cell::Cell;

/// A bug to switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// No bug.
    None,
    /// Client: an entry that came too late is applied all the same.
    StaleEntryApplied,
    /// Client: whatever arrives last is shown, also if it is older.
    OlderStateShown,
    /// Client: a leave takes whatever its slot holds.
    LeaveOfAnotherObject,
    /// Client: texts of an older snapshot replace newer ones.
    OlderContentKept,
    /// Client: nobody is told of a snapshot that could not be read.
    RefusalSwallowed,
    /// Entries tell everybody what only the owner may know.
    OwnerFieldsToAll,
    /// World: words of before a rebase, another profile or another parent stay baselines.
    FrameIgnored,
    /// World: a text changes and its object does not count as changed.
    ContentUnnoticed,
    /// World: clients write whatever they ask for.
    WriteUnchecked,
    /// World: a jump looks like a walk.
    JumpForgotten,
    /// Server: states are built on as soon as they are sent.
    BaselineUnacked,
    /// Server: an alias is used again before the peer let go of it.
    AliasReusedEarly,
    /// Server: an alias is never used again.
    SlotLeaked,
    /// Server: a leave that got lost is not repeated.
    LeaveLost,
    /// Server: an entry that got lost is not repeated.
    EntryLost,
    /// Server: a change that got lost counts as told.
    ChangeLost,
    /// Server: a peer gets twice its bytes.
    BudgetExceeded,
    /// Server: who may see an object is not asked.
    HiddenSent,
    /// Server: who was the owner stays the owner to its updates.
    AudienceKept,
    /// Server: what a peer could not read is built on.
    RefusalIgnored,
    /// Server: waiting earns nothing, the nearest always go first.
    WaitingUnpaid,
    /// Lag compensation: a shot may be judged as long ago as its shooter likes.
    ClampOff,
    /// Lag compensation: whatever a client claims to have seen is believed, up to the clamp.
    ViewBelieved,
    /// Lag compensation: a view may stand still or run.
    ViewUnpaced,
    /// Lag compensation: objects are where they were in the step before the view, and not between two.
    StepBeforeView,
    /// Lag compensation: shots are judged by the present.
    PresentJudged,
    /// Lag compensation: that clients show snapshots late is not expected of them.
    DelayForgotten,
    /// Inputs: a step that was simulated has another input.
    InputTakenAgain,
    /// Inputs: a step per input costs nothing.
    StepsUnpaid,
    /// Inputs: what did not come in time is simulated when it comes.
    LateInputTaken,
}

impl Mutation {
    /// Every bug.
    pub const ALL: [Mutation; 30] = {
        use Mutation::*;
        [
            StaleEntryApplied,
            OlderStateShown,
            LeaveOfAnotherObject,
            OlderContentKept,
            RefusalSwallowed,
            OwnerFieldsToAll,
            FrameIgnored,
            ContentUnnoticed,
            WriteUnchecked,
            JumpForgotten,
            BaselineUnacked,
            AliasReusedEarly,
            SlotLeaked,
            LeaveLost,
            EntryLost,
            ChangeLost,
            BudgetExceeded,
            HiddenSent,
            AudienceKept,
            RefusalIgnored,
            WaitingUnpaid,
            ClampOff,
            ViewBelieved,
            ViewUnpaced,
            StepBeforeView,
            PresentJudged,
            DelayForgotten,
            InputTakenAgain,
            StepsUnpaid,
            LateInputTaken,
        ]
    };
}

impl Mutation {
    /// Whether it is about time: what is seen, shot at and simulated when.
    pub fn is_of_time(self) -> bool {
        use Mutation::*;
        matches!(
            self,
            ClampOff
                | ViewBelieved
                | ViewUnpaced
                | StepBeforeView
                | PresentJudged
                | DelayForgotten
                | InputTakenAgain
                | StepsUnpaid
                | LateInputTaken
        )
    }
}

thread_local! {
    static ACTIVE: Cell<Mutation> = const { Cell::new(Mutation::None) };
}

/// Switches a bug on for this thread.
pub fn set(mutation: Mutation) {
    ACTIVE.set(mutation);
}

/// Whether this bug is on.
pub fn is(mutation: Mutation) -> bool {
    ACTIVE.get() == mutation
}
