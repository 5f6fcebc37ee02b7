//! Netloom, in three settings: `exact` (whole f32, as the other libraries), `standard` (1 cm, 0.28 degrees), and `secure`
//! (standard, encrypted).
//!
//! A world goes through the library's front door, `netloom::Server` and `netloom::Client`, with a room, a game and all that a server
//! does in a tick. Messages go through the connection below it, `netloom::proto::Endpoint`: that is the layer at which the other
//! libraries of the comparison send messages.

#![forbid(unsafe_code)]

mod messages;
mod setting;
mod world;

use peer_common::{
    Clients, Contender, ErrorBound, Heard, Options, RELIABLE_BYTES, Server, State, UNRELIABLE_BYTES, Walk,
    Workload, run,
};
use std::time::Duration;

enum Host {
    World(Box<world::Host>),
    Messages(Box<messages::Host>),
}

impl Server for Host {
    fn ready_count(&mut self) -> usize {
        match self {
            Host::World(host) => host.ready_count(),
            Host::Messages(host) => host.connected_count(),
        }
    }

    fn write(&mut self, walk: &Walk) {
        if let Host::World(host) = self {
            host.write(walk);
        }
    }

    fn tick(&mut self, _: &Walk, _: bool) {
        if let Host::World(host) = self {
            host.tick();
        }
    }

    fn tick_messages(
        &mut self,
        reliable: &[[u8; RELIABLE_BYTES]],
        unreliable: Option<&[u8; UNRELIABLE_BYTES]>,
    ) {
        if let Host::Messages(host) = self {
            host.tick(reliable, unreliable);
        }
    }
}

enum Guests {
    World(world::Guests),
    Messages(messages::Guests),
}

impl Clients for Guests {
    fn poll(&mut self, _: Duration) {
        match self {
            Guests::World(guests) => guests.poll(),
            Guests::Messages(guests) => guests.poll(),
        }
    }

    fn updates(&self) -> u64 {
        match self {
            Guests::World(guests) => guests.updates(),
            Guests::Messages(_) => 0,
        }
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        if let Guests::World(guests) = self {
            guests.read(client, into);
        }
    }

    fn error_bound(&self) -> ErrorBound {
        match self {
            Guests::World(guests) => guests.error_bound(),
            Guests::Messages(_) => ErrorBound::default(),
        }
    }

    fn heard(&self) -> Option<&Heard> {
        match self {
            Guests::World(_) => None,
            Guests::Messages(guests) => Some(guests.heard()),
        }
    }
}

fn server(options: &Options) -> Host {
    match options.workload {
        Workload::Replicate => Host::World(Box::new(world::Host::bind(options))),
        Workload::Messages | Workload::Latency => Host::Messages(Box::new(messages::Host::bind(options))),
    }
}

fn clients(options: &Options) -> Guests {
    match options.workload {
        Workload::Replicate => Guests::World(world::Guests::connect(options)),
        Workload::Messages | Workload::Latency => Guests::Messages(messages::Guests::connect(options)),
    }
}

fn main() {
    let contender = Contender { name: "netloom", settings: &setting::NAMES, has_messages: true };
    run(contender, server, clients);
}
