//! What changed since a baseline that the receiver is known to hold.
//!
//! A snapshot repeats almost everything that the last one said. So a sender names the fields that changed ([`mask`]),
//! sends each as a small signed difference from a prediction ([`residual`], [`predict`]), and skips runs of objects in
//! which nothing changed ([`run`]).
//!
//! All of it works on quantized words that both ends hold bit for bit. A difference against the sender's own float would
//! let the receiver drift by the rounding error of each update; a difference against words cannot drift.
//!
//! ```text
//!   run of unchanged │ mask of the next object    │ residual of each changed word, hottest field first
//!   token, raw bits  │ token, indexes or a bitmap │ token, sign, raw bits   or   escape, the word itself
//! ```
//!
//! Tokens go through the code tables of [`entropy`](crate::entropy). Decoding needs integers within ±2^53 only.

pub mod mask;
pub mod predict;
pub mod residual;
pub mod run;

pub use mask::MASK_SYMBOLS;
pub use residual::RESIDUAL_SYMBOLS;
pub use run::RUN_SYMBOLS;

#[cfg(test)]
mod tests;
