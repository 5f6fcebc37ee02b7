//! What an endpoint is built from. A wrong value is an error at construction that names field, value and range.

use netloom_wire::Micros;

use crate::limits::{CHANNELS_MAX, DATAGRAM_MAX, FRAGMENT_BYTES, MTU_MIN, PEERS_MAX, RELIABLE_WINDOW};
use crate::pacing::RateConfig;

/// A configuration value outside its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} = {value} is not allowed: use {allowed}")]
pub struct ConfigError {
    /// The field, as written in the configuration.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What would be accepted.
    pub allowed: &'static str,
}

impl ConfigError {
    pub(crate) fn new(field: &'static str, value: impl ToString, allowed: &'static str) -> ConfigError {
        ConfigError { field, value: value.to_string(), allowed }
    }
}

/// Whether packets are sealed with ChaCha20-Poly1305.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Never: a CRC32C guards against damage, nothing guards against an attacker on the path.
    Off,
    /// When the other side can; plain otherwise.
    Optional,
    /// Always: a peer that cannot is refused, and nothing can talk this side down.
    #[default]
    Required,
}

/// How a channel delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// Reliable and ordered, packed ahead of everything else: handshakes of the layers above, ownership, control.
    Priority,
    /// Reliable and ordered.
    Ordered,
    /// Reliable, delivered as it arrives.
    Unordered,
    /// Delivered at most once, or not at all.
    Unreliable,
    /// Unreliable, and nothing older than what was already delivered; an unsent message is replaced by a newer one.
    Sequenced,
}

impl ChannelKind {
    /// Whether messages are resent until they arrive.
    pub const fn is_reliable(self) -> bool {
        matches!(self, ChannelKind::Priority | ChannelKind::Ordered | ChannelKind::Unordered)
    }

    /// Whether messages of a reliable channel wait for the ones before them.
    pub const fn is_ordered(self) -> bool {
        matches!(self, ChannelKind::Priority | ChannelKind::Ordered)
    }

    const fn code(self) -> u8 {
        match self {
            ChannelKind::Priority => 0,
            ChannelKind::Ordered => 1,
            ChannelKind::Unordered => 2,
            ChannelKind::Unreliable => 3,
            ChannelKind::Sequenced => 4,
        }
    }
}

/// One channel. Both sides need the same kinds in the same order: the handshake compares a hash of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelConfig {
    /// How it delivers.
    pub kind: ChannelKind,
    /// The largest message, in bytes.
    pub message_bytes_max: usize,
    /// Bytes that may wait to be sent or acknowledged; beyond it `send` says `Full` (F's `MaxPendingBytes`).
    pub pending_bytes_max: usize,
    /// Bytes that may wait for missing predecessors or fragments on the receiving side.
    pub receive_bytes_max: usize,
}

impl ChannelConfig {
    /// A channel of this kind with default limits: messages to 64 KiB, 1 MiB each way (unreliable kinds 256 KiB).
    pub const fn new(kind: ChannelKind) -> ChannelConfig {
        let bytes = if kind.is_reliable() { 1 << 20 } else { 256 << 10 };
        ChannelConfig {
            kind,
            message_bytes_max: if kind.is_reliable() { 64 << 10 } else { 32 << 10 },
            pending_bytes_max: bytes,
            receive_bytes_max: bytes,
        }
    }
}

/// What is repeated so that a lost packet does not cost a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redundancy {
    /// Nothing: a lost message waits for loss detection.
    Off,
    /// Each packet repeats the small reliable messages of the packet two before it.
    Copy,
    /// Each packet carries the XOR of the small reliable messages of the two packets before it: the same bytes as
    /// `Copy`, but a loss is repaired one packet sooner, and more of two losses close together.
    #[default]
    Parity,
    /// Each packet repeats the small reliable messages of both packets before it: half as many bytes again as `Copy`, for
    /// links that lose more than one packet in ten.
    Twice,
}

impl Redundancy {
    /// How often a small message follows the packet that it was first in.
    pub(crate) const fn repeats(self) -> u8 {
        match self {
            Redundancy::Off => 0,
            Redundancy::Copy | Redundancy::Parity => 1,
            Redundancy::Twice => 2,
        }
    }
}

