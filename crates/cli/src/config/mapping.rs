//! From settings to what servers, rooms and clients are built from. They were checked, so that numbers fit.

use netloom::prelude::*;
use netloom::replica::client::PredictConfig;
use netloom::replica::server::Heartbeat;
use netloom::session::lobby::{self, DuplicateNames};
use netloom::transport::WebSocketConfig;
#[cfg(feature = "webtransport")]
use netloom::webtransport::Certificates;
use netloom::{Address, ClientBuilder, Scheme};
use netloom_proto::Security;
use tracing_subscriber::filter::LevelFilter;

use super::Config;
use crate::games;

/// Frames a second that a correction is spread over.
const BLENDS_PER_SECOND: f64 = 60.0;

/// The largest divisor of a rate that is not above another.
fn divisor(of: u32, at_most: u32) -> u32 {
    (1..=at_most).rev().find(|rate| of.is_multiple_of(*rate)).unwrap_or(1)
}

fn seconds(value: f64) -> Micros {
    Micros((value * 1e6) as u64)
}

impl Config {
    /// The profile of rooms: the game's own, if none is set.
    fn profile(&self) -> Profile {
        let of_game = || games::find(&self.server.game).map(|game| game.profile).unwrap_or_default();
        Profile::from_name(&self.room.profile).unwrap_or_else(of_game)
    }

    /// Players of a room: as many as the game is made for, if nothing is set.
    fn players_max(&self) -> usize {
        match (self.room.max_clients, games::find(&self.server.game)) {
            (0, Ok(game)) => game.limits.players,
            (set, _) => set.max(1) as usize,
        }
    }

    /// Where to listen.
    pub fn addresses(&self) -> Result<Vec<Address>, String> {
        let server = &self.server;
        let parse = |text: &String| text.parse::<Address>().map_err(|error| error.to_string());
        let mut addresses = match &server.bind[..] {
            [] => {
                let (host, port) = (server.address.clone(), server.port as u16);
                vec![Address { scheme: Scheme::Udp, host, port }]
            }
            bind => bind.iter().map(parse).collect::<Result<_, _>>()?,
        };
        for (text, scheme) in
            [(&server.http, Scheme::WebSocket), (&server.webtransport, Scheme::WebTransport)]
        {
            if !text.is_empty() {
                addresses.push(Address { scheme, ..parse(text)? });
            }
        }
        Ok(addresses)
    }

    /// What WebTransport shows.
    #[cfg(feature = "webtransport")]
    pub fn certificates(&self) -> Result<Certificates, String> {
        let server = &self.server;
        let certificates = match (&*server.certificate, &*server.key) {
            ("", "") => Certificates::self_signed(&["localhost", "127.0.0.1", "::1"]),
            (certificate, key) => Certificates::from_files(certificate.as_ref(), key.as_ref()),
        };
        certificates.map_err(|error| error.to_string())
    }

    /// What clients of this command are built from.
    pub fn client_builder(&self, config: ClientConfig) -> ClientBuilder {
        let builder = ClientBuilder::default().config(config);
        #[cfg(feature = "webtransport")]
        if let Ok(hash) = self.client.certificate_hash.parse() {
            return builder.trust(netloom::webtransport::Trust::Hashes(vec![hash]));
        }
        builder
    }

    /// How transports are driven.
    pub fn driver(&self) -> Driver {
        if self.server.driver == "dual" { Driver::DualLoop } else { Driver::Polling }
    }

    /// What the server is built from.
    pub fn server_config(&self) -> ServerConfig {
        let mut config = ServerConfig::for_profile(self.profile());
        self.apply_connection(&mut config.connection);
        let (rooms, room, connection) = (self.server.rooms, &self.room, &self.connection);
        let seats = rooms.saturating_mul((self.players_max() as i64).saturating_add(room.max_spectators));
        // Whoever is refused a seat is told so over a connection: there must be one to spare.
        config.listen.peers_max = seats.saturating_add(16).min(65_535) as usize;
        config.listen.unproven_per_address_per_second = connection.connects_per_address as u32;
        config.listen.resume_window = seconds(connection.resume_window);
        config.bytes_per_second_total = connection.bandwidth_total_kbps as u64 * 1_024;
        config
    }

