//! Clients that decode what was sent, and the comparison of what they hold with what the server has.
//!
//! Aliases are a connection's own names, so objects are compared by what they are: an object of a client is one of the
//! server's if all words and the origin agree. Words of walkers are as good as unique, and where two are equal they are
//! still counted as two.

use netloom_replica::client::{ClientObject, ReplicaClient};
use netloom_replica::codec::Codes;
use netloom_replica::server::interest::{GridConfig, Policy};
use netloom_replica::world::{ClassTable, World};
use netloom_scene::replay::feed;
use netloom_wire::SectorOrigin;

/// Nearer than this to the edge of sight either verdict is right: server and bench may round a distance differently.
const EDGE_METRES: f32 = 0.05;

/// All snapshots that reached one client.
pub struct Witness {
    peer: usize,
    bytes: Vec<u8>,
    lengths: Vec<u16>,
}

impl Witness {
    /// The client of a peer.
    pub fn new(peer: usize) -> Witness {
        Witness { peer, bytes: Vec::new(), lengths: Vec::new() }
    }

    /// Whose client it is.
    pub fn peer(&self) -> usize {
        self.peer
    }

    /// A snapshot arrives.
    pub fn log(&mut self, payload: &[u8]) {
        self.bytes.extend_from_slice(payload);
        self.lengths.push(payload.len() as u16);
    }

    /// Decodes them all, in the order in which they arrived.
    pub fn replay(&self, classes: &ClassTable) -> Result<ReplicaClient, String> {
        let mut client = ReplicaClient::new(classes.clone(), Codes::generic());
        let mut start = 0;
        for &length in &self.lengths {
            let end = start + usize::from(length);
            feed(&mut client, &self.bytes[start..end])?;
            start = end;
        }
        Ok(client)
    }
}

/// An object as both sides know it: its words, then its origin.
type Likeness = Vec<i32>;

/// What the server has.
pub struct Truth {
    /// Sorted by likeness; with each the place in the world and the number of the object.
    objects: Vec<(Likeness, [f32; 3], usize)>,
    sight: Option<GridConfig>,
}

impl Truth {
    /// Of a world under a policy.
    pub fn of(world: &World, policy: &Policy) -> Truth {
        let objects = world.iter().map(|object| {
            (likeness(object.words(), object.origin()), object.position(), object.index().slot())
        });
        let mut objects: Vec<_> = objects.collect();
        objects.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let sight = match policy {
            Policy::Grid(config) => Some(config.clone()),
            Policy::Everyone | Policy::Custom => None,
        };
        Truth { objects, sight }
    }

    /// Whether a client holds exactly what it must. A viewer is a position, and the object that it owns.
    pub fn check(&self, client: &ReplicaClient, viewer: Option<([f32; 3], usize)>) -> Result<(), String> {
        let mut is_held = vec![false; self.objects.len()];
        for object in client.iter() {
            let place = self.place(object, &is_held).ok_or_else(|| {
                format!(
                    "holds {:?} in slot {}, which the server has not",
                    object.words(),
                    object.alias().slot
                )
            })?;
            is_held[place] = true;
        }
        for ((_, position, number), is_held) in self.objects.iter().zip(is_held) {
            match self.must_hold(*position, *number, viewer) {
                Some(true) if !is_held => return Err(format!("lacks object {number} at {position:?}")),
                Some(false) if is_held => {
                    return Err(format!("sees object {number} at {position:?}, too far"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The first object that looks the same and is not held yet.
    fn place(&self, object: &ClientObject, is_held: &[bool]) -> Option<usize> {
        let wanted = likeness(object.words(), object.origin());
        let first = self.objects.partition_point(|(likeness, ..)| *likeness < wanted);
        let alike = self.objects[first..].iter().take_while(|(likeness, ..)| *likeness == wanted).count();
        (first..first + alike).find(|place| !is_held[*place])
    }

    /// `None` where the client may or may not hold the object: between the radius of entering and that of leaving.
    fn must_hold(
        &self,
        position: [f32; 3],
        number: usize,
        viewer: Option<([f32; 3], usize)>,
    ) -> Option<bool> {
        let (Some(sight), Some((eye, owned))) = (&self.sight, viewer) else { return Some(true) };
        let distance = (position[0] - eye[0]).hypot(position[2] - eye[2]);
        if number == owned || distance < sight.radius_metres - EDGE_METRES {
            return Some(true);
        }
        (distance > sight.radius_metres + sight.leave_margin_metres + EDGE_METRES).then_some(false)
    }
}

fn likeness(words: &[i32], origin: SectorOrigin) -> Likeness {
    words.iter().copied().chain(origin.metres().map(|axis| axis as i32)).collect()
}
