//! The game as a room runs it: seats, the lobby, bots, beams, and what players ask for.
//!
//! ```text
//!   lobby ──▶ begin ──▶ every step:  what each seat presses ─▶ rules ─▶ objects ─▶ beams, by what was seen ─▶ events ─▶ calls
//!     ▲                                                                                                         │
//!     └────────────── six seconds later ◀──────────────── nobody is left, or the last level is done ◀───────────┘
//! ```
//!
//! The rules decide what happens; this decides who presses which buttons, and who hears of it.

mod beams;
pub mod seats;
mod setup;
mod trigger;

use std::collections::BTreeSet;

use netloom::prelude::*;
use netloom::replica::server::input_queue::InputSource;
use netloom::replica::server::rewind::{HitModel, HitPart, ModelId, PartId, PastView, Shape};
use netloom::world_hash::{self, Recorder};

use crate::broadcast::entity::EntityBroadcaster;
use crate::broadcast::game::Beam;
use crate::broadcast::level::LevelBroadcaster;
use crate::broadcast::{game, lobby, power_up, weapon};
use crate::protocol::{Act, UNITS_PER_METRE, asks};
use crate::rules::{Event, HEIGHT, Levels, Refused, SAFE_STEPS, SEATS, STEPS_PER_SECOND, State, WIDTH, bot};
use seats::{Pilot, Seats};
use trigger::Trigger;

pub use setup::{BOTS, BOTS_MAX, LEVEL, Setup, SetupError};

/// How long the end of a game is shown.
const OVER_STEPS: u32 = 6 * STEPS_PER_SECOND;

/// R-TYPE, in a room.
#[derive(Debug)]
pub struct Rtype {
    levels: Levels,
    setup: Setup,
    play: Option<Play>,
    /// Players whose beams are judged by the present.
    uncompensated: BTreeSet<PlayerId>,
    silhouette: Option<ModelId>,
    hashes: Recorder,
}

/// A game that goes on.
#[derive(Debug)]
struct Play {
    state: State,
    seats: Seats,
    /// What each seat presses in this step, and what its player saw.
    pressed: [u8; SEATS],
    views: [Option<PastView>; SEATS],
    triggers: [Trigger; SEATS],
    entities: EntityBroadcaster,
    level: LevelBroadcaster,
    /// Steps until everybody is back in the lobby, once it is over.
    over: Option<u32>,
}

impl Rtype {
    /// The game with these levels.
    pub fn new(levels: Levels, setup: Setup) -> Result<Rtype, SetupError> {
        setup.check(&levels)?;
        Ok(Rtype {
            levels,
            setup,
            play: None,
            uncompensated: BTreeSet::new(),
            silhouette: None,
            hashes: Recorder::default(),
        })
    }

    /// Makes a room fit for the game: seats, rates, the lobby, the past. Everything else of it is as it was.
    pub fn furnish(&self, room: &mut RoomConfig) {
        self.setup.furnish(&self.levels, room);
    }
}

impl Game for Rtype {
    type Input = Act;

    fn start(&mut self, room: &mut Room) -> Result<(), GameError> {
        if let Some(rewind) = room.rewind() {
            // Only places are asked of the past, and what can be hit there is for the rules to say: any shape does.
            let shape = Shape::sphere([0.0; 3], 0.01)?;
            let model = HitModel::new(&[HitPart { part: PartId(0), shape }])?;
            self.silhouette = Some(rewind.add_model(model)?);
        }
        match room.lobby() {
            Some(_) => Ok(()),
            None => Err("the game begins and ends in a lobby: let `Rtype::furnish` make the room".into()),
        }
    }

    fn begin(&mut self, room: &mut Room) {
        let setting = |key| room.lobby().and_then(|lobby| setup::chosen(lobby, key));
        let level = setting(LEVEL).unwrap_or(self.setup.level);
        let bots = setting(BOTS).unwrap_or(self.setup.bots);
        let players = room.players().filter(|player| !player.is_spectator).map(|player| player.id);
        let seats = Seats::deal(players, bots.into());
        let mut state = State::new(&self.levels, level, room.random().bits() as u32);
        for seat in (0..SEATS).filter(|seat| seats.pilot(*seat) != Pilot::Nobody) {
            state.add_ship(seat);
        }
        let away = room.players().filter(|player| player.is_away()).map(|player| player.id);
        let mut play = Play {
            state,
            seats,
            pressed: [0; SEATS],
            views: [None; SEATS],
            triggers: Default::default(),
            entities: EntityBroadcaster::new(self.silhouette),
            level: LevelBroadcaster::default(),
            over: None,
        };
        away.for_each(|player| play.seats.set_away(player, true));
        self.play = Some(play);
    }

