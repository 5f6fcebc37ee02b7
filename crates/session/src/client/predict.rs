//! The player's own object, ahead of the server.

use netloom_replica::client::predict::{PredictError, PredictReport};
use netloom_replica::client::{ClientObject, Pose, PredictConfig, Predictor, Reconciled};
use netloom_replica::input::Input;
use netloom_replica::step::Describe;
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::Audience;
use netloom_wire::{Alias, Micros, Tick};

use super::Client;

/// Why an object cannot be predicted.
pub type PredictionError = PredictError;

/// How a state is read from an object; `None` if it cannot be.
pub type ReadState<S> = fn(&ClientObject, &Class) -> Option<S>;

/// Predicts the first object of a class that is this client's own: it begins when that appears, and starts anew with each new
/// one.
///
/// Every frame, after [`Client::tick`]: [`update`](Prediction::update); with every input: [`apply`](Prediction::apply); then show
/// [`pose`](Prediction::pose).
pub struct Prediction<S: Describe<Input: Input> + Clone> {
    step: S,
    class: ClassId,
    read: ReadState<S::State>,
    config: PredictConfig,
    own: Option<(Alias, Predictor<S>)>,
    /// The newest step whose state was handed over.
    told: Option<Tick>,
}

impl<S: Describe<Input: Input> + Clone> Prediction<S> {
    /// Predicts an own object of this class. The rate of `config` is set to the room's.
    pub fn new(step: S, class: ClassId, read: ReadState<S::State>, config: PredictConfig) -> Prediction<S> {
        Prediction { step, class, read, config, own: None, told: None }
    }

    /// Compares with what the server said, and lets `elapsed` pass for the view. `None` if it said nothing new.
    pub fn update(
        &mut self,
        client: &Client<S::Input>,
        elapsed: Micros,
    ) -> Result<Option<Reconciled>, PredictionError> {
        let Some(replica) = client.objects() else {
            self.own = None;
            return Ok(None);
        };
        if self.own.as_ref().is_some_and(|(alias, _)| replica.object(*alias).is_none()) {
            self.own = None;
        }
        let mine =
            |object: &&ClientObject| object.class() == self.class.0 && object.audience() == Audience::Owner;
        let alias = self.own.as_ref().map(|(alias, _)| *alias);
        let Some(alias) = alias.or_else(|| replica.iter().find(mine).map(|object| object.alias())) else {
            return Ok(None);
        };
        let told = client.told(alias).and_then(|(step, object)| {
            let state = (self.read)(object, replica.class(object)?)?;
            Some((step, state, object.teleported()))
        });
        if self.own.is_none()
            && let Some((step, state, _)) = &told
        {
            let config =
                PredictConfig { steps_per_second: client.steps_per_second().unwrap_or(60), ..self.config };
            let predictor =
                Predictor::of_object(replica, alias, self.step.clone(), *step, state.clone(), config)?;
            (self.own, self.told) = (Some((alias, predictor)), Some(*step));
        }
        let Some((_, own)) = &mut self.own else { return Ok(None) };
        let mut reconciled = None;
        if let Some((step, state, has_jumped)) = told
            && self.told.is_none_or(|newest| step.is_newer_than(newest))
        {
            self.told = Some(step);
            let result =
                if has_jumped { own.handle_jump(step, &state) } else { own.handle_state(step, &state) };
            reconciled = Some(result);
        }
        if let Some(step) = client.confirmed_step() {
            own.handle_acked(step);
        }
        own.advance_view(elapsed);
        Ok(reconciled)
    }

    /// Reacts to an input at once. `false` if there is nothing to predict, or prediction waits for the server.
    pub fn apply(&mut self, step: Tick, input: S::Input) -> bool {
        self.own.as_mut().is_some_and(|(_, own)| own.apply_local(step, input).is_ok())
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
