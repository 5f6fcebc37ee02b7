//! What happened in a room, step by step, in a file: for tests and tools that compare what was shown with what was.
//!
//! A page can say what it showed, but not whether that was right. After every step, shots and all, where everything is goes into
//! a file as a line of JSON. Names of objects that clients have differ from one to the
//! other, so objects go by the identity that the server has for them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use netloom::prelude::*;
use netloom::wire::schema::Value;
use serde::Serialize;

/// Steps after which what was written is there to be read.
const FLUSH_STEPS: u64 = 60;
/// Places are in hundredths of a metre, as finely as they are sent.
const PER_METRE: f64 = 100.0;

/// A step.
#[derive(Serialize)]
struct Line<'a> {
    step: u32,
    ms: f64,
    objects: Vec<Witness<'a>>,
}

/// An object.
#[derive(Serialize)]
struct Witness<'a> {
    id: u64,
    class: &'a str,
    owner: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<i32>,
    x: i32,
    y: i32,
}

/// Where it is written.
#[derive(Debug)]
pub struct Truth {
    /// `None` after a failure, which was reported.
    file: Option<BufWriter<File>>,
}

impl Truth {
    /// Writes into a new file.
    pub fn create(path: &Path) -> Result<Truth, String> {
        let file = File::create(path)
            .map_err(|error| format!("--truth {}: cannot be written: {error}", path.display()))?;
        Ok(Truth { file: Some(BufWriter::new(file)) })
    }

    /// Writes down the step that was just made.
    pub fn write(&mut self, room: &Room) {
        let Some(file) = &mut self.file else { return };
        let objects = room.world().iter().map(|object| {
            let schema = object.class().schema();
            let seat = schema.fields().iter().position(|field| field.name() == "seat");
            let seat = seat.and_then(|field| object.get(field)).and_then(|value| match value {
                Value::Word(seat) => Some(seat),
                _ => None,
            });
            // As the game said in this step; peers are told of it with the next snapshot.
            let place = room.world().pose(object.index()).unwrap_or_default().position;
            let [x, y, _] = place.map(|metres| (metres * PER_METRE).round() as i32);
            let owner = object.owner().map(|owner| owner.0);
            Witness { id: object.id().0, class: schema.name(), owner, seat, x, y }
        });
        let line = Line { step: room.step().0, ms: room.now().as_millis_f64(), objects: objects.collect() };
        let written = serde_json::to_writer(&mut *file, &line)
            .map_err(std::io::Error::from)
            .and_then(|()| file.write_all(b"\n"))
            .and_then(|()| if room.steps().is_multiple_of(FLUSH_STEPS) { file.flush() } else { Ok(()) });
        if let Err(error) = written {
            tracing::error!(%error, "the truth is not written any more");
            self.file = None;
        }
    }
}
