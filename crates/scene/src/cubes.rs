//! Recorded cubes: the scene by which published coders of physics are compared.
//!
//! 901 cubes that a player rolls through, picks up and lets fall, quantized, 60 frames a second. A file is frames without a
//! header, `.bin` as it is or `.bin.xz` packed:
//!
//! ```text
//!   frame   901 cubes × 8 × i32, little-endian: 28,832 bytes
//!   cube    largest │ a b c │ x y z │ interacting
//!           which component of the quaternion is left out (x y z w), the three others in steps of 9 bits,
//!           the position in 1/512 m, and 1 if the cube belongs to what the player holds or touches
//! ```
//!
//! [`Frames`] gives the numbers as they are, for coders that take them so. [`Cubes`] plays them into a world as a game
//! would: metres and quaternions, which the world quantizes in its own way.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use netloom_replica::world::{ObjectIndex, Spawn, World};
use netloom_replica::{Class, ClassId};
use netloom_wire::schema::{FieldKind, SyncFlags, Value};
use netloom_wire::{ObjectId, Profile, Schema};

use crate::{SceneError, Source};

/// Cubes of a frame.
pub const CUBES: usize = 901;
/// Frames of a second.
pub const FRAMES_PER_SECOND: u32 = 60;
/// Steps of a position in a metre.
pub const UNITS_PER_METRE: f64 = 512.0;
/// The largest step of a component of a rotation; the smallest is 0.
pub const ROTATION_STEP_MAX: i32 = 511;
/// Steps of a position beyond which nothing is recorded: 8 km, and some margin to overflow.
const POSITION_STEP_MAX: u32 = 1 << 22;

const WORDS: usize = 8;
const FRAME_BYTES: usize = CUBES * WORDS * 4;
/// Bytes at the beginning of every file of xz.
const XZ_MAGIC: [u8; 6] = [0xFD, b'7', b'z', b'X', b'Z', 0];

/// Memory that unpacking may ask for: what the strongest preset of xz takes, and some.
const UNPACKING_KIB_MAX: u32 = 96 * 1024;

/// A cube as it is recorded.
pub type Cube = [i32; WORDS];

/// Where the numbers of a [`Cube`] are.
pub mod word {
    /// Which component of the quaternion is left out: 0 to 3.
    pub const LARGEST: usize = 0;
    /// The first of the three other components.
    pub const ROTATION: usize = 1;
    /// The first of the three coordinates.
    pub const POSITION: usize = 4;
    /// Whether the player holds or touches it.
    pub const INTERACTING: usize = 7;
}

/// The frames of a recording, one after the other.
pub struct Frames {
    reader: Box<dyn Read>,
    bytes: Vec<u8>,
    offset: u64,
}

impl Frames {
    /// The frames of a file, packed or not; which one shows in its first bytes.
    pub fn open(path: &Path) -> Result<Frames, SceneError> {
        let failed = |source| SceneError::Io { offset: 0, source };
        Frames::new(File::open(path).map_err(failed)?)
    }

    /// The frames that a reader yields, packed or not.
    pub fn new(reader: impl Read + 'static) -> Result<Frames, SceneError> {
        let mut reader = BufReader::new(reader);
        let mut start = Vec::new();
        let read = reader.by_ref().take(XZ_MAGIC.len() as u64).read_to_end(&mut start);
        read.map_err(|source| SceneError::Io { offset: 0, source })?;
        let is_packed = start == XZ_MAGIC;
        let whole = std::io::Cursor::new(start).chain(reader);
        let reader: Box<dyn Read> = if is_packed {
            Box::new(lzma_rust2::XzReader::new_mem_limit(whole, true, UNPACKING_KIB_MAX))
        } else {
            Box::new(whole)
        };
        Ok(Frames { reader, bytes: vec![0; FRAME_BYTES], offset: 0 })
    }

