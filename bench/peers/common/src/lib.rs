//! What all contenders have in common: the workloads, the measuring, and the two processes.
//!
//! A figure about one library says little: its author chose the workload. So every library here does the same work, and
//! the same code measures it. Each has one program, which is two processes:
//!
//! ```text
//!   parent: the server                                child: all clients
//!   60 ticks a second                                 60 polls a second
//!     walk     ── moves every object                    poll ── receive, decode, acknowledge
//!     write    ── into the library's world (timed)      proxy ── delay and loss, if the workload has them
//!     tick     ── receive, encode, send   (timed)     at the end: every object of every client is compared
//! ```
//!
//! The server has a process to itself, so whatever the parent spends, in any thread, in the kernel, at any time, is the
//! server's; what the clients and the proxy spend is not.
//!
//! A contender implements [`Server`] and [`Clients`] and calls [`run`].

mod allocations;
mod client_process;
mod clock;
mod compare;
mod contender;
mod options;
mod pace;
pub mod plain;
mod proxy;
mod report;
mod server_process;
mod statistics;
mod traffic;
mod walk;
mod word;

pub use clock::monotonic_ns;
pub use compare::{ErrorBound, State};
pub use contender::{Clients, Contender, Heard, RELIABLE_BYTES, Server, UNRELIABLE_BYTES};
pub use options::{Options, Workload};
pub use pace::{TICK, TICKS_PER_SECOND};
pub use walk::Walk;

/// The whole program of a contender. Which of the two processes this is follows from the command line.
pub fn run<S: Server, C: Clients>(
    contender: Contender,
    server: impl FnOnce(&Options) -> S,
    clients: impl FnOnce(&Options) -> C,
) {
    let options = Options::from_command_line(&contender);
    if options.is_client_process {
        client_process::run(&options, clients);
    } else {
        server_process::run(&contender, &options, server);
    }
}
