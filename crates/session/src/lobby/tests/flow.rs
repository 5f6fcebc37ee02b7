//! From the first player to the second game.

use super::*;

#[test]
fn joining_and_readiness_show_in_the_state_once_per_tick() {
    let mut lobby = lobby_of(2, LobbyConfig::default());
    ready(&mut lobby, 1);
    let state = lobby.poll_state(NOW).unwrap();
    assert_eq!((state.players().count(), state.players_max, state.ready_count()), (2, 4, 1));
    assert_eq!(state.member(OwnerId(1)).unwrap().name, "player 1");
    assert_eq!(lobby.poll_state(NOW), None, "nothing new");
    ready(&mut lobby, 1);
    assert_eq!(lobby.poll_state(NOW), None, "said before");
}

#[test]
fn two_of_four_begin_when_both_are_ready_and_each_gets_its_own_id() {
    let mut lobby = lobby_of(2, LobbyConfig::default());
    ready(&mut lobby, 0);
    assert_eq!((lobby.state().phase, lobby.poll_event()), (Phase::Waiting, None));
    ready(&mut lobby, 1);
    assert_eq!(lobby.state().phase, Phase::Playing);
    assert_eq!(events(&mut lobby), started(&[0, 1]));
}

#[test]
fn one_who_is_ready_waits_for_a_second_but_not_alone_in_a_solo_game() {
    let mut lobby = lobby_of(1, LobbyConfig::default());
    ready(&mut lobby, 0);
    assert_eq!(lobby.state().phase, Phase::Waiting);
    let mut solo = lobby_of(1, LobbyConfig::solo());
    ready(&mut solo, 0);
    assert_eq!(events(&mut solo), started(&[0]));
}

#[test]
fn whoever_is_not_ready_holds_the_others_up_until_leaving() {
    let mut lobby = lobby_of(3, LobbyConfig::default());
    ready(&mut lobby, 0);
    ready(&mut lobby, 1);
    assert_eq!(lobby.state().phase, Phase::Waiting);
    lobby.leave(OwnerId(2), NOW).unwrap();
    assert_eq!(events(&mut lobby), started(&[0, 1]));
}

#[test]
fn a_countdown_ends_in_a_game_or_with_somebody_who_is_not_ready() {
    let countdown = Micros::from_secs(5);
    let mut lobby = lobby_of(2, LobbyConfig { countdown, ..LobbyConfig::default() });
    ready(&mut lobby, 0);
    ready(&mut lobby, 1);
    let later = NOW + Micros::from_secs(2);
    let left = Micros::from_secs(3);
    assert_eq!(lobby.poll_state(later).unwrap().phase, Phase::Countdown { left });
    lobby.handle(OwnerId(0), LobbyCommand::Ready(false), later).unwrap();
    lobby.update(NOW + Micros::from_secs(60));
    assert_eq!(lobby.state().phase, Phase::Waiting);

    ready(&mut lobby, 0);
    lobby.update(NOW + Micros(4_999_999));
    assert_eq!(lobby.poll_event(), None);
    lobby.join(OwnerId(9), "late", NOW).unwrap();
    assert_eq!(lobby.state().phase, Phase::Waiting, "a newcomer is not ready");
    ready(&mut lobby, 9);
    lobby.update(NOW + countdown);
    assert_eq!(events(&mut lobby), started(&[0, 1, 9]));
}

#[test]
fn a_host_starts_and_cancels_where_the_host_decides() {
    let countdown = Micros::from_secs(5);
    let config = LobbyConfig { start: StartRule::Host, countdown, ..LobbyConfig::default() };
    let mut lobby = lobby_of(1, config);
    let mut command =
        |player, command, now| lobby.handle(OwnerId(player), command, now).map(|()| lobby.state().phase);
    assert_eq!(command(0, LobbyCommand::Start, NOW), Err(LobbyRefused::TooFew));
    assert_eq!(command(0, LobbyCommand::Cancel, NOW), Err(LobbyRefused::NoCountdown));
    lobby.join(OwnerId(1), "second", NOW).unwrap();
    let mut command =
        |player, command, now| lobby.handle(OwnerId(player), command, now).map(|()| lobby.state().phase);
    assert_eq!(command(1, LobbyCommand::Start, NOW), Err(LobbyRefused::NotHost));
    assert_eq!(command(0, LobbyCommand::Start, NOW), Ok(Phase::Countdown { left: countdown }));
    assert!(matches!(command(1, LobbyCommand::Ready(false), NOW), Ok(Phase::Countdown { .. })));
    assert_eq!(command(0, LobbyCommand::Cancel, NOW), Ok(Phase::Waiting));
    assert!(command(0, LobbyCommand::Start, NOW).is_ok());
    lobby.update(NOW + countdown);
    assert_eq!(events(&mut lobby), started(&[0, 1]));
}

