//! Commands, events and states of a lobby.

use netloom_replica::world::{OwnerId, TeamId};
use netloom_session::lobby::{
    LOBBY_STATE_BYTES_MAX, LobbyCommand, LobbyEvent, LobbyRefused, LobbyState, Member, Phase, Role,
};
use netloom_wire::Micros;
use serde_json::{Value, json};

use super::{outcome, sorted_cases};
use crate::wire_vectors::file;

fn shown_command(command: &LobbyCommand<'_>) -> Value {
    match *command {
        LobbyCommand::Ready(is_ready) => json!({ "command": "ready", "is": is_ready }),
        LobbyCommand::Team(team) => json!({ "command": "team", "team": team.0 }),
        LobbyCommand::Spectate(spectates) => json!({ "command": "spectate", "is": spectates }),
        LobbyCommand::Rename(name) => json!({ "command": "rename", "text": name }),
        LobbyCommand::Set { key, value } => json!({ "command": "set", "key": key, "value": value }),
        LobbyCommand::Start => json!({ "command": "start" }),
        LobbyCommand::Cancel => json!({ "command": "cancel" }),
        LobbyCommand::Restart => json!({ "command": "restart" }),
        LobbyCommand::Kick { player, reason } => {
            json!({ "command": "kick", "player": player.0, "text": reason })
        }
        LobbyCommand::Chat(text) => json!({ "command": "chat", "text": text }),
        LobbyCommand::TeamChat(text) => json!({ "command": "team chat", "text": text }),
    }
}

pub fn commands() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        outcome(name, Value::Null, bytes, LobbyCommand::read(bytes).map(|command| shown_command(&command)))
    };
    let mut buffer = [0; LOBBY_STATE_BYTES_MAX];
    let good = [
        ("ready", LobbyCommand::Ready(true)),
        ("no longer ready", LobbyCommand::Ready(false)),
        ("team", LobbyCommand::Team(TeamId(300))),
        ("spectate", LobbyCommand::Spectate(true)),
        ("rename", LobbyCommand::Rename("Zoë")),
        ("set", LobbyCommand::Set { key: "map", value: "island" }),
        ("start", LobbyCommand::Start),
        ("cancel", LobbyCommand::Cancel),
        ("restart", LobbyCommand::Restart),
        ("kick", LobbyCommand::Kick { player: OwnerId(70_000), reason: "spam" }),
        ("chat", LobbyCommand::Chat("hello")),
        ("team chat", LobbyCommand::TeamChat("")),
    ];
    let good = good.iter().map(|(name, command)| {
        let length = command.write(&mut buffer).expect("a valid command");
        reads(name, &buffer[..length])
    });
    let good = good.collect();
    let text_2001 = [&[9, 0xd1, 0x0f][..], &[b'x'; 2_001]].concat();
    let key_33 = [&[4, 33][..], &[b'x'; 34]].concat();
    let bad: [(&str, &[u8]); 7] = [
        ("nothing", &[]),
        ("an unknown kind", &[11]),
        ("ready neither 0 nor 1", &[0, 2]),
        ("a byte after start", &[5, 0]),
        ("kick without a reason", &[8, 1, 0, 0, 0]),
        ("chat of 2,001 bytes", &text_2001),
        ("a key of 33 bytes", &key_33),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("Commands of a lobby: the rest of message 6.", sorted_cases(good, bad))
}

fn shown_event(event: &LobbyEvent) -> Value {
    match event {
        LobbyEvent::Started { your_id } => json!({ "event": "started", "player": your_id.0 }),
        LobbyEvent::Stopped => json!({ "event": "stopped" }),
        LobbyEvent::Kicked { player, reason } => {
            json!({ "event": "kicked", "player": player.0, "text": reason })
        }
        LobbyEvent::Chat { from, team, text } => json!({
            "event": "chat", "from": from.map(|player| player.0), "team": team.map(|team| team.0), "text": text,
        }),
        LobbyEvent::Refused(refused) => json!({ "event": "refused", "code": refused.code() }),
    }
}

