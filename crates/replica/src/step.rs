//! One step of the simulation: the function that server and client share.
//!
//! A client that waits for the server before it moves feels like mud; one that moves by a function of its own is wrong
//! all the time. So the game writes one function from a state and an input to the next state. The server runs it with
//! the inputs that arrived, the client runs it at once with those it is about to send, and runs it again from the
//! server's state when the two did not come out the same:
//!
//! ```text
//!   server   state 40 ─step(input 41)─▶ state 41 ─▶ …            the truth, a round trip later
//!   client   state 40 ─step(input 41)─▶ state 41 ─step(input 42)─▶ …   the same function, now
//! ```
//!
//! A step is one tick of the simulation ([`Tick`](netloom_wire::Tick)), always of the same length. Whatever the step
//! reads besides state and input must be the same on both sides, or it will be corrected; see
//! [`check_determinism`](crate::determinism::check_determinism).
//!
//! To compare two states, and to show them, the client must know what is in them. For that the game lists its fields
//! once, with [`Describe`].

mod fields;

pub use fields::{FIELDS_MAX, FieldValue, Fields};

/// How something moves. Server and client run the same.
///
/// ```
/// use netloom_replica::step::{Describe, Fields, Step};
/// use netloom_wire::Profile;
///
/// /// Walks with four metres a second, sixty steps a second.
/// struct Walk;
///
/// #[derive(Clone)]
/// struct Walker {
///     position: [f32; 3],
///     stamina: u16,
/// }
///
/// impl Step for Walk {
///     type State = Walker;
///     type Input = [i8; 2];
///
///     fn step(&self, walker: &mut Walker, direction: &[i8; 2]) {
///         for (axis, direction) in direction.iter().enumerate() {
///             walker.position[axis] += f32::from(*direction) / 127.0 * 4.0 / 60.0;
///         }
///         walker.stamina = walker.stamina.saturating_sub(1);
///     }
/// }
///
/// impl Describe for Walk {
///     fn describe(&self, walker: &Walker, fields: &mut Fields) {
///         fields.position("position", Profile::Standard, walker.position);
///         fields.whole("stamina", walker.stamina);
///     }
/// }
///
/// let mut walker = Walker { position: [0.0; 3], stamina: 10 };
/// Walk.step(&mut walker, &[127, 0]);
/// assert!(walker.position[0] > 0.06);
/// ```
pub trait Step {
    /// Everything that a step changes.
    type State: Clone;
    /// What a player does in one step. What crosses the wire implements [`Input`](crate::input::Input).
    type Input;

    /// Moves the state by one step.
    fn step(&self, state: &mut Self::State, input: &Self::Input);
}

/// What a state consists of, for comparing two of them.
pub trait Describe: Step {
    /// Names the fields of a state, in the same order for every state, each with the precision that the wire has for it.
    /// The first position and the first rotation are where the object is seen.
    fn describe(&self, state: &Self::State, fields: &mut Fields);
}
