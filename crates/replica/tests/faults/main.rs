//! Faults of the first designs: each test runs the design to the letter until it fails, and this crate beside it, which
//! holds.
//!
//! Faults of one module are tested beside it: the choice under a budget in `server/priority/tests.rs`, rates in
//! `server/priority/cadence.rs`, sight in `server/interest/tests.rs`, versions and slots in `world/tests`, the arena in
//! `arena.rs`. Here are those that take a server and its clients, and those of what a client does with time.

mod budget;
mod codes;
mod dirty;
mod lifetimes;
mod places;
mod predict;
mod rewind;
mod secrecy;
mod server;
mod stage;
mod view;