pub fn events() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        outcome(name, Value::Null, bytes, LobbyEvent::read(bytes).map(|event| shown_event(&event)))
    };
    let mut buffer = [0; LOBBY_STATE_BYTES_MAX];
    let chat = |from: Option<u32>, team: Option<u16>, text: &str| LobbyEvent::Chat {
        from: from.map(OwnerId),
        team: team.map(TeamId),
        text: text.to_owned(),
    };
    let mut events = vec![
        ("started".to_owned(), LobbyEvent::Started { your_id: OwnerId(70_000) }),
        ("stopped".to_owned(), LobbyEvent::Stopped),
        ("kicked".to_owned(), LobbyEvent::Kicked { player: OwnerId(2), reason: "spam".to_owned() }),
        ("chat".to_owned(), chat(Some(2), None, "hello")),
        ("chat to a team".to_owned(), chat(Some(2), Some(300), "left")),
        ("chat of the server".to_owned(), chat(None, None, "welcome")),
        ("chat of the server to a team".to_owned(), chat(None, Some(1), "you lead")),
    ];
    for refused in LobbyRefused::ALL {
        events.push((format!("refused, code {}", refused.code()), LobbyEvent::Refused(*refused)));
    }
    let good = events.iter().map(|(name, event)| {
        let length = event.write(&mut buffer).expect("a valid event");
        reads(name, &buffer[..length])
    });
    let good = good.collect();
    let reason_401 = [&[2, 1, 0, 0, 0, 0x91, 0x03][..], &[b'x'; 401]].concat();
    let bad: [(&str, &[u8]); 7] = [
        ("nothing", &[]),
        ("an unknown kind", &[5]),
        ("chat with an unknown flag", &[3, 4, 1, 0, 0, 0, 0]),
        ("a reason of 401 bytes", &reason_401),
        ("refused with code 0", &[4, 0]),
        ("refused with code 26", &[4, 26]),
        ("a byte after stopped", &[1, 0]),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("Events of a lobby: message 72 after its type and 1.", sorted_cases(good, bad))
}

fn shown_state(state: &LobbyState) -> Value {
    let (phase, left) = match state.phase {
        Phase::Waiting => (0, None),
        Phase::Countdown { left } => (1, Some(left.0 / 1_000)),
        Phase::Playing => (2, None),
    };
    let shown_member = |member: &Member| {
        json!({
            "player": member.player.0,
            "watches": member.role == Role::Spectator,
            "ready": member.is_ready,
            "team": member.team.map(|team| team.0),
            "name": member.name,
        })
    };
    json!({
        "phase": phase,
        "left_ms": left,
        "host": state.host.map(|host| host.0),
        "seats": state.players_max,
        "needed": state.players_min,
        "teams": state.teams,
        "places_to_watch": state.spectators_max,
        "settings": state.settings,
        "members": state.members.iter().map(shown_member).collect::<Vec<_>>(),
    })
}

fn lobby_of_four() -> LobbyState {
    let member = |player: u32, name: &str, role: Role, team: Option<u16>, is_ready: bool| Member {
        player: OwnerId(player),
        name: name.to_owned(),
        role,
        team: team.map(TeamId),
        is_ready,
    };
    LobbyState {
        phase: Phase::Countdown { left: Micros::from_millis(2_500) },
        host: Some(OwnerId(3)),
        players_max: 4,
        players_min: 2,
        teams: 2,
        spectators_max: 64,
        settings: vec![("map".to_owned(), "island".to_owned()), ("lives".to_owned(), String::new())],
        members: vec![
            member(3, "Zoë", Role::Player, Some(0), true),
            member(70_000, "Anna", Role::Player, Some(1), true),
            member(5, "Ben", Role::Player, None, false),
            member(6, "李小龍", Role::Spectator, None, false),
        ],
    }
}

pub fn states() -> Value {
    let reads = |name: &str, bytes: &[u8]| {
        outcome(name, Value::Null, bytes, LobbyState::read(bytes).map(|state| shown_state(&state)))
    };
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    let four = lobby_of_four();
    let empty = LobbyState {
        phase: Phase::Waiting,
        host: None,
        teams: 0,
        settings: Vec::new(),
        members: Vec::new(),
        ..four.clone()
    };
    let playing = LobbyState { phase: Phase::Playing, ..four.clone() };
    let good = [("a countdown of four", four), ("an empty lobby", empty), ("in a game", playing)];
    let good = good.iter().map(|(name, state)| {
        let length = state.write(&mut buffer).expect("a valid state");
        reads(name, &buffer[..length])
    });
    let good = good.collect();
    let bad: [(&str, &[u8]); 10] = [
        ("nothing", &[]),
        ("an unknown phase", &[3, 0, 4, 2, 0, 0, 0, 0]),
        ("a host that is neither there nor not", &[0, 2, 4, 2, 0, 0, 0, 0]),
        ("65 seats", &[0, 0, 65, 2, 0, 0, 0, 0]),
        ("17 teams", &[0, 0, 4, 2, 17, 0, 0, 0]),
        ("33 settings", &[0, 0, 4, 2, 0, 0, 33, 0]),
        ("129 members", &[0, 0, 4, 2, 0, 0, 0, 129]),
        ("an unknown flag of a member", &[0, 0, 4, 2, 0, 0, 0, 1, 1, 0, 0, 0, 8, 0]),
        ("a team that is not there", &[0, 0, 4, 2, 2, 0, 0, 1, 1, 0, 0, 0, 4, 2, 0, 0]),
        ("a byte after it", &[0, 0, 4, 2, 0, 0, 0, 0, 0]),
    ];
    let bad = bad.iter().map(|(name, bytes)| reads(name, bytes)).collect();
    file("States of a lobby: message 72 after its type and 0.", sorted_cases(good, bad))
}
