//! What a Netloom client sees, as a scene.

use netloom::client::Client;
use netloom::prelude::PlayerId;
use netloom::session::lobby::{LobbyState, Phase as Hall, Role};
use netloom::wire::{Alias, Micros};

use super::tracks::Tracks;
use super::{power_type, weapon_type};
use crate::classic::broadcast::kind;
use crate::classic::codec::{
    BossKind, BossSpawned, EntityPosition, GameInfo, GamePhase, GameStart, LevelInfo, LobbyPhase,
    LobbyStatus, PowerupSpawned,
};
use crate::classic::scene::Scene;
use crate::protocol::{
    Act, BOT, Capsule, Debris, Enemy, EnemyKind, NO_SEAT, Phase, Ship, Shot, Stage, UNITS_PER_METRE,
};
use netloom::replicated::Choice as _;

/// Ids of ships are those of their pilots, below this.
const BOT_IDS: u32 = 0x4000_0000;
/// Ids of everything else.
const OBJECT_IDS: u32 = 0x8000_0000;

/// Brings a scene up to what the client knows now.
pub fn refresh(client: &Client<Act>, tracks: &mut Tracks, scene: &mut Scene) {
    let (Some(player), Some(lobby)) = (client.player(), client.lobby_state()) else { return };
    scene.lobby = Some(status(lobby, player));
    if !scene.is_playing() {
        // The end is said until the lobby is back, which is now.
        scene.clear_game();
        return tracks.clear();
    }
    let is_seated = lobby.member(player).is_some_and(|member| member.role == Role::Player);
    scene.start = is_seated.then_some(GameStart { your_id: id_of(player) });
    let stage = client.all::<Stage>().next().map(|(_, stage)| stage);
    let elapsed = |stage: &Stage| u32::from(stage.seconds) * 1_000;
    scene.level = stage.as_ref().map(|stage| LevelInfo { level: stage.level, elapsed_ms: elapsed(stage) });
    let own = client.all::<Ship>().find(|(_, ship)| u32::from(ship.pilot) == id_of(player));
    scene.info = own.zip(stage).map(|((_, ship), stage)| info(&ship, &stage));
    let newest = client.objects().and_then(|objects| objects.newest());
    let Some((view, newest)) = client.view().zip(newest) else { return };
    Looking { client, tracks, scene, time: view.time_of(newest) }.look();
}

fn id_of(player: PlayerId) -> u32 {
    u32::from(player.0 as u16)
}

fn status(lobby: &LobbyState, player: PlayerId) -> LobbyStatus {
    LobbyStatus {
        players: count(lobby.players().count()),
        ready: count(lobby.ready_count()),
        capacity: count(lobby.players_max),
        minimum: count(lobby.players_min),
        phase: match lobby.phase {
            Hall::Waiting => LobbyPhase::Waiting,
            Hall::Countdown { .. } => LobbyPhase::Countdown,
            Hall::Playing => LobbyPhase::Playing,
        },
        your_id: id_of(player),
        your_ready: lobby.member(player).is_some_and(|member| member.is_ready),
    }
}

/// A lobby has at most 64 of anything.
fn count(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn info(ship: &Ship, stage: &Stage) -> GameInfo {
    GameInfo {
        score: ship.score,
        lives: ship.lives,
        level: stage.level,
        wave: stage.wave,
        phase: match stage.phase {
            Phase::Waves => GamePhase::Waves,
            Phase::Boss => GamePhase::Boss,
            Phase::Cleared => GamePhase::Cleared,
            Phase::Lost => GamePhase::Lost,
            Phase::Won => GamePhase::Won,
        },
        shield: ship.shield,
        thrusters: ship.thrusters,
        drone: ship.drone,
        weapon: weapon_type(ship.weapon.index() as u8),
        weapon_level: ship.weapon_level,
        ammo: ship.ammo,
    }
}

/// A look at everything that has a place.
struct Looking<'a> {
    client: &'a Client<Act>,
    tracks: &'a mut Tracks,
    scene: &'a mut Scene,
    /// Of what is looked at.
    time: Micros,
}

impl Looking<'_> {
    fn look(mut self) {
        self.scene.entities.clear();
        self.scene.capsules.clear();
        self.scene.boss = None;
        let client = self.client;
        // Ships that are down are nowhere.
        for (_, ship) in client.all::<Ship>().filter(|(_, ship)| ship.down == 0 && ship.lives > 0) {
            let id = if ship.pilot == BOT { BOT_IDS + u32::from(ship.seat) } else { ship.pilot.into() };
            self.add(id, ship.at, kind::PLAYER);
        }
        for (alias, enemy) in client.all::<Enemy>() {
            let boss = match enemy.kind {
                EnemyKind::Warden => Some(BossKind::Warden),
                EnemyKind::Leviathan => Some(BossKind::Leviathan),
                _ => None,
            };
            let id = object_id(alias);
            self.scene.boss = boss.map(|kind| BossSpawned { id, kind }).or(self.scene.boss);
            self.add(id, enemy.at, if boss.is_some() { kind::BOSS } else { kind::ENEMY });
        }
        for (alias, shot) in client.all::<Shot>() {
            let kind = if shot.seat == NO_SEAT { kind::ENEMY_SHOT } else { kind::SHOT };
            self.add(object_id(alias), shot.at, kind);
        }
        for (alias, capsule) in client.all::<Capsule>() {
            let id = object_id(alias);
            let [x, y] = units(capsule.at);
            let kind = power_type(capsule.power.index() as u8).code();
            self.scene.capsules.push(PowerupSpawned { id, x, y, kind });
            self.add(id, capsule.at, kind::CAPSULE);
        }
        for (alias, debris) in client.all::<Debris>() {
            self.add(object_id(alias), debris.at, kind::DEBRIS);
        }
        self.tracks.prune();
    }

    fn add(&mut self, id: u32, metres: [f32; 2], kind: u8) {
        let [x, y] = units(metres);
        let [vx, vy] = self.tracks.follow(id, [x, y], self.time);
        self.scene.entities.push(EntityPosition { id, x, y, vx, vy, kind });
    }
}

fn object_id(alias: Alias) -> u32 {
    OBJECT_IDS | alias.to_script_int()
}

/// Metres as units, which are whole.
fn units(metres: [f32; 2]) -> [f32; 2] {
    metres.map(|metres| (metres * UNITS_PER_METRE).round())
}
