//! bevy_replicon over renet's netcode: two components per object, serialised by its default (postcard). Minimal plugins and
//! one thread, as a dedicated server has it.

#![forbid(unsafe_code)]

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_replicon_renet::netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication, ServerConfig,
};
use bevy_replicon_renet::renet::ConnectionConfig;
use bevy_replicon_renet::{RenetChannelsExt, RenetClient, RenetServer, RepliconRenetPlugins};
use peer_common::{Clients, Contender, Options, Server, State, Walk, run};
use peer_ecs::{Number, Position, Rotation, Walkers};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, SystemTime};

const PROTOCOL: u64 = 7;

fn app() -> App {
    let mut app = App::new();
    // Which ticks replicate is said by the harness.
    let server = ServerPlugin { tick_schedule: None, ..ServerPlugin::default() };
    app.add_plugins((MinimalPlugins, StatesPlugin, RepliconPlugins.set(server), RepliconRenetPlugins));
    app.replicate::<Number>().replicate::<Position>().replicate::<Rotation>();
    app
}

fn finish(app: &mut App) -> ConnectionConfig {
    app.finish();
    app.cleanup();
    let channels = app.world().resource::<RepliconChannels>();
    ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..ConnectionConfig::default()
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970")
}

struct Host {
    app: App,
    walkers: Walkers,
}

impl Server for Host {
    fn ready_count(&mut self) -> usize {
        let world = self.app.world_mut();
        world.query_filtered::<(), With<AuthorizedClient>>().iter(world).count()
    }

    fn write(&mut self, walk: &Walk) {
        self.walkers.write(self.app.world_mut(), walk);
    }

    fn tick(&mut self, _: &Walk, is_send_tick: bool) {
        if is_send_tick {
            self.app.world_mut().resource_mut::<ServerTick>().increment();
        }
        self.app.update();
    }
}

fn server(options: &Options) -> Host {
    let mut app = app();
    let connection = finish(&mut app);
    let config = ServerConfig {
        current_time: now(),
        max_clients: options.clients,
        protocol_id: PROTOCOL,
        public_addresses: vec![options.dial_address()],
        authentication: ServerAuthentication::Unsecure,
    };
    let socket = UdpSocket::bind(options.server_address()).expect("a free port");
    let transport = NetcodeServerTransport::new(config, socket).expect("a transport");
    app.insert_resource(RenetServer::new(connection)).insert_resource(transport);
    let walkers = Walkers::spawn(app.world_mut(), options.objects, || Replicated);
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
        let mut app = app();
        peer_ecs::count_updates(&mut app);
        let connection = finish(&mut app);
        let authentication = ClientAuthentication::Unsecure {
            protocol_id: PROTOCOL,
            client_id: number as u64 + 1,
            server_addr: options.dial_address(),
            user_data: None,
        };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let transport = NetcodeClientTransport::new(now(), authentication, socket).expect("a transport");
        app.insert_resource(RenetClient::new(connection)).insert_resource(transport);
        app
    };
    Guests((0..options.clients).map(guest).collect())
}

fn main() {
    let contender = Contender { name: "replicon", settings: &["exact"], has_messages: false };
    run(contender, server, clients);
}
