//! Sessions: what players and servers say to each other beside the state of a world.

mod lobby;
mod packed;
mod pair;
mod rpc;

pub use lobby::session_lobby;
pub use packed::session_packed;
pub use pair::session_pair;
pub use rpc::rpc_frame;

pub(crate) use rpc::server_table;
