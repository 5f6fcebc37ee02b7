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
    /// Server: a jump that is told again is told as a new one.
    JumpAgeless,
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
    /// Clock: the reading is wherever the line is, forwards or backwards.
    ReadingJumps,
    /// Interpolation: without news an object goes on for ever.
    ExtrapolationUncapped,
    /// Interpolation: a jump is a way like any other.
    TeleportSwept,
    /// Interpolation: what was shown wrong is put right at once.
    DifferenceUneased,
    /// Interpolation: silence is never rest.
    RestUnnoticed,
    /// Prediction: an offset decays by as much in every frame.
    OffsetDecaysByFrame,
    /// Prediction: the step that the server spoke of is run again.
    AckedInputReplayed,
    /// Prediction: a step is simulated, and seen with the next one.
    ReactionLate,
    /// Prediction: the server's word is noted and not followed.
    CorrectionIgnored,
    /// Input clock: early is late.
    SlackSignTurned,
    /// Input queue: a step is simulated with the input of the next one.
    InputOfAnotherStep,
    /// Events: an event is given as soon as it is there.
    EventUnawaited,
    /// Events: of one time, the last comes first.
    EventOrderTurned,
    /// Codec: every object is written twice, and once is thrown away. Nothing is wrong but the time; `netloom-instructions` notices.
    WrittenTwice,
}

impl Mutation {
    /// Every bug of what is sent and held.
    pub const ALL: [Mutation; 22] = {
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
            JumpAgeless,
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
        ]
    };

    /// Every bug of when things are seen, shot at and simulated.
    pub const JUDGED: [Mutation; 9] = {
        use Mutation::*;
        [
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

    /// Every bug of what the player sees and feels.
    pub const FELT: [Mutation; 13] = {
        use Mutation::*;
        [
            ReadingJumps,
            ExtrapolationUncapped,
            TeleportSwept,
            DifferenceUneased,
            RestUnnoticed,
            OffsetDecaysByFrame,
            AckedInputReplayed,
            ReactionLate,
            CorrectionIgnored,
            SlackSignTurned,
            InputOfAnotherStep,
            EventUnawaited,
            EventOrderTurned,
        ]
    };
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