    fn finish(&mut self, room: &mut Room) {
        if let Some(mut play) = self.play.take() {
            play.entities.clear(room);
            play.level.clear(room);
        }
    }

    fn join(&mut self, room: &mut Room, player: PlayerId) {
        let middle = [WIDTH, HEIGHT].map(|units| units as f32 / UNITS_PER_METRE / 2.0);
        room.set_viewpoint(player, [middle[0], middle[1], 0.0]);
        let Some(play) = &mut self.play else { return };
        play.level.greet(player, &play.state, &self.levels, room);
        play.seat(room, player);
    }

    fn change_role(&mut self, room: &mut Room, player: PlayerId) {
        let Some(play) = &mut self.play else { return };
        match room.player(player).is_some_and(|player| !player.is_spectator) {
            true => play.seat(room, player),
            false => play.unseat(player),
        }
    }

    fn leave(&mut self, _: &mut Room, player: PlayerId) {
        self.uncompensated.remove(&player);
        if let Some(play) = &mut self.play {
            play.unseat(player);
        }
    }

    fn away(&mut self, room: &mut Room, player: PlayerId, is_away: bool) {
        let Some(play) = &mut self.play else { return };
        play.seats.set_away(player, is_away);
        if let Some(name) = room.player(player).map(|player| player.name.to_owned()) {
            lobby::broadcast_away(&name, is_away, room);
        }
        if !is_away {
            play.remind(room, player, &self.levels);
        }
    }

    /// Whatever is held is something that a hand can hold: what has no effect, for want of ammo or too early, is no mistake. Only who
    /// presses as no hand can is refused.
    fn input(&mut self, room: &mut Room, player: PlayerId, command: &Command<Act>) -> Result<(), Rejected> {
        if let Some(play) = &mut self.play
            && let Some(seat) = play.seats.flown_by(player)
        {
            // What was made up let go of everything for a step, which no hand did.
            if command.source == InputSource::Client {
                play.triggers[seat].handle(command.input.buttons, room.now())?;
            }
            (play.pressed[seat], play.views[seat]) = (command.input.buttons, command.view);
        }
        Ok(())
    }

    fn step(&mut self, room: &mut Room) {
        self.hashes.record(room);
        let Some(play) = &mut self.play else { return };
        play.press();
        play.state.step(&self.levels, &play.pressed);
        play.board(room);
        play.show(room);
    }

    fn judge(&mut self, room: &mut Room) {
        let Some(play) = &mut self.play else { return };
        play.judge_beams(room, &self.uncompensated);
        play.tell(room, &self.levels);
        (play.pressed, play.views) = ([0; SEATS], [None; SEATS]);
        if play.is_done()
            && let Err(refused) = room.end_game()
        {
            tracing::warn!(%refused, "the game does not end");
        }
    }

    fn rpc(&mut self, room: &mut Room, from: PlayerId, call: &Call<'_>) -> Result<(), CallRefused> {
        match call.name() {
            asks::CHOOSE_POWER => self.choose(room, from, call, State::choose_power),
            asks::CHOOSE_WEAPON => self.choose(room, from, call, State::choose_weapon),
            asks::LAG_COMPENSATION => {
                let (is_wanted,): (bool,) = call.args()?;
                match is_wanted {
                    true => self.uncompensated.remove(&from),
                    false => self.uncompensated.insert(from),
                };
                Ok(())
            }
            world_hash::ASK => self.hashes.answer(room, from, call),
            _ => Err(CallRefused::UNHANDLED),
        }
    }
}

impl Rtype {
    /// A player chooses something that the own ship was offered.
    fn choose(
        &mut self,
        room: &mut Room,
        from: PlayerId,
        call: &Call<'_>,
        choose: fn(&mut State, usize, u16, u8) -> Result<(), Refused>,
    ) -> Result<(), CallRefused> {
        let (offer, choice): (u16, u8) = call.args()?;
        let play = self.play.as_mut().ok_or(CallRefused::new("no game is going on"))?;
        let seat = play.seats.flown_by(from).ok_or(CallRefused::new("you have no ship"))?;
        choose(&mut play.state, seat, offer, choice)
            .map_err(|refused| CallRefused::new(refused.to_string()))?;
        play.tell(room, &self.levels);
        Ok(())
    }
}

