//! Inputs go up, feedback comes down in snapshots, and an owned object is predicted in between.

use netloom_replica::class::{Class, ClassId};
use netloom_replica::client::predict::{PredictConfig, PredictError, Predictor, Reconciled};
use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::codec::Codes;
use netloom_replica::server::input_queue::{InputQueue, InputQueueConfig};
use netloom_replica::server::{Heartbeat, PeerConfig, ReplicaPeer, ReplicaServer, ServerConfig};
use netloom_replica::snapshot::{Feedback, Slack};
use netloom_replica::step::{Describe, Fields, Step};
use netloom_replica::world::{ClassTable, ObjectIndex, OwnerId, Spawn, World, WorldConfig};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{Alias, Micros, ObjectId, Profile, Schema, Tick};

const ME: OwnerId = OwnerId(1);
const STEPS_PER_TICK: u32 = 3;

fn classes() -> Vec<Class> {
    let position = FieldKind::Position(Profile::Standard);
    let schema = Schema::builder("walker").field("position", position, SyncFlags::PUBLIC_SYNC, 255).build();
    vec![Class::new(schema.unwrap()).unwrap()]
}

struct Walk;

impl Step for Walk {
    type State = [f32; 3];
    type Input = [u8; 1];

    fn step(&self, position: &mut [f32; 3], input: &[u8; 1]) {
        position[0] += f32::from(input[0]) * 0.01;
    }
}

impl Describe for Walk {
    fn describe(&self, position: &[f32; 3], fields: &mut Fields) {
        fields.position("position", Profile::Standard, *position);
    }
}

/// A server with one walker of mine and one of nobody, and me.
struct Game {
    server: ReplicaServer,
    peer: ReplicaPeer,
    mine: ObjectIndex,
    client: ReplicaClient,
    sequence: u64,
}

impl Game {
    fn new() -> Game {
        let mut world = World::new(classes(), WorldConfig::default()).unwrap();
        let mine = Spawn { owner: Some(ME), ..Spawn::new(ObjectId(1), ClassId(0)) };
        let mine = world.spawn(mine).unwrap();
        world.spawn(Spawn::new(ObjectId(2), ClassId(0))).unwrap();
        let config = ServerConfig { heartbeat: Heartbeat::Off, ..ServerConfig::default() };
        let mut server = ReplicaServer::new(world, Codes::generic(), config).unwrap();
        let peer = server.add_peer(PeerConfig::new(ME));
        let client = ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        let mut game = Game { server, peer, mine, client, sequence: 0 };
        game.tick(None);
        game
    }

    /// One send tick in which everything arrives: the snapshots.
    fn tick(&mut self, feedback: Option<Feedback>) -> Vec<Vec<u8>> {
        self.tick_within(feedback, 1_100)
    }

    fn tick_within(&mut self, feedback: Option<Feedback>, snapshot_bytes: usize) -> Vec<Vec<u8>> {
        self.server.begin_tick().unwrap();
        if let Some(feedback) = feedback {
            self.server.set_feedback(self.peer, feedback);
        }
        self.server.select(self.peer, 10_000);
        let (mut sent, mut out) = (Vec::new(), vec![0; snapshot_bytes]);
        while let Some(length) = self.server.poll_snapshot(self.peer, self.sequence, &mut out) {
            self.client.handle_snapshot(&out[..length]).unwrap();
            self.server.handle_outcome(self.peer, self.sequence, true);
            self.sequence += 1;
            sent.push(out[..length].to_vec());
        }
        sent
    }

    fn own_alias(&self) -> Alias {
        let is_mine = |object: &&ClientObject| object.audience() == netloom_wire::schema::Audience::Owner;
        self.client.iter().find(is_mine).unwrap().alias()
    }
}

fn position(game: &Game, object: &ClientObject) -> [f32; 3] {
    let class = game.client.class(object).unwrap();
    match object.value(class, 0) {
        Some(Value::Triple(words)) => Profile::Standard.dequantize_position(words),
        other => panic!("{other:?}"),
    }
}

#[test]
fn feedback_costs_nothing_when_nobody_gives_it_and_three_bytes_when_somebody_does() {
    let mut game = Game::new();
    assert!(game.tick(None).is_empty(), "nothing changed, nothing is sent");
    assert_eq!(game.client.feedback(), None);
    let (mine, mut move_to) = (game.mine, 0.0);
    let mut step_then_tick = |game: &mut Game, feedback| {
        move_to += 1.0;
        game.server.world_mut().set_position(mine, [move_to, 0.0, 0.0]).unwrap();
        game.tick(feedback)
    };
    step_then_tick(&mut game, None);
    step_then_tick(&mut game, None);
    step_then_tick(&mut game, None);
    let without = step_then_tick(&mut game, None);
    let feedback = Feedback { step: Tick(9), slack: Some(Slack::from_steps(1.5)) };
    let with = step_then_tick(&mut game, Some(feedback));
    assert_eq!((without.len(), with.len()), (1, 1));
    assert_eq!(with[0].len(), without[0].len() + 3);
    assert_eq!(game.client.feedback(), Some(feedback));
}

