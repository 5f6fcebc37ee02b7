//! What a game can count on, over every transport and with both drivers: real sockets, deadlines instead of sleeps.

#[path = "../common/mod.rs"]
mod common;

mod behaviours;
mod farewell;

/// One test for each behaviour, transport and driver.
macro_rules! over_every_way {
    ($($behaviour:ident,)*) => {
        $(mod $behaviour {
            over_every_way! { @ways $behaviour
                memory_polling Memory Polling,
                memory_dual_loop Memory DualLoop,
                udp_polling Udp Polling,
                udp_dual_loop Udp DualLoop,
                tcp_polling Tcp Polling,
                tcp_dual_loop Tcp DualLoop,
                websocket_polling WebSocket Polling,
                websocket_dual_loop WebSocket DualLoop,
            }
            #[cfg(feature = "webtransport")]
            over_every_way! { @ways $behaviour
                webtransport_polling WebTransport Polling,
                webtransport_dual_loop WebTransport DualLoop,
            }
        })*
    };
    (@ways $behaviour:ident $($test:ident $carrier:ident $driver:ident,)*) => {
        $(#[test]
        fn $test() {
            let (carrier, driver) = (crate::common::Carrier::$carrier, netloom::Driver::$driver);
            crate::behaviours::$behaviour(crate::common::Way { carrier, driver });
        })*
    };
}

over_every_way! {
    players_join_meet_and_leave,
    the_world_arrives_and_follows,
    the_own_walker_reacts_at_once_and_the_server_agrees,
    chat_reaches_everybody_unless_the_game_minds,
    calls_are_made_answered_and_refused,
    a_claim_is_granted_or_not,
    who_is_kicked_is_told_why,
    a_lost_connection_is_taken_up_again,
    a_change_of_address_costs_no_seat,
    a_server_that_stops_says_why,
    a_full_room_is_refused_with_a_reason,
    a_game_that_panics_ends_only_its_room,
}
