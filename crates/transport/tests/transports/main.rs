//! What every transport promises, and what each does besides.

mod conditioner;
mod endpoint;
mod rig;
mod suite;
mod tcp;
mod udp;