#[test]
fn a_cancelled_countdown_of_all_ready_players_does_not_begin_again_by_itself() {
    let mut lobby = lobby_of(2, LobbyConfig { countdown: Micros::from_secs(5), ..LobbyConfig::default() });
    ready(&mut lobby, 0);
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Start, NOW), Err(LobbyRefused::NotReady));
    ready(&mut lobby, 1);
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Start, NOW), Ok(()), "it is about to");
    lobby.handle(OwnerId(0), LobbyCommand::Cancel, NOW).unwrap();
    lobby.update(NOW + Micros::from_secs(60));
    assert_eq!((lobby.state().phase, lobby.state().ready_count()), (Phase::Waiting, 1));
}

#[test]
fn an_ordered_countdown_ends_when_too_few_are_left() {
    let mut lobby = lobby_of(2, LobbyConfig { countdown: Micros::from_secs(5), ..LobbyConfig::default() });
    lobby.start(NOW).unwrap();
    lobby.leave(OwnerId(1), NOW).unwrap();
    lobby.update(NOW + Micros::from_secs(60));
    assert_eq!((lobby.state().phase, lobby.poll_event()), (Phase::Waiting, None));
    assert_eq!(lobby.start(NOW), Err(LobbyRefused::TooFew));
}

#[test]
fn who_finds_no_seat_watches_and_who_finds_no_place_is_refused() {
    let config = LobbyConfig { players_max: 2, spectators_max: 1, ..LobbyConfig::default() };
    let mut lobby = lobby_of(2, config);
    assert_eq!(lobby.join(OwnerId(2), "third", NOW), Ok(Role::Spectator));
    assert_eq!(lobby.join(OwnerId(3), "fourth", NOW), Err(LobbyRefused::Full));
    assert_eq!(lobby.join(OwnerId(2), "third", NOW), Err(LobbyRefused::AlreadyHere));
    assert_eq!(lobby.handle(OwnerId(2), LobbyCommand::Ready(true), NOW), Err(LobbyRefused::Spectator));
    assert_eq!(lobby.handle(OwnerId(2), LobbyCommand::Spectate(false), NOW), Err(LobbyRefused::Full));
    assert_eq!(lobby.handle(OwnerId(1), LobbyCommand::Spectate(true), NOW), Err(LobbyRefused::NoSpectators));
    lobby.leave(OwnerId(0), NOW).unwrap();
    assert_eq!(lobby.handle(OwnerId(2), LobbyCommand::Spectate(false), NOW), Ok(()));
    assert_eq!(lobby.state().players().count(), 2);
    ready(&mut lobby, 1);
    ready(&mut lobby, 2);
    assert_eq!(events(&mut lobby), started(&[1, 2]));
}

#[test]
fn latecomers_watch_play_or_stay_outside_as_the_lobby_is_set() {
    let late = |late_join| {
        let mut lobby = game_of(2, LobbyConfig { late_join, ..LobbyConfig::default() });
        (lobby.join(OwnerId(5), "late", NOW), events(&mut lobby))
    };
    assert_eq!(late(LateJoin::Spectate), (Ok(Role::Spectator), started(&[5])));
    assert_eq!(late(LateJoin::Play), (Ok(Role::Player), started(&[5])));
    assert_eq!(late(LateJoin::Refuse), (Err(LobbyRefused::InGame), vec![]));
}

