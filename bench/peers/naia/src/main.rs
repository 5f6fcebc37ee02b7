//! naia over plain UDP: one component with three properties per object, of which it sends those that changed.

#![forbid(unsafe_code)]

mod guests;
mod host;
mod transport;
mod world;

use naia_shared::{Message, Property, Protocol, Replicate, Serde};
use peer_common::{Contender, Options, TICK, run};

/// A connection's usual limit is 64 kB/s, which cannot carry 200 whole states 20 times a second.
const BYTES_PER_SECOND: u32 = 20_000_000;

#[derive(Clone, PartialEq, Serde)]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}

impl From<[f32; 3]> for Position {
    fn from([x, y, z]: [f32; 3]) -> Position {
        Position { x, y, z }
    }
}

#[derive(Clone, PartialEq, Serde)]
struct Rotation {
    x: f32,
    y: f32,
    z: f32,
    w: f32,
}

impl From<[f32; 4]> for Rotation {
    fn from([x, y, z, w]: [f32; 4]) -> Rotation {
        Rotation { x, y, z, w }
    }
}

/// The walker of a number.
#[derive(Replicate)]
struct Walker {
    number: Property<u16>,
    position: Property<Position>,
    rotation: Property<Rotation>,
}

/// naia wants to know who somebody is before it lets them in.
#[derive(Message)]
struct Introduction {
    number: u32,
}

fn protocol(options: &Options) -> Protocol {
    Protocol::builder()
        .tick_interval(TICK * options.ticks_per_send() as u32)
        .add_default_channels()
        .add_message::<Introduction>()
        .add_component::<Walker>()
        .build()
}

fn main() {
    let contender = Contender { name: "naia", settings: &["exact"], has_messages: false };
    run(contender, host::Host::listen, guests::Guests::connect);
}
