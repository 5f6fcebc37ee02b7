//! What a server says beside where the seat is, and what that means here.

use std::collections::BTreeMap;

use netloom_wire::Micros;

use super::seat::Seat;
use super::{ClientEvent, Ending, OtherPlayer};
use crate::events::Events;
use crate::game::PlayerId;
use crate::lobby::{LobbyEvent, LobbyState};
use crate::message::{LobbyNews, ToClient};
use crate::validate::{Rejected, RejectedMessage};

/// Something else than a seat.
pub(super) fn handle_said(
    now: Micros,
    said: ToClient<'_>,
    seat: &mut Option<Seat>,
    others: &mut BTreeMap<PlayerId, OtherPlayer>,
    farewell: &mut Option<Ending>,
    events: &mut Events<ClientEvent>,
) {
    match said {
        ToClient::Refused { reason, text } => {
            *farewell = Some(Ending::Refused { reason, text: text.to_owned() });
        }
        ToClient::Notice { kind, text } => {
            if let Some(ending) = Ending::announced(kind, text) {
                *farewell = Some(ending);
            }
            events.push(ClientEvent::Notice { kind, text: text.to_owned() });
        }
        ToClient::Snapshot(snapshot) => {
            if let Some(seat) = seat {
                seat.handle_snapshot(now, snapshot);
            }
        }
        ToClient::Packed(packed) => {
            if let Some(seat) = seat {
                seat.handle_packed(now, packed);
            }
        }
        ToClient::Property(property) => {
            if let Some(seat) = seat {
                seat.handle_property(property);
            }
        }
        ToClient::Joined { player, is_spectator, name } => {
            let other = OtherPlayer { name: name.to_owned(), is_spectator };
            others.insert(PlayerId(player), other);
            events.push(ClientEvent::Joined { player: PlayerId(player) });
        }
        ToClient::Left { player } => {
            let other = others.remove(&PlayerId(player));
            let name = other.map(|other| other.name).unwrap_or_default();
            events.push(ClientEvent::Left { player: PlayerId(player), name });
        }
        ToClient::Claimed { object, is_granted } => {
            events.push(ClientEvent::Claimed { object, is_granted });
        }
        ToClient::Rejected(RejectedMessage { rejected, text }) => {
            let Rejected { step, reason } = rejected;
            let text = if text.is_empty() { reason.to_string() } else { text.to_owned() };
            events.push(ClientEvent::Rejected { step, reason, text });
        }
        ToClient::Lobby(LobbyNews::State, bytes) => {
            if let (Some(seat), Ok(state)) = (seat, LobbyState::read(bytes)) {
                seat.lobby = Some(state);
                events.push(ClientEvent::LobbyChanged);
            }
        }
        ToClient::Lobby(LobbyNews::Event, bytes) => {
            if let Ok(event) = LobbyEvent::read(bytes) {
                events.push(ClientEvent::Lobby(event));
            }
        }
        ToClient::Said { player, to_team, text } => {
            let player = (player != 0).then_some(PlayerId(player));
            events.push(ClientEvent::Said { player, to_team, text: text.to_owned() });
        }
        _ => {}
    }
}