#[test]
fn a_restart_keeps_everybody_and_seats_who_waited() {
    let config = LobbyConfig { players_max: 3, ..LobbyConfig::default() };
    let mut lobby = game_of(2, config);
    for late in [5, 6] {
        assert_eq!(lobby.join(OwnerId(late), "late", NOW), Ok(Role::Spectator));
    }
    events(&mut lobby);
    assert_eq!(lobby.handle(OwnerId(1), LobbyCommand::Restart, NOW), Err(LobbyRefused::NotHost));
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Restart, NOW), Ok(()));
    assert_eq!(events(&mut lobby), [(Recipient::Everybody, LobbyEvent::Stopped)]);
    let roles: Vec<Role> = lobby.state().members.iter().map(|member| member.role).collect();
    assert_eq!(roles, [Role::Player, Role::Player, Role::Player, Role::Spectator]);
    assert_eq!((lobby.state().phase, lobby.state().ready_count()), (Phase::Waiting, 0));
    assert_eq!(lobby.restart(NOW), Err(LobbyRefused::NotInGame));
    [0, 1, 5].iter().for_each(|player| ready(&mut lobby, *player));
    assert_eq!(events(&mut lobby), started(&[0, 1, 5, 6]), "who watches is told as well");
}

#[test]
fn who_chose_to_watch_is_not_seated_by_a_restart() {
    let mut lobby = lobby_of(3, LobbyConfig::default());
    lobby.handle(OwnerId(2), LobbyCommand::Spectate(true), NOW).unwrap();
    lobby.start(NOW).unwrap();
    lobby.restart(NOW).unwrap();
    assert_eq!(lobby.state().member(OwnerId(2)).unwrap().role, Role::Spectator);
}

#[test]
fn the_host_is_the_first_player_and_then_the_next() {
    let mut lobby = lobby_of(3, LobbyConfig::default());
    assert_eq!(lobby.state().host, Some(OwnerId(0)));
    lobby.leave(OwnerId(0), NOW).unwrap();
    assert_eq!(lobby.state().host, Some(OwnerId(1)));
    lobby.handle(OwnerId(1), LobbyCommand::Spectate(true), NOW).unwrap();
    assert_eq!(lobby.state().host, Some(OwnerId(2)));
    lobby.leave(OwnerId(2), NOW).unwrap();
    assert_eq!(lobby.state().host, None, "spectators host nothing");
    let served = lobby_of(2, LobbyConfig { host: HostRule::Server, ..LobbyConfig::default() });
    assert_eq!(served.state().host, None);
}

#[test]
fn a_lobby_that_everybody_left_is_as_new() {
    let setting = SettingRule { key: "map".into(), value: "moon".into(), allowed: vec![] };
    let mut lobby = lobby_of(2, LobbyConfig { settings: vec![setting], ..LobbyConfig::default() });
    lobby.handle(OwnerId(0), LobbyCommand::Set { key: "map", value: "mars" }, NOW).unwrap();
    lobby.start(NOW).unwrap();
    (0..2).for_each(|player| lobby.leave(OwnerId(player), NOW).unwrap());
    assert_eq!((lobby.state().phase, lobby.state().setting("map")), (Phase::Waiting, Some("moon")));
    assert_eq!(lobby.leave(OwnerId(0), NOW), Err(LobbyRefused::UnknownPlayer));
}

#[test]
fn nothing_but_chat_and_kicks_changes_a_game() {
    let mut lobby = game_of(2, LobbyConfig { teams: 2, ..LobbyConfig::default() });
    let commands = [
        LobbyCommand::Ready(false),
        LobbyCommand::Team(netloom_replica::world::TeamId(0)),
        LobbyCommand::Spectate(true),
        LobbyCommand::Rename("other"),
        LobbyCommand::Set { key: "map", value: "moon" },
        LobbyCommand::Start,
    ];
    for command in commands {
        assert_eq!(lobby.handle(OwnerId(0), command, NOW), Err(LobbyRefused::InGame), "{command:?}");
    }
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Chat("hi"), NOW), Ok(()));
    assert_eq!(lobby.kick(OwnerId(1), "", NOW), Ok(()));
}