/// Everything that an endpoint and its connections need to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Names the game and its version: datagrams of another protocol are dropped unanswered.
    pub protocol_id: u64,
    /// The layout of replicated data; a peer with another one is refused with a reason.
    pub schema_hash: u64,
    /// The code tables in use; a peer with another set is refused with a reason.
    pub table_id: u32,
    /// Whether packets are sealed.
    pub security: Security,
    /// The largest datagram to send, in bytes, headers and tag included.
    pub mtu: usize,
    /// The channels, by id.
    pub channels: Vec<ChannelConfig>,
    /// How long one connection attempt lasts.
    pub connect_timeout: Micros,
    /// Attempts after the first before giving up.
    pub connect_retries: u8,
    /// How often a handshake packet is repeated inside an attempt (F's `ConnectRetryMs`).
    pub handshake_resend: Micros,
    /// Silence after which a packet is sent so that the other side sees us alive.
    pub keepalive: Micros,
    /// Silence from the other side after which the connection is lost. Any valid packet counts.
    pub peer_timeout: Micros,
    /// How long to wait for the confirmation of a disconnect.
    pub disconnect_timeout: Micros,
    /// How long an acknowledgement may wait for data to travel with.
    pub ack_delay: Micros,
    /// The shortest time after which an unacknowledged message is sent again (F's `ResendTimeoutMs`).
    pub resend_timeout_min: Micros,
    /// The longest such time, back-off included.
    pub resend_timeout_max: Micros,
    /// How often one message is sent again before the connection counts as broken.
    pub resends_max: u16,
    /// What is repeated ahead of need.
    pub redundancy: Redundancy,
    /// How long the last packet waits for a successor that carries its redundancy before a packet is made for it.
    pub tail_delay: Micros,
    /// Bandwidth limits and congestion control.
    pub rate: RateConfig,
    /// Events that one connection hands out per tick.
    pub events_per_tick: usize,
    /// The same, in the first moments of a connection.
    pub events_initial: usize,
    /// How long those first moments last.
    pub initial_sync_window: Micros,
    /// Events that may wait per connection. When they do, packets are refused, and so resent later.
    pub events_queued_max: usize,
    /// Bytes of messages that may wait per connection, with the same effect.
    pub event_bytes_max: usize,
}

impl Default for Config {
    fn default() -> Config {
        use ChannelKind::*;
        Config {
            protocol_id: 0,
            schema_hash: 0,
            table_id: 0,
            security: Security::Required,
            mtu: DATAGRAM_MAX,
            channels: [Priority, Ordered, Unordered, Unreliable, Sequenced].map(ChannelConfig::new).to_vec(),
            connect_timeout: Micros::from_secs(5),
            connect_retries: 3,
            handshake_resend: Micros::from_millis(250),
            keepalive: Micros::from_secs(1),
            peer_timeout: Micros::from_secs(10),
            disconnect_timeout: Micros::from_secs(2),
            ack_delay: Micros::from_millis(15),
            resend_timeout_min: Micros::from_millis(30),
            resend_timeout_max: Micros::from_secs(1),
            resends_max: 64,
            redundancy: Redundancy::Parity,
            tail_delay: Micros::from_millis(20),
            rate: RateConfig::default(),
            events_per_tick: 64,
            events_initial: 512,
            initial_sync_window: Micros::from_secs(2),
            events_queued_max: 1_024,
            event_bytes_max: 4 << 20,
        }
    }
}

/// What a listening endpoint needs on top of [`Config`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenConfig {
    /// Peers at once, connecting ones included.
    pub peers_max: usize,
    /// Peers that proved their address but have not confirmed their keys yet. Others wait: their requests are dropped, and they
    /// ask again.
    pub peers_connecting_max: usize,
    /// Connect requests answered per second and address (IPv6: per /64) before proof of address.
    pub unproven_per_address_per_second: u32,
    /// Connect requests answered per second in total before proof of address.
    pub unproven_per_second: u32,
    /// Proven handshakes per second in total: each costs one key agreement.
    pub handshakes_per_second: u32,
    /// How long the seat of a lost connection can be taken up again.
    pub resume_window: Micros,
}

impl Default for ListenConfig {
    fn default() -> ListenConfig {
        ListenConfig {
            peers_max: 64,
            peers_connecting_max: 64,
            unproven_per_address_per_second: 64,
            unproven_per_second: 2_000,
            handshakes_per_second: 500,
            resume_window: Micros::from_secs(60),
        }
    }
}

/// Fails with a [`ConfigError`] unless `value` lies in the range.
fn within<T: PartialOrd + Copy + std::fmt::Debug>(
    field: &'static str,
    value: T,
    range: std::ops::RangeInclusive<T>,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(ConfigError::new(field, format!("{value:?}"), allowed)),
    }
}

