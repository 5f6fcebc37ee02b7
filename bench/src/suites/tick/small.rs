//! The parts of a tick that are too small to be timed once: batches of a thousand, in memory.

use super::components::{row, scene};
use super::crowd::CLIENTS;
use super::film::OBJECTS;
use super::lockstep::Lockstep;
use super::{progress, refused};
use crate::error::BenchError;
use crate::measure::interleaved;
use crate::peers::TICK;
use crate::suites::Options;
use crate::table::Row;
use netloom_proto::{Config, Endpoint, ListenConfig};
use netloom_replica::arena::Arena;
use netloom_session::adapt::{Adapt, AdaptConfig};
use netloom_session::health::{Health, HealthConfig};
use netloom_session::measured::Measured;
use netloom_session::rpc::{
    Args, Caller, ClientCall, Handler, InboxCall, InboxConfig, PeerLimits, Rate, RpcInbox, RpcOptions,
    RpcTable, Target, encode_args,
};
use netloom_session::{PlayerId, Server};
use netloom_wire::{MessageBuffer, Micros};
use std::hint::black_box;
use std::net::SocketAddr;

/// Calls of scripts that are handed over together, as U counts them.
const SCRIPT_CALLS: usize = 50;

/// The rows of this file.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    progress("small parts");
    let mut arena = Arena::default();
    let (mut endpoint, endpoint_now) = connected_endpoint()?;
    let mut datagram = [0; 1_200];
    let lockstep = Lockstep::new(scene("stats", true, 0, OBJECTS), 0)?;
    let server = lockstep.server().server();
    let player = server.rooms().flat_map(|room| room.players()).map(|player| player.id).next();
    let player = player.ok_or_else(|| refused("nobody is here"))?;
    let pulse = server.pulse_of(player).ok_or_else(|| refused("somebody has no connection"))?;
    let mut peers = Peers::new(server, pulse.last_received)?;
    let mut adapt = Adapt::new(AdaptConfig::default()).map_err(refused)?;
    let (measured, mut adapt_now) = (Measured::from(&pulse), pulse.last_received);
    let (mut native, mut scripts) = (Calls::new(Handler::Native)?, Calls::new(Handler::Script)?);
    let ns = interleaved(
        options.batches,
        &mut [
            &mut |n| (0..n).for_each(|_| black_box(&mut arena).reset()),
            &mut |n| {
                for _ in 0..n {
                    endpoint.begin_tick(black_box(endpoint_now));
                    black_box(endpoint.poll_transmit(endpoint_now, &mut datagram));
                }
            },
            &mut |n| (0..n).for_each(|_| peers.look_after_health()),
            &mut |n| {
                for _ in 0..n {
                    adapt_now += TICK;
                    black_box(adapt.update(adapt_now, black_box(&measured)));
                }
            },
            &mut |n| {
                for _ in 0..n {
                    black_box(server.stats_of(black_box(player)));
                }
            },
            &mut |n| (0..n).for_each(|_| native.take_one()),
            &mut |n| (0..n).for_each(|_| scripts.take_one()),
        ],
    );
    peers.verdict()?;
    native.verdict()?;
    scripts.verdict()?;
    let batch_us = ns[6] * SCRIPT_CALLS as f64 / 1e3;
    Ok(vec![
        row("arena reset", "ns", "arena_reset_ns", ns[0], 1.0),
        row("state machine of one peer", "ns", "fsm_update_ns", ns[1] / CLIENTS as f64, 5.0),
        row("health of 16 peers, stats included", "us", "peer_health_us", ns[2] / 1e3, 1.0),
        row("adaptive rate of one peer", "ns", "adaptive_rate_ns", ns[3], 10.0),
        row("stats of one player, read", "ns", "stats_ns", ns[4], 20.0),
        row("native call, bytes to handler", "us", "native_call_us", ns[5] / 1e3, 2.0),
        row("50 script calls, without the interpreter", "us", "script_calls_50_us", batch_us, 105.0),
    ])
}

/// Sixteen players of a server, and what it remembers of each.
struct Peers<'a> {
    server: &'a Server,
    health: Vec<(PlayerId, Health)>,
    now: Micros,
    unfit: u64,
}

impl Peers<'_> {
    fn new(server: &Server, now: Micros) -> Result<Peers<'_>, BenchError> {
        let players = server.rooms().flat_map(|room| room.players()).map(|player| player.id);
        let health = players.map(|player| {
            let health = Health::new(HealthConfig::default(), now).map_err(refused)?;
            Ok((player, health))
        });
        Ok(Peers { server, health: health.collect::<Result<_, BenchError>>()?, now, unfit: 0 })
    }

    fn look_after_health(&mut self) {
        for (player, health) in &mut self.health {
            let Some(pulse) = self.server.pulse_of(*player) else { continue };
            let found = health.update(black_box(self.now), &Measured::from(&pulse));
            self.unfit += u64::from(found.is_some());
        }
    }

    fn verdict(&self) -> Result<(), BenchError> {
        match (self.health.len(), self.unfit) {
            (CLIENTS, 0) => Ok(()),
            (players, unfit) => Err(refused(format!("{players} players, {unfit} times unfit"))),
        }
    }
}

