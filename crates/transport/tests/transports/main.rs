//! What every transport promises, and what each does besides.

mod conditioner;
mod endpoint;
mod http;
mod rig;
mod suite;
mod tcp;
mod udp;
mod websocket;
mod websocket_peers;