impl Config {
    /// Checks every field.
    pub fn check(&self) -> Result<(), ConfigError> {
        let ms = Micros::from_millis;
        let s = Micros::from_secs;
        within("mtu", self.mtu, MTU_MIN..=DATAGRAM_MAX, "1000 to 1200 bytes")?;
        within("channels", self.channels.len(), 1..=CHANNELS_MAX, "1 to 15 channels")?;
        for channel in &self.channels {
            channel.check()?;
        }
        within("connect_timeout", self.connect_timeout, ms(100)..=s(60), "0.1 to 60 s")?;
        within(
            "handshake_resend",
            self.handshake_resend,
            ms(20)..=self.connect_timeout,
            "20 ms to connect_timeout",
        )?;
        within("keepalive", self.keepalive, ms(50)..=s(60), "0.05 to 60 s")?;
        within("peer_timeout", self.peer_timeout, ms(200)..=s(600), "0.2 to 600 s")?;
        if self.peer_timeout < self.keepalive + self.keepalive {
            return Err(ConfigError::new(
                "peer_timeout",
                format!("{:?}", self.peer_timeout),
                "at least 2 × keepalive",
            ));
        }
        within("disconnect_timeout", self.disconnect_timeout, ms(50)..=s(60), "0.05 to 60 s")?;
        within("ack_delay", self.ack_delay, ms(0)..=ms(200), "0 to 200 ms")?;
        within("resend_timeout_min", self.resend_timeout_min, ms(5)..=s(10), "5 ms to 10 s")?;
        within(
            "resend_timeout_max",
            self.resend_timeout_max,
            self.resend_timeout_min..=s(60),
            "resend_timeout_min to 60 s",
        )?;
        within("resends_max", self.resends_max, 1..=10_000, "1 to 10000")?;
        within("tail_delay", self.tail_delay, ms(1)..=s(1), "1 ms to 1 s")?;
        within("events_per_tick", self.events_per_tick, 1..=65_536, "1 to 65536")?;
        within(
            "events_initial",
            self.events_initial,
            self.events_per_tick..=65_536,
            "events_per_tick to 65536",
        )?;
        within("initial_sync_window", self.initial_sync_window, ms(0)..=s(60), "0 to 60 s")?;
        within(
            "events_queued_max",
            self.events_queued_max,
            self.events_initial.max(512)..=1 << 20,
            "the larger of 512 and events_initial, to 1048576",
        )?;
        within("event_bytes_max", self.event_bytes_max, 1 << 16..=1 << 30, "64 KiB to 1 GiB")?;
        self.rate.check()
    }

    /// What both sides must share about the layout of messages: the schema and the kinds of the channels.
    pub(crate) fn layout_hash(&self) -> u64 {
        // FNV-1a, as for names; written out because only its definition in the standard matters here.
        let kinds = self.channels.iter().map(|channel| channel.kind.code());
        self.schema_hash.to_le_bytes().into_iter().chain(kinds).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

impl ChannelConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let fragments = match self.kind.is_reliable() {
            true => RELIABLE_WINDOW / 2,
            false => crate::limits::UNRELIABLE_FRAGMENTS_MAX,
        };
        let allowed = match self.kind.is_reliable() {
            true => "1 to 460800 bytes (512 fragments)",
            false => "1 to 57600 bytes (64 fragments)",
        };
        within("message_bytes_max", self.message_bytes_max, 1..=fragments * FRAGMENT_BYTES, allowed)?;
        let room = self.message_bytes_max..=1 << 30;
        within("pending_bytes_max", self.pending_bytes_max, room.clone(), "message_bytes_max to 1 GiB")?;
        within("receive_bytes_max", self.receive_bytes_max, room, "message_bytes_max to 1 GiB")
    }
}

impl ListenConfig {
    /// Checks every field.
    pub fn check(&self) -> Result<(), ConfigError> {
        within("peers_max", self.peers_max, 1..=PEERS_MAX, "1 to 65535")?;
        within("peers_connecting_max", self.peers_connecting_max, 1..=PEERS_MAX, "1 to 65535")?;
        let rate = 1..=10_000_000;
        within(
            "unproven_per_address_per_second",
            self.unproven_per_address_per_second,
            rate.clone(),
            "1 to 10000000",
        )?;
        within("unproven_per_second", self.unproven_per_second, rate.clone(), "1 to 10000000")?;
        within("handshakes_per_second", self.handshakes_per_second, rate, "1 to 10000000")?;
        within("resume_window", self.resume_window, Micros::ZERO..=Micros::from_secs(3_600), "0 to 3600 s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        Config::default().check().unwrap();
        ListenConfig::default().check().unwrap();
    }

    #[test]
    fn an_error_names_field_value_and_range() {
        let error = Config { mtu: 9_000, ..Config::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "mtu = 9000 is not allowed: use 1000 to 1200 bytes");
        let error = Config { channels: vec![], ..Config::default() }.check().unwrap_err();
        assert_eq!(error.field, "channels");
        let error = ListenConfig { peers_max: 0, ..ListenConfig::default() }.check().unwrap_err();
        assert_eq!((error.field, error.value.as_str()), ("peers_max", "0"));
    }

    #[test]
    fn a_channel_cannot_promise_more_than_it_can_hold() {
        let mut config = Config::default();
        config.channels[1].pending_bytes_max = 10;
        assert_eq!(config.check().unwrap_err().field, "pending_bytes_max");
    }

    #[test]
    fn the_layout_hash_sees_kinds_and_their_order() {
        let base = Config::default();
        let mut swapped = base.clone();
        swapped.channels.swap(1, 2);
        let other_schema = Config { schema_hash: 1, ..base.clone() };
        assert_ne!(base.layout_hash(), swapped.layout_hash());
        assert_ne!(base.layout_hash(), other_schema.layout_hash());
    }
}
