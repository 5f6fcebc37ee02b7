//! Whether a client sees the world as the server has it.
//!
//! Exactly: every object that it should hold and no other, every word that its audience may see, every text, and every
//! attached object on the parent that the server has it on.

use std::collections::BTreeMap;

use netloom_replica::client::ClientObject;

use super::ledger::{Ledger, Life, Sight};
use super::remote::Remote;

/// What is wrong with a client's view, if anything is.
pub fn difference(remote: &Remote, ledger: &Ledger) -> Option<String> {
    let held: BTreeMap<u64, &ClientObject> =
        remote.client.iter().filter_map(|object| Some((remote.identity(object)?, object))).collect();
    if held.len() != remote.client.len() {
        return Some(format!("{} objects, {} of them different ones", remote.client.len(), held.len()));
    }
    for (identity, life) in ledger.living() {
        let is_held = held.contains_key(&identity);
        match ledger.sight(life, &remote.viewer) {
            Sight::Must if !is_held && sees_ancestors(life, remote, ledger) => {
                return Some(format!("object {identity} is missing"));
            }
            Sight::Not if is_held => return Some(format!("object {identity} should not be there")),
            _ => {}
        }
    }
    held.iter().find_map(|(identity, object)| {
        let Some(life) = ledger.life(*identity) else { return Some(format!("object {identity} never was")) };
        let wrong = wrong_with(object, life, &held, remote, ledger)?;
        Some(format!("object {identity}, {:?}: {wrong}", object.alias()))
    })
}

fn wrong_with(
    object: &ClientObject,
    life: &Life,
    held: &BTreeMap<u64, &ClientObject>,
    remote: &Remote,
    ledger: &Ledger,
) -> Option<String> {
    let Some(version) = life.version(ledger.tick()) else { return Some("it never was".to_owned()) };
    if ledger.sight(life, &remote.viewer) == Sight::Not {
        return Some("it should not be there".to_owned());
    }
    let audience = life.audience(&remote.viewer, ledger.tick());
    if audience != Some(object.audience()) {
        return Some(format!("audience {:?}, not {audience:?}", object.audience()));
    }
    if let Err(why) = remote.compare(object, life, version) {
        return Some(why);
    }
    // A parent that the client does not see is none to it.
    let parent = version.parent.and_then(|parent| held.get(&parent)).map(|parent| parent.alias().slot);
    let wrong = || format!("attached to {:?}, not {parent:?}, object {:?}", object.parent(), version.parent);
    (object.parent() != parent).then(wrong)
}

/// Whether everything that an object is attached to is in sight.
fn sees_ancestors(life: &Life, remote: &Remote, ledger: &Ledger) -> bool {
    let parent = |life: &Life| life.version(ledger.tick()).and_then(|version| version.parent);
    let mut next = parent(life);
    while let Some(life) = next.and_then(|identity| ledger.life(identity)) {
        if ledger.sight(life, &remote.viewer) != Sight::Must {
            return false;
        }
        next = parent(life);
    }
    true
}
