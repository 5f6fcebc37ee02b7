//! Names, teams, settings, chat, kicks, and too much of anything.

use netloom_replica::world::TeamId;

use super::*;

fn names(lobby: &Lobby) -> Vec<&str> {
    lobby.state().members.iter().map(|member| member.name.as_str()).collect()
}

#[test]
fn names_are_cleaned_and_the_same_name_gets_a_number() {
    let config = LobbyConfig { players_max: 8, ..LobbyConfig::default() };
    let mut lobby = Lobby::new(config).unwrap();
    let long = "x".repeat(32);
    let typed = ["Anna", "  an\u{202e}NA\n", "Anna", "Anna (2)", &long, &long];
    for (player, name) in typed.iter().enumerate() {
        lobby.join(OwnerId(player as u32), name, NOW).unwrap();
    }
    let cut = format!("{} (2)", "x".repeat(28));
    assert_eq!(names(&lobby), ["Anna", "anNA (2)", "Anna (3)", "Anna (2) (2)", &long, &cut]);
}

#[test]
fn a_name_that_is_none_too_long_or_taken_is_refused() {
    let config = LobbyConfig { duplicate_names: DuplicateNames::Refuse, ..LobbyConfig::default() };
    let mut lobby = lobby_of(1, config);
    let mut join = |name: &str| lobby.join(OwnerId(7), name, NOW);
    assert_eq!(join("\u{200b} \n"), Err(LobbyRefused::NameEmpty));
    assert_eq!(join(&"ä".repeat(33)), Err(LobbyRefused::NameTooLong));
    assert_eq!(join("PLAYER 0"), Err(LobbyRefused::NameTaken));
    assert_eq!(join(&"ä".repeat(32)), Ok(Role::Player));
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Rename("Player 0"), NOW), Ok(()), "one's own");
    let taken = "Ä".repeat(32);
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Rename(&taken), NOW), Err(LobbyRefused::NameTaken));
}

#[test]
fn players_are_spread_over_teams_and_choose_within_their_size() {
    let config = LobbyConfig { teams: 2, team_players_max: 2, ..LobbyConfig::default() };
    let mut lobby = lobby_of(3, config);
    let teams: Vec<u16> =
        lobby.state().players().filter_map(|member| member.team).map(|team| team.0).collect();
    assert_eq!(teams, [0, 1, 0]);
    let mut change = |player, team| lobby.handle(OwnerId(player), LobbyCommand::Team(TeamId(team)), NOW);
    assert_eq!(change(1, 0), Err(LobbyRefused::TeamFull));
    assert_eq!(change(2, 0), Ok(()), "there already");
    assert_eq!(change(2, 2), Err(LobbyRefused::UnknownTeam));
    assert_eq!(change(2, 1), Ok(()));
    assert_eq!(lobby.state().member(OwnerId(2)).unwrap().team, Some(TeamId(1)));
}

#[test]
fn only_the_host_changes_settings_and_only_to_what_they_can_be() {
    let rule = |key: &str, allowed: &[&str]| SettingRule {
        key: key.into(),
        value: "moon".into(),
        allowed: allowed.iter().map(|value| (*value).into()).collect(),
    };
    let settings = vec![rule("map", &["moon", "mars"]), rule("title", &[])];
    let mut lobby = lobby_of(2, LobbyConfig { settings, ..LobbyConfig::default() });
    let mut set =
        |player, key, value: &str| lobby.handle(OwnerId(player), LobbyCommand::Set { key, value }, NOW);
    assert_eq!(set(1, "map", "mars"), Err(LobbyRefused::NotHost));
    assert_eq!(set(0, "maps", "mars"), Err(LobbyRefused::UnknownSetting));
    assert_eq!(set(0, "map", "venus"), Err(LobbyRefused::SettingValue));
    assert_eq!(set(0, "title", "a\nb"), Err(LobbyRefused::SettingValue));
    assert_eq!(set(0, "title", &"x".repeat(65)), Err(LobbyRefused::SettingValue));
    assert_eq!(set(0, "map", "mars"), Ok(()));
    assert_eq!(lobby.state().setting("map"), Some("mars"));
    assert_eq!(lobby.set("title", "by the server", NOW), Ok(()));
}