#[test]
fn feedback_goes_out_alone_when_everything_rests_and_holds_for_one_tick_only() {
    let mut game = Game::new();
    let feedback = Feedback { step: Tick(3), slack: None };
    let sent = game.tick(Some(feedback));
    assert_eq!(sent, [vec![2, 0, 64, 3, 0, 0x80]]);
    assert_eq!(game.client.feedback(), Some(feedback));
    assert!(game.tick(None).is_empty());
}

#[test]
fn every_snapshot_of_a_tick_has_the_feedback_and_there_is_an_end_to_them() {
    let mut game = Game::new();
    for id in 10..60 {
        game.server.world_mut().spawn(Spawn::new(ObjectId(id), ClassId(0))).unwrap();
    }
    let sent = game.tick_within(Some(Feedback { step: Tick(3), slack: None }), 100);
    assert!(sent.len() > 5, "{} snapshots", sent.len());
    assert!(sent.iter().all(|snapshot| snapshot[2] & 64 != 0));
}

#[test]
fn steps_are_counted_on_over_their_16_bits_and_an_older_feedback_changes_nothing() {
    let mut game = Game::new();
    let mut old = Vec::new();
    for step in [65_530, 65_540, 95_000, 127_000, 150_000] {
        let feedback = Feedback { step: Tick(step), slack: Some(Slack::from_steps(-0.25)) };
        let sent = game.tick(Some(feedback));
        // The first is all that a client can know.
        assert_eq!(game.client.feedback(), Some(feedback));
        if let Some(late) = old.first() {
            let late: &Vec<u8> = late;
            game.client.handle_snapshot(late).unwrap();
            assert_eq!(game.client.feedback(), Some(feedback));
        }
        old.extend(sent);
    }
}

#[test]
fn slack_is_told_in_quarters_of_a_step_and_saturates() {
    for (steps, quarters) in [(0.0, 0), (1.1, 4), (-0.3, -1), (99.0, 127), (-99.0, -127), (f64::NAN, 0)] {
        assert_eq!(Slack::from_steps(steps).quarters(), quarters);
    }
    assert_eq!(Slack::from_steps(-1.25).steps(), -1.25);
}

#[test]
fn only_what_is_replicated_to_its_owner_can_be_predicted() {
    let game = Game::new();
    let predict = |alias| {
        let config = PredictConfig::default();
        Predictor::of_object(&game.client, alias, Walk, Tick(0), [0.0; 3], config).map(|_| ())
    };
    let own = game.own_alias();
    assert_eq!(predict(own), Ok(()));
    let other = game.client.iter().map(ClientObject::alias).find(|alias| *alias != own).unwrap();
    assert_eq!(predict(other), Err(PredictError::NotOwned { slot: other.slot }));
    assert_eq!(predict(Alias { slot: 99, generation: 0 }), Err(PredictError::NotReplicated { slot: 99 }));
    let gone = Alias { generation: own.generation.wrapping_add(1), ..own };
    assert_eq!(predict(gone), Err(PredictError::NotReplicated { slot: own.slot }));
}

#[test]
fn prediction_is_off_unless_asked_for_and_asked_for_by_object() {
    let mut game = Game::new();
    let second = Spawn { owner: Some(ME), ..Spawn::new(ObjectId(3), ClassId(0)) };
    game.server.world_mut().spawn(second).unwrap();
    game.tick(None);
    let is_mine = |object: &&ClientObject| object.audience() == netloom_wire::schema::Audience::Owner;
    let mine: Vec<Alias> = game.client.iter().filter(is_mine).map(ClientObject::alias).collect();
    let [predicted, plain] = mine[..] else { panic!("{mine:?}") };
    let config = PredictConfig::default();
    let mut own = Predictor::of_object(&game.client, predicted, Walk, Tick(0), [0.0; 3], config).unwrap();
    own.apply_local(Tick(1), [50]).unwrap();
    assert_eq!(*own.state(), [0.5, 0.0, 0.0], "at once");
    for alias in [predicted, plain] {
        let object = game.client.object(alias).unwrap();
        assert_eq!(position(&game, object), [0.0; 3], "what the server said, and nothing else");
    }
}

