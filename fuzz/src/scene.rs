//! Files of scenes, from anybody: a recording travels between people like any other file.

use netloom_replica::world::World;
use netloom_scene::cubes::Frames;
use netloom_scene::{Recorder, Recording, Source};
use netloom_wire::Tick;
use netloom_wire::hash::fnv1a_32;

use crate::input::Input;
use crate::replica::classes;

/// Objects that a file may bring.
const OBJECTS_MAX: usize = 64;
/// Ticks that are played of a file.
const TICKS_MAX: u32 = 200;

/// Reads a file of a scene as it is, records in a file whose checksums are right, or a file of cubes. What plays is recorded
/// and played again, and must lead to the same world.
pub fn scene_file(data: &[u8]) {
    let mut input = Input::new(data);
    match input.u8() % 3 {
        0 => play(input.rest()),
        1 => play(&file_of(input.rest())),
        _ => read_cubes(input.rest()),
    }
}

fn play(file: &[u8]) {
    let Some((first, again)) = played(file, true) else { return };
    let (second, _) = played(&again, false).expect("what was recorded can be read");
    assert_eq!(first, second, "a recording of a recording is the same");
}

/// Everything in the world after each tick, and a recording of that if it is asked for. `None` if it is no scene.
fn played(file: &[u8], is_recorded: bool) -> Option<(Vec<Vec<String>>, Vec<u8>)> {
    let mut scene = Recording::new(file).ok()?.with_objects_max(OBJECTS_MAX);
    let mut world = scene.world().ok()?;
    let mut again = Vec::new();
    let mut recorder = is_recorded.then(|| {
        let (name, rate) = (scene.name().to_owned(), scene.ticks_per_second());
        Recorder::new(&mut again, &name, rate, scene.classes()).expect("as the file that was read")
    });
    let mut ticks = Vec::new();
    for tick in 1..=TICKS_MAX {
        if !scene.play(&mut world).unwrap_or(false) {
            break;
        }
        world.commit(Tick(tick)).expect("ticks go forward");
        assert!(world.len() <= OBJECTS_MAX);
        if let Some(recorder) = &mut recorder {
            recorder.tick(&world).expect("memory takes everything");
        }
        ticks.push(likeness(&world));
    }
    drop(recorder);
    Some((ticks, again))
}

/// What there is, by identity: the numbers of contents count what was played, and are left out.
fn likeness(world: &World) -> Vec<String> {
    let mut lines: Vec<String> = world
        .iter()
        .map(|object| {
            let fields = object.class().fields();
            let values: Vec<_> = (0..fields.len()).map(|field| object.get(field)).collect();
            let parent = object.parent().and_then(|parent| world.object(parent)).map(|parent| parent.id().0);
            let (id, class, profile) = (object.id().0, object.class_id(), object.profile());
            format!(
                "{id} {class:?} {profile:?} {values:?} {parent:?} {:?} {:?}",
                object.origin(),
                object.owner()
            )
        })
        .collect();
    lines.sort();
    lines
}

/// A whole file with these records in it.
pub(crate) fn file_of(records: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let recorder = Recorder::new(&mut file, "fuzzed", 30, &classes::classes()).expect("a header");
    drop(recorder);
    let end = file.split_off(file.len() - 12);
    for records in records.chunks(usize::from(u16::MAX)) {
        // One block of DEFLATE that is stored: its length, and the complement of that.
        let length = records.len() as u16;
        let packed = [&[1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), records].concat();
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend((records.len() as u32).to_le_bytes());
        file.extend(fnv1a_32(&packed).to_le_bytes());
        file.extend(packed);
    }
    file.extend(end);
    file
}

fn read_cubes(bytes: &[u8]) {
    let Ok(mut frames) = Frames::new(std::io::Cursor::new(bytes.to_vec())) else { return };
    let mut frame = Vec::new();
    for _ in 0..TICKS_MAX {
        if !frames.read(&mut frame).unwrap_or(false) {
            return;
        }
        assert_eq!(frame.len(), netloom_scene::cubes::CUBES);
    }
}
