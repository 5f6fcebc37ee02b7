//! A room as a recorded scene: what `netloom train` and `netloom-bench scenes` read.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use netloom::prelude::*;
use netloom_scene::{Recorder, SceneError};

/// Where a scene is recorded.
#[derive(Debug)]
pub struct SceneFile {
    path: PathBuf,
    name: &'static str,
    state: State,
    ticks: u64,
}

#[derive(Debug)]
enum State {
    /// Nothing was recorded yet: what objects are made of is known when the room runs.
    Open(File),
    Recording(Recorder<BufWriter<File>>),
    /// After a failure, which was reported.
    Failed,
}

impl SceneFile {
    /// Records into a new file, under the name of a game; one that is there is overwritten.
    pub fn create(path: &Path, name: &'static str) -> Result<SceneFile, String> {
        let file = File::create(path).map_err(|error| {
            format!(
                "--record-scene {}: cannot be written: {error}: name a file in a folder that exists",
                path.display()
            )
        })?;
        Ok(SceneFile { path: path.to_owned(), name, state: State::Open(file), ticks: 0 })
    }

    /// Records the send tick that was just told.
    pub fn record(&mut self, room: &Room) {
        self.ticks += 1;
        let state = std::mem::replace(&mut self.state, State::Failed);
        self.state = self.recorded(state, room).unwrap_or_else(|error| {
            let path = self.path.display();
            tracing::error!(%error, %path, "the scene is not recorded any more");
            State::Failed
        });
    }

    fn recorded(&self, state: State, room: &Room) -> Result<State, SceneError> {
        let mut recorder = match state {
            State::Open(file) => {
                let sends_per_second = room.config().sends_per_second;
                let classes = room.world().classes().declared();
                Recorder::new(BufWriter::new(file), self.name, sends_per_second, classes)?
            }
            State::Recording(recorder) => recorder,
            State::Failed => return Ok(State::Failed),
        };
        recorder.tick(room.world())?;
        Ok(State::Recording(recorder))
    }
}

impl Drop for SceneFile {
    fn drop(&mut self) {
        let State::Recording(recorder) = &mut self.state else { return };
        let path = self.path.display();
        match recorder.finish() {
            Ok(()) => tracing::info!(%path, ticks = self.ticks, "the scene is recorded"),
            Err(error) => tracing::error!(%error, %path, "the end of the scene is not recorded"),
        }
    }
}