    fn apply_connection(&self, config: &mut netloom_proto::Config) {
        let connection = &self.connection;
        config.security = match &*connection.encryption {
            "off" => Security::Off,
            "required" => Security::Required,
            _ => Security::Optional,
        };
        config.mtu = connection.mtu as usize;
        config.connect_timeout = seconds(connection.connect_timeout);
        config.connect_retries = connection.max_retries as u8;
        config.peer_timeout = seconds(connection.peer_timeout);
        config.events_per_tick = connection.max_events_per_tick as usize;
        config.events_initial = connection.max_events_initial_sync as usize;
        config.events_queued_max = config.events_queued_max.max(config.events_initial);
        config.initial_sync_window = seconds(connection.initial_sync_window);
        let rate = &mut config.rate;
        rate.bytes_per_second_max = connection.bandwidth_budget_kbps as u64 * 1_024;
        rate.bytes_per_second_initial = rate.bytes_per_second_initial.min(rate.bytes_per_second_max);
        rate.bytes_per_second_min = rate.bytes_per_second_min.min(rate.bytes_per_second_max);
    }

    /// What a room is built from, counted from 0. Its game furnishes it, and settings go before that.
    pub fn room_config(&self, number: i64, furnish: impl FnOnce(&mut RoomConfig)) -> RoomConfig {
        let (room, connection, replication) = (&self.room, &self.connection, &self.replication);
        let name = match self.server.rooms {
            1 => room.name.clone(),
            _ => format!("{}-{}", room.name, number + 1),
        };
        let mut config = RoomConfig::for_profile(&name, self.profile());
        furnish(&mut config);
        config.players_max = self.players_max();
        config.spectators_max = room.max_spectators as usize;
        config.steps_per_second = room.tick_rate as u32;
        config.sends_per_second = match room.send_rate {
            // Another rate of steps may have no such divisor.
            0 => divisor(config.steps_per_second, config.sends_per_second),
            set => set as u32,
        };
        config.catch_up_steps = room.catch_up_ticks as u32;
        config.objects_max = room.max_objects as usize;
        config.duplicate_names =
            if room.duplicate_names == "refuse" { DuplicateNames::Refuse } else { DuplicateNames::Number };
        config.seed = (room.seed + number) as u64;
        config.health.rtt_max = seconds(connection.max_peer_rtt / 1e3);
        config.health.queue_packets_max = connection.max_peer_queue_depth as usize;
        config.health.silence_max = seconds(connection.peer_timeout);
        let ticks = replication.full_sync_interval as u32;
        config.replication.heartbeat = match config.replication.heartbeat {
            Heartbeat::Resend { .. } => Heartbeat::Resend { ticks },
            _ => Heartbeat::Digest { ticks },
        };
        config.replication.picking.distant_reserve = replication.min_distant_objects_per_tick as usize;
        config.replication.arena_bytes = replication.arena_size as usize;
        if let Some(lobby) = &mut config.lobby {
            lobby.players_max = config.players_max.min(lobby::PLAYERS_MAX);
            lobby.spectators_max = config.spectators_max.min(lobby::SPECTATORS_MAX);
            lobby.duplicate_names = config.duplicate_names;
        }
        config
    }

    /// What WebSockets are like.
    pub fn websocket(&self) -> WebSocketConfig {
        WebSocketConfig {
            allows_plain_on_network: self.connection.plain_websocket,
            ..WebSocketConfig::default()
        }
    }

    /// What a client is built from.
    pub fn client_config(&self, name: &str) -> ClientConfig {
        let mut config = ClientConfig { name: name.to_owned(), ..ClientConfig::default() };
        self.apply_connection(&mut config.connection);
        config.delay.delay = seconds(self.client.interp_delay);
        config
    }

    /// How the own object is predicted.
    pub fn predict_config(&self) -> PredictConfig {
        let client = &self.client;
        let small_metres = client.prediction_threshold;
        PredictConfig {
            small_metres,
            decay_per_second: (-(1.0 - client.correction_blend).ln() * BLENDS_PER_SECOND) as f32,
            silence: Micros::from_secs(10),
            ..PredictConfig::default()
        }
    }

    /// What is logged.
    pub fn log_level(&self) -> LevelFilter {
        self.log.level.parse().unwrap_or(LevelFilter::INFO)
    }
}