#[test]
fn an_owner_s_object_is_confirmed_through_real_snapshots_and_corrected_when_the_server_pushes_it() {
    let mut game = Game::new();
    let alias = game.own_alias();
    let mut own =
        Predictor::of_object(&game.client, alias, Walk, Tick(0), [0.0; 3], PredictConfig::default()).unwrap();
    let mut queue = InputQueue::new([0u8], Tick(1), InputQueueConfig::default()).unwrap();
    let mut truth = [0.0; 3];
    let mut answers = Vec::new();
    for tick in 0..40u32 {
        for step in (1..=STEPS_PER_TICK).map(|step| tick * STEPS_PER_TICK + step) {
            own.apply_local(Tick(step + 6), [(step % 7) as u8]).unwrap();
            let mut message = [0; 128];
            let length = own.write_inputs(None, &mut message).unwrap();
            queue.handle_message(&message[..length], Micros(u64::from(step) * 16_667)).unwrap();
            let taken = queue.take(Tick(step), Micros(u64::from(step) * 16_667)).unwrap();
            Walk.step(&mut truth, &taken.input);
        }
        if tick == 20 {
            truth[1] += 0.5;
        }
        let (server, mine) = (&mut game.server, game.mine);
        server.world_mut().set_position(mine, truth.map(f64::from)).unwrap();
        game.tick(queue.feedback());
        match game.client.confirmed(alias) {
            Some((step, object)) => {
                assert_eq!(step, Tick((tick + 1) * STEPS_PER_TICK));
                let state = position(&game, object);
                answers.push((tick, own.handle_state(step, &state)));
            }
            None => own.handle_acked(game.client.feedback().unwrap().step),
        }
        let expected = if tick == 0 { 3 } else { 6 };
        assert_eq!(own.pending(), expected, "what the server has not simulated yet");
    }
    let corrected: Vec<u32> = answers
        .iter()
        .filter(|(_, answer)| *answer != Reconciled::Confirmed)
        .map(|(tick, _)| *tick)
        .collect();
    assert_eq!(corrected, [20]);
    assert!(answers.len() > 30);
    assert_eq!(own.report().last.as_ref().unwrap().step, Tick(63));
}

#[test]
fn who_joins_a_server_that_runs_for_a_day_counts_as_it_does() {
    let mut game = Game::new();
    for _ in 0..70_000 {
        game.server.begin_tick().unwrap();
    }
    let (tick, step) = (game.server.tick(), Tick(105_003));
    let feedback = Feedback { step: step.plus(7), slack: None };
    let joined = |is_told: bool, snapshots: &[Vec<u8>]| {
        let mut client = ReplicaClient::new(ClassTable::new(classes()).unwrap(), Codes::generic());
        if is_told {
            client.start_near(tick, step);
        }
        client.handle_snapshot(&snapshots[0]).unwrap();
        (client.newest().unwrap(), client.feedback().unwrap().step)
    };
    let sent = game.tick(Some(feedback));
    assert_eq!(joined(true, &sent), (tick.next(), feedback.step));
    // Otherwise the two counters are off by as much as fits into 16 bits of each, which at 20 ticks and 30 steps a second
    // is not the same time.
    let (tick, step) = joined(false, &sent);
    assert_eq!((tick.0, step.0), ((70_002 % 65_536), (105_010 % 65_536)));
    assert_ne!(tick.0 * 3 / 2, step.0);
}

#[test]
fn an_object_that_changes_hands_or_is_gone_is_confirmed_to_nobody_else() {
    let mut game = Game::new();
    let alias = game.own_alias();
    let feedback = |step| Some(Feedback { step: Tick(step), slack: None });
    game.server.world_mut().set_position(game.mine, [1.0, 0.0, 0.0]).unwrap();
    game.tick(feedback(3));
    assert_eq!(game.client.confirmed(alias).map(|(step, _)| step), Some(Tick(3)));
    assert_eq!(PredictError::check_own(&game.client, alias), Ok(()));

    game.server.world_mut().set_owner(game.mine, None).unwrap();
    game.server.world_mut().set_position(game.mine, [2.0, 0.0, 0.0]).unwrap();
    game.tick(feedback(6));
    assert_eq!(game.client.object(alias).unwrap().tick(), game.server.tick(), "it is told, as to anybody");
    assert!(game.client.confirmed(alias).is_none());
    assert_eq!(
        PredictError::check_own(&game.client, alias),
        Err(PredictError::NotOwned { slot: alias.slot })
    );

    game.server.world_mut().despawn(game.mine).unwrap();
    game.tick(feedback(9));
    assert!(game.client.confirmed(alias).is_none());
    let gone = PredictError::NotReplicated { slot: alias.slot };
    assert_eq!(PredictError::check_own(&game.client, alias), Err(gone));
}
