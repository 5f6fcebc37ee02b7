//! Configurations that cannot work are refused when an endpoint is built, by the name of the field.

mod common;

use common::*;
use netloom_proto::config::ChannelConfig;
use netloom_proto::{ChannelKind, Config, Endpoint, ListenConfig, Micros, RateConfig};

/// The field that a configuration is refused for.
fn refused_field(config: Config, listen: Option<ListenConfig>) -> &'static str {
    let error = Endpoint::new(config, listen, [0; 32]).expect_err("a refused configuration");
    assert!(!error.value.is_empty() && !error.allowed.is_empty());
    assert!(error.to_string().contains(error.field));
    error.field
}

#[test]
fn every_setting_out_of_range_is_named() {
    type Change = fn(&mut Config);
    let cases: [(&str, &[Change]); 20] = [
        ("mtu", &[|c| c.mtu = 999, |c| c.mtu = 1_201]),
        (
            "channels",
            &[|c| c.channels.clear(), |c| c.channels = vec![ChannelConfig::new(ChannelKind::Ordered); 16]],
        ),
        (
            "message_bytes_max",
            &[
                |c| c.channels[0].message_bytes_max = 0,
                |c| c.channels[0].message_bytes_max = 460_801,
                |c| c.channels[3].message_bytes_max = 57_601,
            ],
        ),
        (
            "pending_bytes_max",
            &[
                |c| c.channels[0].pending_bytes_max = 65_535,
                |c| c.channels[0].pending_bytes_max = (1 << 30) + 1,
            ],
        ),
        (
            "receive_bytes_max",
            &[|c| c.channels[0].receive_bytes_max = 65_535, |c| c.channels[0].receive_bytes_max = usize::MAX],
        ),
        ("connect_timeout", &[|c| c.connect_timeout = ms(99), |c| c.connect_timeout = secs(61)]),
        ("handshake_resend", &[|c| c.handshake_resend = ms(19), |c| c.handshake_resend = secs(6)]),
        ("keepalive", &[|c| c.keepalive = ms(49), |c| c.keepalive = secs(61)]),
        (
            "peer_timeout",
            &[|c| c.peer_timeout = ms(199), |c| c.peer_timeout = secs(601), |c| c.peer_timeout = ms(1_999)],
        ),
        ("disconnect_timeout", &[|c| c.disconnect_timeout = ms(49), |c| c.disconnect_timeout = secs(61)]),
        ("ack_delay", &[|c| c.ack_delay = ms(201), |c| c.ack_delay = Micros::MAX]),
        ("resend_timeout_min", &[|c| c.resend_timeout_min = ms(4), |c| c.resend_timeout_min = secs(11)]),
        ("resend_timeout_max", &[|c| c.resend_timeout_max = ms(29), |c| c.resend_timeout_max = secs(61)]),
        ("resends_max", &[|c| c.resends_max = 0, |c| c.resends_max = 10_001]),
        ("tail_delay", &[|c| c.tail_delay = Micros(999), |c| c.tail_delay = ms(1_001)]),
        ("events_per_tick", &[|c| c.events_per_tick = 0, |c| c.events_per_tick = 65_537]),
        ("events_initial", &[|c| c.events_initial = 63, |c| c.events_initial = 65_537]),
        ("initial_sync_window", &[|c| c.initial_sync_window = secs(61)]),
        ("events_queued_max", &[|c| c.events_queued_max = 511, |c| c.events_queued_max = (1 << 20) + 1]),
        (
            "bytes_per_second_max",
            &[|c| c.rate = RateConfig { bytes_per_second_max: 1_499, ..RateConfig::default() }],
        ),
    ];
    for (field, changes) in cases {
        for change in changes {
            let mut config = Config::default();
            change(&mut config);
            assert_eq!(refused_field(config, None), field);
        }
    }
}

#[test]
fn every_listen_setting_out_of_range_is_named() {
    type Change = fn(&mut ListenConfig);
    let cases: [(&str, &[Change]); 6] = [
        ("peers_max", &[|l| l.peers_max = 0, |l| l.peers_max = 65_536]),
        ("peers_connecting_max", &[|l| l.peers_connecting_max = 0, |l| l.peers_connecting_max = 65_536]),
        (
            "unproven_per_address_per_second",
            &[|l| l.unproven_per_address_per_second = 0, |l| l.unproven_per_address_per_second = 10_000_001],
        ),
        ("unproven_per_second", &[|l| l.unproven_per_second = 0, |l| l.unproven_per_second = 10_000_001]),
        (
            "handshakes_per_second",
            &[|l| l.handshakes_per_second = 0, |l| l.handshakes_per_second = 10_000_001],
        ),
        ("resume_window", &[|l| l.resume_window = secs(3_601)]),
    ];
    for (field, changes) in cases {
        for change in changes {
            let mut listen = ListenConfig::default();
            change(&mut listen);
            assert_eq!(refused_field(Config::default(), Some(listen)), field);
        }
    }
}
