//! The player's own object, ahead of the server.

use netloom_replica::ClassId;
use netloom_replica::client::predict::{NotPredicted, PredictError, PredictReport};
use netloom_replica::client::{ClientObject, Pose, PredictConfig, Predictor, Reconciled};
use netloom_replica::input::Input;
use netloom_replica::step::{Describe, Fields, Step};
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Micros, Tick};

use super::Client;
use crate::replicated::Replicated;

/// Why an object cannot be predicted.
pub type PredictionError = PredictError;

/// A step whose state is a replicated struct, which knows what it consists of.
#[derive(Clone, Debug)]
struct Described<S>(S);

impl<S: Step<State: Replicated>> Step for Described<S> {
    type State = S::State;
    type Input = S::Input;

    fn step(&self, state: &mut S::State, input: &S::Input) {
        self.0.step(state, input);
    }
}

impl<S: Step<State: Replicated>> Describe for Described<S> {
    fn describe(&self, state: &S::State, fields: &mut Fields) {
        state.describe(fields);
    }
}

/// Predicts this client's own object of a kind: it begins when that appears, and starts anew with each new one.
///
/// Every frame, after [`Client::tick`]: [`update`](Prediction::update); with every input: [`apply`](Prediction::apply); then show
/// [`pose`](Prediction::pose).
pub struct Prediction<S: Step<State: Replicated, Input: Input>> {
    step: S,
    config: PredictConfig,
    own: Option<(Alias, Predictor<Described<S>>)>,
    /// The newest step whose state was handed over, and the tick of that state.
    told: Option<(Tick, Tick)>,
}

impl<S: Step<State: Replicated, Input: Input> + Clone> Prediction<S> {
    /// Predicts by a step that the server makes as well.
    pub fn new(step: S) -> Prediction<S> {
        // The server touches an object whenever it did something else than its player asked, so its silence means consent.
        Prediction::with_config(
            step,
            PredictConfig { silence: Micros::from_secs(10), ..PredictConfig::default() },
        )
    }

    /// The same with thresholds of your own. The rate is that of the room whatever `config` says.
    pub fn with_config(step: S, config: PredictConfig) -> Prediction<S> {
        Prediction { step, config, own: None, told: None }
    }

    /// Compares with what the server said, and lets `elapsed` pass for the view. `None` if it said nothing new.
    pub fn update(
        &mut self,
        client: &Client<S::Input>,
        elapsed: Micros,
    ) -> Result<Option<Reconciled>, PredictionError> {
        let Some(alias) = self.find(client) else {
            self.own = None;
            return Ok(None);
        };
        let before = self.told.map(|(_, tick)| tick);
        let told = client.told(alias).and_then(|(step, object)| {
            let has_jumped = before.is_some_and(|before| object.jumped_since(before));
            Some((step, object.tick(), client.read::<S::State>(alias)?, has_jumped))
        });
        if self.own.is_none()
            && let Some((step, tick, state, _)) = &told
        {
            self.begin(client, alias, (*step, *tick), state)?;
        }
        let Some((_, own)) = &mut self.own else { return Ok(None) };
        let mut reconciled = None;
        if let Some((step, tick, state, has_jumped)) = told
            && self.told.is_none_or(|(newest, _)| step.is_newer_than(newest))
        {
            self.told = Some((step, tick));
            reconciled =
                Some(if has_jumped { own.handle_jump(step, &state) } else { own.handle_state(step, &state) });
        }
        if let Some(step) = client.confirmed_step() {
            own.handle_acked(step);
        }
        own.advance_view(elapsed);
        Ok(reconciled)
    }

    /// The object that is predicted, if it is still there, or one to begin with.
    fn find(&mut self, client: &Client<S::Input>) -> Option<Alias> {
        let replica = client.objects()?;
        let class = client.protocol().class_id(S::State::NAME)?;
        let is_own =
            |object: &ClientObject| ClassId(object.class()) == class && object.audience() == Audience::Owner;
        let known = self.own.as_ref().map(|(alias, _)| *alias);
        let known = known.filter(|alias| replica.object(*alias).is_some_and(is_own));
        if known.is_none() {
            self.own = None;
        }
        known.or_else(|| replica.iter().find(|object| is_own(object)).map(|object| object.alias()))
    }

    fn begin(
        &mut self,
        client: &Client<S::Input>,
        alias: Alias,
        (step, tick): (Tick, Tick),
        state: &S::State,
    ) -> Result<(), PredictionError> {
        let (Some(replica), Some(steps_per_second)) = (client.objects(), client.steps_per_second()) else {
            return Ok(());
        };
        let config = PredictConfig { steps_per_second, ..self.config };
        let described = Described(self.step.clone());
        let own = Predictor::of_object(replica, alias, described, step, state.clone(), config)?;
        (self.own, self.told) = (Some((alias, own)), Some((step, tick)));
        Ok(())
    }

    /// Reacts to an input at once. `false` if there is nothing to predict, or prediction waits for the server.
    pub fn apply(&mut self, step: Tick, input: S::Input) -> bool {
        let Some((_, own)) = &mut self.own else { return false };
        match own.apply_local(step, input).map(|_| ()) {
            Ok(()) => true,
            Err(NotPredicted::Paused) => false,
            Err(NotPredicted::NotNewer { .. }) => {
                // The steps were begun anew, for the server stood still: what was predicted will never be.
                (self.own, self.told) = (None, None);
                false
            }
        }
    }

    /// The object that is predicted.
    pub fn object(&self) -> Option<Alias> {
        self.own.as_ref().map(|(alias, _)| *alias)
    }

    /// Its state now.
    pub fn state(&self) -> Option<&S::State> {
        self.own.as_ref().map(|(_, own)| own.state())
    }

    /// Where to show it.
    pub fn pose(&self) -> Option<Pose> {
        self.own.as_ref().map(|(_, own)| own.view())
    }

    /// How often the server disagreed, and about what.
    pub fn report(&self) -> Option<&PredictReport<S::Input>> {
        self.own.as_ref().map(|(_, own)| own.report())
    }
}
