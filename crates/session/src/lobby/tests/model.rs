//! Whatever players do, in whatever order: what must always be true.

use netloom_replica::world::TeamId;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Operation {
    Join(u32, String),
    Leave(u32),
    Command(u32, Vec<u8>),
    Kick(u32),
    Start,
    Restart,
    Wait(u64),
}

fn command_bytes() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |command: LobbyCommand<'_>| {
        let mut buffer = [0; LOBBY_COMMAND_BYTES_MAX];
        let length = command.write(&mut buffer).unwrap();
        buffer[..length].to_vec()
    };
    prop_oneof![
        4 => any::<bool>().prop_map(move |is_ready| bytes(LobbyCommand::Ready(is_ready))),
        1 => any::<bool>().prop_map(move |spectates| bytes(LobbyCommand::Spectate(spectates))),
        1 => (0u16..3).prop_map(move |team| bytes(LobbyCommand::Team(TeamId(team)))),
        1 => ".{0,40}".prop_map(move |name| bytes(LobbyCommand::Rename(&name))),
        1 => (0u32..8).prop_map(move |player| bytes(LobbyCommand::Kick { player: OwnerId(player), reason: "" })),
        1 => ".{0,20}".prop_map(move |text| bytes(LobbyCommand::Chat(&text))),
        1 => Just(bytes(LobbyCommand::Start)),
        1 => Just(bytes(LobbyCommand::Cancel)),
        1 => Just(bytes(LobbyCommand::Restart)),
    ]
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let player = 0u32..8;
    let operation = prop_oneof![
        4 => (player.clone(), "[Aa\u{202e} ]{0,34}").prop_map(|(player, name)| Operation::Join(player, name)),
        1 => player.clone().prop_map(Operation::Leave),
        8 => (player.clone(), command_bytes()).prop_map(|(player, bytes)| Operation::Command(player, bytes)),
        1 => player.prop_map(Operation::Kick),
        1 => Just(Operation::Start),
        1 => Just(Operation::Restart),
        2 => (0u64..3_000_000).prop_map(Operation::Wait),
    ];
    proptest::collection::vec(operation, 1..120)
}

fn config(start: StartRule, late_join: LateJoin, countdown_s: u64) -> LobbyConfig {
    LobbyConfig {
        players_max: 4,
        spectators_max: 2,
        teams: 2,
        team_players_max: 3,
        start,
        late_join,
        countdown: Micros::from_secs(countdown_s),
        ..LobbyConfig::default()
    }
}

fn check(lobby: &Lobby) {
    let state = lobby.state();
    let spectators = state.members.len() - state.players().count();
    assert!(state.players().count() <= 4 && spectators <= 2);
    assert_eq!(state.host, state.host.filter(|host| state.players().any(|member| member.player == *host)));
    assert_eq!(state.host.is_some(), state.players().count() > 0);
    for (place, member) in state.members.iter().enumerate() {
        assert!((1..=NAME_CHARS_MAX).contains(&member.name.chars().count()), "{:?}", member.name);
        let others = &state.members[..place];
        assert!(others.iter().all(|other| other.name.to_lowercase() != member.name.to_lowercase()));
        assert_eq!(member.team.is_some(), member.role == Role::Player);
        assert!(!member.is_ready || member.role == Role::Player);
    }
    for team in [0, 1].map(TeamId) {
        assert!(state.players().filter(|member| member.team == Some(team)).count() <= 3);
    }
    if let Phase::Countdown { .. } = state.phase {
        assert!(state.players().count() >= 2);
    }
    let mut buffer = vec![0; LOBBY_STATE_BYTES_MAX];
    let length = state.write(&mut buffer).unwrap();
    let read = LobbyState::read(&buffer[..length]).unwrap();
    assert_eq!(read.members, state.members);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn seats_names_teams_and_the_host_are_right_after_every_operation(
        operations in operations(),
        start in prop_oneof![Just(StartRule::AllReady), Just(StartRule::Host)],
        late_join in prop_oneof![Just(LateJoin::Spectate), Just(LateJoin::Play), Just(LateJoin::Refuse)],
        countdown_s in 0u64..2,
    ) {
        let mut lobby = Lobby::new(config(start, late_join, countdown_s)).unwrap();
        let mut now = NOW;
        for operation in operations {
            let before = lobby.state().clone();
            lobby.poll_state(now);
            let result = match operation {
                Operation::Join(player, name) => lobby.join(OwnerId(player), &name, now).map(|_| ()),
                Operation::Leave(player) => lobby.leave(OwnerId(player), now),
                Operation::Command(player, bytes) => {
                    lobby.handle(OwnerId(player), LobbyCommand::read(&bytes).unwrap(), now)
                }
                Operation::Kick(player) => lobby.kick(OwnerId(player), "", now),
                Operation::Start => lobby.start(now),
                Operation::Restart => lobby.restart(now),
                Operation::Wait(elapsed) => {
                    now += Micros(elapsed);
                    lobby.update(now);
                    Ok(())
                }
            };
            check(&lobby);
            if result.is_err() {
                prop_assert_eq!(lobby.poll_state(now), None, "what is refused changes nothing");
                prop_assert_eq!(&lobby.state().members, &before.members);
            }
            let mut told = events(&mut lobby);
            told.retain(|(_, event)| matches!(event, LobbyEvent::Started { .. }));
            let began = before.phase != Phase::Playing && lobby.state().phase == Phase::Playing;
            if began {
                let everybody: Vec<u32> = lobby.state().members.iter().map(|member| member.player.0).collect();
                prop_assert_eq!(told, started(&everybody), "each once, with its own id");
            }
        }
    }
}