impl Play {
    /// Gives somebody a seat; the ship comes with the next wave.
    fn seat(&mut self, room: &mut Room, player: PlayerId) {
        let Some(name) =
            room.player(player).filter(|player| !player.is_spectator).map(|of| of.name.to_owned())
        else {
            return;
        };
        if let Some(seat) = self.seats.take(player) {
            lobby::broadcast_seated(&name, seat, room);
        }
    }

    fn unseat(&mut self, player: PlayerId) {
        if let Some((seat, true)) = self.seats.leave(player) {
            self.state.remove_ship(seat);
        }
    }

    /// What the server presses: for its own ships everything, for those of players who are away nothing.
    fn press(&mut self) {
        for seat in 0..SEATS {
            if self.seats.pilot(seat) == Pilot::Bot {
                self.pressed[seat] = bot::buttons(&self.state, seat);
                bot::choose(&mut self.state, seat);
            }
            if self.seats.is_away(seat) {
                self.pressed[seat] = 0;
                if let Some(ship) = &mut self.state.ships[seat] {
                    ship.pilotage.safe = SAFE_STEPS;
                }
            }
        }
    }

    /// With every wave, those who wait for a ship get one.
    fn board(&mut self, room: &mut Room) {
        let is_wave = |event: &Event| matches!(event, Event::WaveBegan { .. } | Event::LevelBegan { .. });
        if !self.state.events.iter().any(is_wave) {
            return;
        }
        let Play { seats, state, .. } = self;
        let mut boarded = [None; SEATS];
        seats.board(|seat, was_bot| {
            if was_bot {
                state.remove_ship(seat);
            }
            state.add_ship(seat);
            boarded[seat] = Some(seat);
        });
        for player in boarded.into_iter().flatten().filter_map(|seat| self.seats.player(seat)) {
            if let Some(name) = room.player(player).map(|player| player.name.to_owned()) {
                lobby::broadcast_boarded(&name, room);
            }
        }
    }

    /// Shows the state as it is now.
    fn show(&mut self, room: &mut Room) {
        self.entities.broadcast(&self.state, &self.seats, room.step(), room);
        self.level.broadcast(&self.state, room);
    }

    /// What the beams of this step hit.
    fn judge_beams(&mut self, room: &mut Room, uncompensated: &BTreeSet<PlayerId>) {
        let mut index = 0;
        let mut has_struck = false;
        // Strikes add events behind those of the step.
        while let Some(event) = self.state.events.get(index) {
            index += 1;
            let Event::Beam { seat, x, y } = *event else { continue };
            let player = self.seats.player(seat);
            let is_compensated = player.is_some_and(|player| !uncompensated.contains(&player));
            let view = self.views[seat].filter(|_| is_compensated);
            let past = room.rewind().map(|rewind| &*rewind).zip(view);
            let beam = Beam { seat, x, y, reach: WIDTH, hits: 0 };
            let beam = beams::judge(beam, &mut self.state, &self.entities, past);
            has_struck |= beam.hits > 0;
            game::broadcast_beam(&beam, player, room);
        }
        if has_struck {
            self.show(room);
        }
    }

    /// Tells what happened since it was told last.
    fn tell(&mut self, room: &mut Room, levels: &Levels) {
        let mut events = std::mem::take(&mut self.state.events);
        for event in &events {
            self.level.broadcast_event(event, levels, room);
            game::broadcast(event, &self.state, room);
            power_up::broadcast(event, &self.seats, room);
            weapon::broadcast(event, &self.seats, room);
            if matches!(event, Event::GameLost | Event::GameWon) {
                self.over = Some(OVER_STEPS);
            }
        }
        // The list keeps its memory for the next step.
        events.clear();
        self.state.events = events;
    }

    /// Tells again what a lost connection may have missed.
    fn remind(&mut self, room: &mut Room, player: PlayerId, levels: &Levels) {
        self.level.greet(player, &self.state, levels, room);
        let Some(seat) = self.seats.flown_by(player) else { return };
        if let Some(ship) = &self.state.ships[seat] {
            power_up::remind(ship, seat, &self.seats, room);
            weapon::remind(ship, seat, &self.seats, room);
        }
    }

    /// Whether everybody has seen enough of the end, or nobody is left to play on.
    fn is_done(&mut self) -> bool {
        let has_seen_enough = self.over.as_mut().is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        });
        has_seen_enough || !self.seats.has_players()
    }
}
