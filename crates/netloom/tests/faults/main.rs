//! Processes that die, freeze or stop listening: everybody else goes on, and the right reason is told.

#[path = "../common/mod.rs"]
mod common;

mod child;
mod freeze;
mod gone;