    /// Reads the next frame into `frame`, by the number of the cube. False after the last one.
    pub fn read(&mut self, frame: &mut Vec<Cube>) -> Result<bool, SceneError> {
        let offset = self.offset;
        let mut filled = 0;
        while filled < FRAME_BYTES {
            match self.reader.read(&mut self.bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => {
                    return Err(SceneError::Frame {
                        offset,
                        what: "the recording ends within a frame of 28832 bytes",
                    });
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(SceneError::Io { offset: offset + filled as u64, source }),
            }
        }
        self.offset += FRAME_BYTES as u64;
        frame.clear();
        frame.extend(self.bytes.as_chunks::<{ WORDS * 4 }>().0.iter().map(|cube| {
            let (words, _) = cube.as_chunks::<4>();
            std::array::from_fn(|word| i32::from_le_bytes(words[word]))
        }));
        match frame.iter().all(is_possible) {
            true => Ok(true),
            false => Err(SceneError::Frame {
                offset,
                what: "a cube has an impossible value: this is no recording of cubes",
            }),
        }
    }

    /// All frames that are left.
    pub fn read_all(mut self) -> Result<Vec<Vec<Cube>>, SceneError> {
        let mut frames = Vec::new();
        let mut frame = Vec::new();
        while self.read(&mut frame)? {
            frames.push(frame.clone());
        }
        Ok(frames)
    }
}

fn is_possible(cube: &Cube) -> bool {
    let [largest, rotation @ .., x, y, z, interacting] = *cube;
    (0..4).contains(&largest)
        && rotation.iter().all(|step| (0..=ROTATION_STEP_MAX).contains(step))
        && [x, y, z].iter().all(|step| step.unsigned_abs() <= POSITION_STEP_MAX)
        && (0..2).contains(&interacting)
}

/// The place of a cube in metres; the ground is where z is 0.
pub fn position(cube: &Cube) -> [f64; 3] {
    std::array::from_fn(|axis| f64::from(cube[word::POSITION + axis]) / UNITS_PER_METRE)
}

/// The rotation of a cube, x y z w.
pub fn rotation(cube: &Cube) -> [f32; 4] {
    let span = std::f64::consts::SQRT_2;
    let others: [f64; 3] = std::array::from_fn(|axis| {
        (f64::from(cube[word::ROTATION + axis]) / f64::from(ROTATION_STEP_MAX) - 0.5) * span
    });
    let rest = 1.0 - others.iter().map(|other| other * other).sum::<f64>();
    let left_out = cube[word::LARGEST].clamp(0, 3) as usize;
    std::array::from_fn(|component| match component.cmp(&left_out) {
        std::cmp::Ordering::Less => others[component] as f32,
        std::cmp::Ordering::Equal => rest.max(0.0).sqrt() as f32,
        std::cmp::Ordering::Greater => others[component - 1] as f32,
    })
}

/// A recording of cubes as a scene: position and rotation STANDARD, and whether the player has to do with it.
pub struct Cubes {
    frames: Frames,
    frame: Vec<Cube>,
    classes: Vec<Class>,
    objects: Vec<ObjectIndex>,
}

impl Cubes {
    /// The field of [`word::INTERACTING`].
    pub const INTERACTING: usize = 2;

    /// The scene of a file.
    pub fn open(path: &Path) -> Result<Cubes, SceneError> {
        Cubes::new(Frames::open(path)?)
    }

    /// The scene of some frames.
    pub fn new(frames: Frames) -> Result<Cubes, SceneError> {
        let schema = Schema::builder("cube")
            .field("position", FieldKind::Position(Profile::Standard), SyncFlags::PUBLIC_SYNC, 255)
            .field("rotation", FieldKind::Rotation(Profile::Standard), SyncFlags::PUBLIC_SYNC, 254)
            .field("interacting", FieldKind::Bool, SyncFlags::PUBLIC_SYNC, 10)
            .build()
            .expect("three fields with names of their own");
        Ok(Cubes { frames, frame: Vec::new(), classes: vec![Class::new(schema)?], objects: Vec::new() })
    }
}

impl Source for Cubes {
    fn name(&self) -> &str {
        "cubes"
    }

    fn classes(&self) -> &[Class] {
        &self.classes
    }

