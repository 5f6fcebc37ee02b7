//! The server's side.

use crate::transport::Sockets;
use crate::world::{Entity, World};
use crate::{BYTES_PER_SECOND, Introduction, Walker, protocol};
use naia_server::{AuthEvent, ConnectEvent, RoomKey, Server as NaiaServer, ServerConfig};
use naia_shared::Instant;
use peer_common::{Options, Server, Walk};

pub struct Host {
    server: NaiaServer<Entity>,
    world: World,
    room: RoomKey,
    walkers: Vec<Entity>,
    connected: usize,
}

impl Host {
    pub fn listen(options: &Options) -> Host {
        let mut config = ServerConfig::default();
        config.connection.bandwidth.target_bytes_per_sec = BYTES_PER_SECOND;
        let mut server: NaiaServer<Entity> = NaiaServer::new(config, protocol(options));
        server.listen(Sockets::of_server(options));
        let room = server.create_room().key();
        let mut world = World::default();
        let walk = Walk::new(options.objects);
        let places = walk.positions.iter().zip(&walk.rotations).enumerate();
        let walkers = places.map(|(number, (&position, &rotation))| {
            let walker = Walker::new_complete(number as u16, position.into(), rotation.into());
            let entity = server.spawn_entity(world.proxy_mut()).insert_component(walker).id();
            server.room_mut(&room).add_entity(&entity);
            entity
        });
        let walkers = walkers.collect();
        Host { server, world, room, walkers, connected: 0 }
    }

    fn receive(&mut self) {
        let now = Instant::now();
        self.server.receive_all_packets();
        self.server.process_all_packets(self.world.proxy_mut(), &now);
        let mut events = self.server.take_world_events();
        // Its own ticks are not what the harness sends by, but they have to be taken.
        let _ = self.server.take_tick_events(&now);
        for (user, _) in events.read::<AuthEvent<Introduction>>() {
            self.server.accept_connection(&user);
        }
        for user in events.read::<ConnectEvent>() {
            self.server.room_mut(&self.room).add_user(&user);
            for walker in &self.walkers {
                self.server.user_scope_mut(&user).include(walker);
            }
            self.connected += 1;
        }
    }
}

impl Server for Host {
    fn ready_count(&mut self) -> usize {
        self.connected
    }

    fn write(&mut self, walk: &Walk) {
        for (number, entity) in self.walkers.iter().enumerate() {
            let mut entity = self.server.entity_mut(self.world.proxy_mut(), entity);
            let mut walker = entity.component::<Walker>().expect("a walker");
            *walker.position = walk.positions[number].into();
            *walker.rotation = walk.rotations[number].into();
        }
    }

    fn tick(&mut self, _: &Walk, is_send_tick: bool) {
        self.receive();
        if is_send_tick {
            self.server.send_all_packets(self.world.proxy());
        }
    }
}
