//! lightyear over UDP and netcode (its replication is bevy_replicon's): two components per object, no prediction, no
//! interpolation. Minimal plugins and one thread, as a dedicated server has it.

#![forbid(unsafe_code)]

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use lightyear::netcode::Key;
use lightyear::prelude::client::{ClientPlugins, NetcodeClient, NetcodeConfig as ClientNetcodeConfig};
use lightyear::prelude::server::{ClientOf, NetcodeConfig, NetcodeServer, ServerPlugins, ServerUdpIo, Start};
use lightyear::prelude::*;
use peer_common::{Clients, Contender, Options, Server as PeerServer, State, TICK, Walk, run};
use peer_ecs::{Number, Position, Rotation, Walkers};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const PROTOCOL: u64 = 7;

fn app(plugins: impl PluginGroup) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin));
    app.add_plugins(plugins);
    app.component::<Number>().replicate();
    app.component::<Position>().replicate();
    app.component::<Rotation>().replicate();
    app
}

fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
}

struct Host {
    app: App,
    walkers: Walkers,
}

impl PeerServer for Host {
    fn ready_count(&mut self) -> usize {
        let world = self.app.world_mut();
        world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count()
    }

    fn write(&mut self, walk: &Walk) {
        self.walkers.write(self.app.world_mut(), walk);
    }

    /// Its own timer decides which ticks replicate; it was told the rate.
    fn tick(&mut self, _: &Walk, _: bool) {
        self.app.update();
    }
}

fn server(options: &Options) -> Host {
    let mut app = app(ServerPlugins { tick_duration: TICK }.build());
    app.insert_resource(ReplicationMetadata::new(TICK * options.ticks_per_send() as u32));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    app.add_observer(|added: On<Add, LinkOf>, mut commands: Commands| {
        commands.entity(added.entity).insert(ReplicationSender);
    });
    finish(&mut app);
    let config = NetcodeConfig {
        max_clients: options.clients,
        protocol_id: PROTOCOL,
        private_key: Key::default(),
        ..NetcodeConfig::default()
    };
    let server = (NetcodeServer::new(config), LocalAddr(options.server_address()), ServerUdpIo::default());
    let entity = app.world_mut().spawn(server).id();
    app.world_mut().trigger(Start { entity });
    let everybody = || Replicate::to_clients(NetworkTarget::All);
    let walkers = Walkers::spawn(app.world_mut(), options.objects, everybody);
    Host { app, walkers }
}

struct Guests(Vec<App>);

impl Clients for Guests {
    fn poll(&mut self, _: Duration) {
        self.0.iter_mut().for_each(App::update);
    }

    fn updates(&self) -> u64 {
        peer_ecs::updates(&self.0)
    }

    fn read(&self, client: usize, into: &mut [Option<State>]) {
        peer_ecs::read(&self.0[client], into);
    }
}

fn clients(options: &Options) -> Guests {
    let guest = |number: usize| {
        let mut app = app(ClientPlugins { tick_duration: TICK }.build());
        peer_ecs::count_updates(&mut app);
        finish(&mut app);
        let authentication = Authentication::Manual {
            // The address that the server knows itself by; packets go to that of `PeerAddr`.
            server_addr: options.server_address(),
            client_id: number as u64 + 1,
            private_key: Key::default(),
            protocol_id: PROTOCOL,
        };
        let netcode =
            NetcodeClient::new(authentication, ClientNetcodeConfig::default()).expect("a client of netcode");
        let client = (
            Client,
            LocalAddr(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            PeerAddr(options.dial_address()),
            Link::default(),
            ReplicationReceiver,
            netcode,
            UdpIo::default(),
        );
        let entity = app.world_mut().spawn(client).id();
        app.world_mut().trigger(Connect { entity });
        app
    };
    Guests((0..options.clients).map(guest).collect())
}

fn main() {
    let contender = Contender { name: "lightyear", settings: &["exact"], has_messages: false };
    run(contender, server, clients);
}