#[test]
fn the_host_removes_others_and_everybody_learns_why() {
    let mut lobby = lobby_of(3, LobbyConfig::default());
    let mut kick = |by, player, reason: &str| {
        lobby.handle(OwnerId(by), LobbyCommand::Kick { player: OwnerId(player), reason }, NOW)
    };
    assert_eq!(kick(1, 2, "no"), Err(LobbyRefused::NotHost));
    assert_eq!(kick(0, 0, "no"), Err(LobbyRefused::KickSelf));
    assert_eq!(kick(0, 9, "no"), Err(LobbyRefused::UnknownPlayer));
    assert_eq!(kick(0, 2, &"x".repeat(101)), Err(LobbyRefused::TextTooLong));
    assert_eq!(kick(0, 2, "away\u{0}\nfor an hour"), Ok(()));
    let kicked = LobbyEvent::Kicked { player: OwnerId(2), reason: "away for an hour".into() };
    let told = [Recipient::Player(OwnerId(2)), Recipient::Everybody].map(|to| (to, kicked.clone()));
    assert_eq!(events(&mut lobby), told);
    assert_eq!(lobby.state().member(OwnerId(2)), None);
    assert_eq!(lobby.handle(OwnerId(2), LobbyCommand::Chat("hey"), NOW), Err(LobbyRefused::UnknownPlayer));
}

#[test]
fn chat_goes_to_everybody_or_to_the_team_cleaned_and_with_its_author() {
    let mut lobby = lobby_of(2, LobbyConfig { teams: 2, ..LobbyConfig::default() });
    let (long, too_long) = ("ä".repeat(500), "ä".repeat(501));
    let mut say = |command| lobby.handle(OwnerId(1), command, NOW);
    assert_eq!(say(LobbyCommand::Chat(" hello\nplayer 0: I give up ")), Ok(()));
    assert_eq!(say(LobbyCommand::TeamChat("left")), Ok(()));
    assert_eq!(say(LobbyCommand::Chat("\u{202e}\n")), Err(LobbyRefused::TextEmpty));
    assert_eq!(say(LobbyCommand::Chat(&too_long)), Err(LobbyRefused::TextTooLong));
    assert_eq!(say(LobbyCommand::Chat(&long)), Ok(()));
    lobby.say("the server restarts in a minute").unwrap();
    let chat = |from, team, text: &str| LobbyEvent::Chat { from, team, text: text.into() };
    let (author, team) = (Some(OwnerId(1)), TeamId(1));
    let told = [
        (Recipient::Everybody, chat(author, None, "hello player 0: I give up")),
        (Recipient::Team(team), chat(author, Some(team), "left")),
        (Recipient::Everybody, chat(author, None, &long)),
        (Recipient::Everybody, chat(None, None, "the server restarts in a minute")),
    ];
    assert_eq!(events(&mut lobby), told);
}

#[test]
fn there_is_no_team_chat_without_a_team() {
    let mut lobby = lobby_of(1, LobbyConfig::default());
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::TeamChat("hi"), NOW), Err(LobbyRefused::NoTeam));
}

#[test]
fn a_flood_of_chat_or_commands_is_refused_and_costs_nobody_else_anything() {
    let mut lobby = lobby_of(2, LobbyConfig::default());
    let mut flood = |command| (0..100).filter(|_| lobby.handle(OwnerId(0), command, NOW).is_ok()).count();
    assert_eq!(flood(LobbyCommand::Chat("hi")), 5);
    assert_eq!(flood(LobbyCommand::Ready(true)), 0, "the commands are used up as well");
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Chat("hi"), NOW), Err(LobbyRefused::TooOften));
    assert_eq!(lobby.handle(OwnerId(1), LobbyCommand::Chat("hi"), NOW), Ok(()));
    let later = NOW + Micros::from_secs(1);
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Chat("hi"), later), Ok(()));
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Chat("hi"), later), Err(LobbyRefused::ChatTooOften));
}

#[test]
fn a_lobby_that_nobody_polls_stops_taking_what_makes_events_and_begins_later() {
    let mut lobby = lobby_of(2, LobbyConfig { countdown: Micros::from_secs(1), ..LobbyConfig::default() });
    ready(&mut lobby, 0);
    ready(&mut lobby, 1);
    while lobby.say("hi").is_ok() {}
    assert_eq!(lobby.handle(OwnerId(0), LobbyCommand::Chat("hi"), NOW), Err(LobbyRefused::Busy));
    assert_eq!(lobby.join(OwnerId(8), "late", NOW), Err(LobbyRefused::Busy));
    let later = NOW + Micros::from_secs(2);
    lobby.update(later);
    assert!(matches!(lobby.state().phase, Phase::Countdown { .. }));
    assert_eq!(events(&mut lobby).len(), EVENTS_WAITING_MAX);
    lobby.update(later);
    assert_eq!(events(&mut lobby), started(&[0, 1]));
}
