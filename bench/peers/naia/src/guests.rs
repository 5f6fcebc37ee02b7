//! The clients' side.

use crate::transport::Sockets;
use crate::world::{Entity, World};
use crate::{BYTES_PER_SECOND, Introduction, Walker, protocol};
use naia_client::{Client, ClientConfig, ClientTickEvent, UpdateComponentEvent};
use naia_shared::Instant;
use peer_common::{Clients, Options, State};
use std::time::Duration;

struct Guest {
    client: Client<Entity>,
    world: World,
    states: Vec<Option<State>>,
    updates: u64,
}

impl Guest {
    fn poll(&mut self, now: &Instant) {
        let Guest { client, world, .. } = self;
        client.receive_all_packets();
        if !client.connection_status().is_connected() {
            client.send_all_packets(world.proxy_mut());
            return;
        }
        client.process_all_packets(world.proxy_mut(), now);
        let mut events = client.take_world_events();
        let mut ticks = client.take_tick_events(now);
        for (_, entity) in events.read::<UpdateComponentEvent<Walker>>() {
            let entity = client.entity(world.proxy(), &entity);
            let Some(walker) = entity.component::<Walker>() else { continue };
            let (position, rotation) = (&*walker.position, &*walker.rotation);
            if let Some(state) = self.states.get_mut(usize::from(*walker.number)) {
                *state = Some(State {
                    position: [position.x, position.y, position.z],
                    rotation: [rotation.x, rotation.y, rotation.z, rotation.w],
                });
                self.updates += 1;
            }
        }
        if ticks.read::<ClientTickEvent>().next().is_some() {
            client.send_all_packets(world.proxy_mut());
        }
    }
}

pub struct Guests(Vec<Guest>);

impl Guests {
    pub fn connect(options: &Options) -> Guests {
        let guest = |number: usize| {
            let mut config = ClientConfig::default();
            config.connection.bandwidth.target_bytes_per_sec = BYTES_PER_SECOND;
            let mut client: Client<Entity> = Client::new(config, protocol(options));
            client.auth(Introduction { number: number as u32 });
            client.connect(Sockets::of_client(options));
            Guest { client, world: World::default(), states: vec![None; options.objects], updates: 0 }
        };
        Guests((0..options.clients).map(guest).collect())
    }
}

impl Clients for Guests {
    fn poll(&mut self, _: Duration) {
        let now = Instant::now();
        self.0.iter_mut().for_each(|guest| guest.poll(&now));
    }

    fn updates(&self) -> u64 {
        self.0.iter().map(|guest| guest.updates).sum()
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        into.copy_from_slice(&self.0[client].states);
    }
}
