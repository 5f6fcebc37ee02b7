//! The threads that share the snapshots of large rooms.

use netloom_session::crew::{CREW_MAX, Crew, Job};

use crate::error::Error;

/// The thread of the game, and others that wait for jobs.
#[derive(Debug)]
pub(crate) struct Threads(netloom_crew::Crew);

impl Threads {
    /// So many, 1 to [`CREW_MAX`].
    pub fn start(count: usize) -> Result<Threads, Error> {
        if !(1..=CREW_MAX).contains(&count) {
            return Err(Error::Workers(count));
        }
        let crew = netloom_crew::Crew::start(count, "netloom worker");
        crew.map(Threads).map_err(|error| Error::Thread(error.to_string()))
    }
}

impl Crew for Threads {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        self.0.run(jobs);
    }

    fn wake(&self) {
        self.0.wake();
    }

    fn rest(&self) {
        self.0.rest();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_however_many_threads_there_are() {
        for count in [1, 2, 5, CREW_MAX] {
            let mut done = [0; CREW_MAX];
            let crew = Threads::start(count).expect("threads start");
            assert_eq!(crew.size(), count);
            let mut calls = done.each_mut().map(|done| move || *done += 1);
            crew.run(&mut calls.each_mut().map(|call| -> Job<'_> { call }));
            assert_eq!(done, [1; CREW_MAX]);
        }
    }

    #[test]
    fn impossible_counts_are_refused() {
        for count in [0, CREW_MAX + 1] {
            let text = Threads::start(count).expect_err("so many cannot be").to_string();
            assert!(text.contains("1 to 16"), "{text}");
        }
    }
}