/// A client that calls, and a server that looks at the call and hands it to its handler.
struct Calls {
    table: RpcTable,
    limits: PeerLimits,
    inbox: RpcInbox<()>,
    message: Vec<u8>,
    is_script: bool,
    now: Micros,
    taken: u64,
    handled: u64,
}

impl Calls {
    fn new(handler: Handler) -> Result<Calls, BenchError> {
        let mut builder = RpcTable::builder();
        builder.add("fire", RpcOptions::default()).map_err(refused)?;
        let table = builder.build();
        let id = table.find("fire").map_err(refused)?;
        let mut args = Vec::new();
        encode_args(&(7u16, 1.5f32, -2.5f32), &mut args).map_err(refused)?;
        let mut buffer = MessageBuffer::new(1_024);
        let call = ClientCall { id, target: Target::Server, object: None, tick: None, args: &args };
        call.write(&mut buffer);
        let message = buffer.finish().map_err(refused)?.to_vec();
        let mut inbox = RpcInbox::new(&table, InboxConfig::default()).map_err(refused)?;
        inbox.set_handler(id, handler);
        let total = Rate::new(1_000, 1_000).map_err(refused)?;
        let limits = PeerLimits::new(&table, total, Micros::ZERO);
        let is_script = handler == Handler::Script;
        Ok(Calls { table, limits, inbox, message, is_script, now: Micros::ZERO, taken: 0, handled: 0 })
    }

    /// One call from its bytes to its handler. Scripts are handed over when there are [`SCRIPT_CALLS`].
    fn take_one(&mut self) {
        // As often as a client may call.
        self.now += TICK;
        let Ok(call) = ClientCall::read(black_box(&self.message)) else { return };
        let Ok(_) = self.limits.admit(self.now, &self.table, &call) else { return };
        let Ok(args) = Args::read(call.args) else { return };
        let caller = Caller::Player(PlayerId(1));
        let pushed = self.inbox.push(InboxCall { id: call.id, caller, object: None, tick: None, args });
        self.taken += u64::from(pushed.is_ok());
        let handled = &mut self.handled;
        if !self.is_script {
            self.inbox.drain_native(1, |call| {
                *handled += u64::from(black_box(call.args.decode::<(u16, f32, f32)>()).is_ok());
            });
        } else if self.inbox.len() == SCRIPT_CALLS {
            self.inbox.drain_scripts(SCRIPT_CALLS, |calls| {
                *handled +=
                    calls.filter(|call| call.args.values().map(black_box).count() == 3).count() as u64;
            });
        }
    }

    fn verdict(&self) -> Result<(), BenchError> {
        let waiting = self.inbox.len() as u64;
        let are_all_handled = self.handled + waiting == self.taken;
        match self.taken > 0 && are_all_handled && self.limits.counters().allowed == self.taken {
            true => Ok(()),
            false => Err(refused(format!("{} calls were handled of {}", self.handled, self.taken))),
        }
    }
}

/// A listening endpoint with sixteen peers that have nothing to say, and the time at which that is so.
fn connected_endpoint() -> Result<(Endpoint, Micros), BenchError> {
    let server_address = SocketAddr::from(([127, 0, 0, 1], 7_777));
    let mut server =
        Endpoint::new(Config::default(), Some(ListenConfig::default()), [1; 32]).map_err(refused)?;
    let mut now = Micros::ZERO;
    let mut clients = (0..CLIENTS as u8)
        .map(|number| {
            let mut client = Endpoint::new(Config::default(), None, [number + 2; 32]).map_err(refused)?;
            client.connect(now, server_address, None).map_err(refused)?;
            Ok((SocketAddr::from(([127, 0, 1, number], 4_000)), client))
        })
        .collect::<Result<Vec<_>, BenchError>>()?;
    let mut datagram = [0; 1_200];
    for _ in 0..60 {
        now += TICK;
        server.begin_tick(now);
        for (address, client) in &mut clients {
            client.begin_tick(now);
            while let Some(sent) = client.poll_transmit(now, &mut datagram) {
                server.handle_datagram(now, *address, &mut datagram[..sent.length]);
            }
            while client.poll_event().is_some() {}
        }
        while server.poll_event().is_some() {}
        while let Some(sent) = server.poll_transmit(now, &mut datagram) {
            if let Some((_, client)) = clients.iter_mut().find(|(address, _)| *address == sent.to) {
                client.handle_datagram(now, server_address, &mut datagram[..sent.length]);
            }
        }
    }
    match server.peers().filter(|peer| server.state(*peer) == netloom_proto::State::Connected).count() {
        CLIENTS => Ok((server, now)),
        connected => Err(refused(format!("{connected} of {CLIENTS} are connected"))),
    }
}