    fn ticks_per_second(&self) -> u32 {
        FRAMES_PER_SECOND
    }

    fn play(&mut self, world: &mut World) -> Result<bool, SceneError> {
        if !self.frames.read(&mut self.frame)? {
            return Ok(false);
        }
        for (number, cube) in self.frame.iter().enumerate() {
            let index = match self.objects.get(number) {
                Some(&index) => index,
                None => {
                    let index = world.spawn(Spawn::new(ObjectId(number as u64 + 1), ClassId(0)))?;
                    self.objects.push(index);
                    index
                }
            };
            world.set_position(index, position(cube))?;
            world.set_rotation(index, rotation(cube))?;
            world.set(index, Cubes::INTERACTING, Value::Bool(cube[word::INTERACTING] != 0))?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two frames; in the second, cube 1 is a metre higher.
    fn frames() -> Vec<u8> {
        let mut cubes = vec![[3, 256, 255, 256, 0, -512, 0, 0]; 2 * CUBES];
        cubes[CUBES + 1][word::POSITION + 2] = 512;
        cubes[CUBES + 1][word::INTERACTING] = 1;
        cubes.as_flattened().iter().flat_map(|word: &i32| word.to_le_bytes()).collect()
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut writer =
            lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
        std::io::Write::write_all(&mut writer, bytes).unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<Vec<Cube>>, SceneError> {
        Frames::new(std::io::Cursor::new(bytes))?.read_all()
    }

    #[test]
    fn frames_are_the_same_packed_or_not() {
        let plain = read(frames()).unwrap();
        assert_eq!((plain.len(), plain[0].len()), (2, CUBES));
        assert_eq!(plain[1][1], [3, 256, 255, 256, 0, -512, 512, 1]);
        assert_eq!(read(packed(&frames())).unwrap(), plain);
        assert_eq!(read(Vec::new()).unwrap(), Vec::<Vec<Cube>>::new());
    }

    #[test]
    fn a_recording_that_is_cut_says_where() {
        let bytes = frames();
        let error = read(bytes[..FRAME_BYTES + 100].to_vec()).unwrap_err();
        assert!(matches!(error, SceneError::Frame { offset, .. } if offset == FRAME_BYTES as u64), "{error}");
        let packed = packed(&bytes);
        let error = read(packed[..packed.len() / 2].to_vec()).unwrap_err();
        assert!(matches!(error, SceneError::Io { .. }), "{error}");
    }

    #[test]
    fn numbers_that_no_cube_has_are_refused() {
        for (place, value) in [(0, 4), (1, 512), (2, -1), (4, 1 << 23), (4, i32::MIN), (7, 2)] {
            let mut bytes = frames();
            bytes[4 * place..4 * place + 4].copy_from_slice(&i32::to_le_bytes(value));
            assert!(
                matches!(read(bytes), Err(SceneError::Frame { offset: 0, .. })),
                "{value} in word {place}"
            );
        }
    }

    #[test]
    fn a_scene_is_metres_and_unit_quaternions() {
        let mut scene = Cubes::new(Frames::new(std::io::Cursor::new(frames())).unwrap()).unwrap();
        let mut world = scene.world().unwrap();
        for tick in 1..=2 {
            assert!(scene.play(&mut world).unwrap());
            world.commit(netloom_wire::Tick(tick)).unwrap();
        }
        assert!(!scene.play(&mut world).unwrap());
        assert_eq!(world.changed().len(), 1, "one cube moved");
        let moved = world.object(world.find(ObjectId(2)).unwrap()).unwrap();
        assert_eq!(moved.words()[..4], [0, -100, 100, 0]);
        assert_eq!(moved.get(Cubes::INTERACTING), Some(Value::Bool(true)));
        let [x, y, z, w] = rotation(&[0, 511, 0, 256, 0, 0, 0, 0]);
        assert!(
            (x * x + y * y + z * z + w * w - 1.0).abs() < 1e-2
                && x == 0.0
                && y > 0.7
                && z < -0.7
                && w.abs() < 1e-2
        );
    }
}
