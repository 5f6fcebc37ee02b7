//! The threads that share the snapshots of large rooms.

use netloom_session::crew::{CREW_MAX, Crew, Job};
use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Threads that wait for jobs. The one that has them done is one of the crew: it would only wait meanwhile, and what it has in its
/// caches is what the jobs need.
#[derive(Debug)]
pub(crate) struct Threads {
    others: ThreadPool,
    count: usize,
}

impl Threads {
    /// So many, 1 to [`CREW_MAX`].
    pub fn start(count: usize) -> Result<Threads, Error> {
        if !(1..=CREW_MAX).contains(&count) {
            return Err(Error::Workers(count));
        }
        let name = |number| format!("netloom worker {number}");
        // A pool has at least one thread; where there is no other to be, it never gets anything to do.
        let others = ThreadPoolBuilder::new().num_threads((count - 1).max(1)).thread_name(name).build();
        let others = others.map_err(|error| Error::Thread(error.to_string()))?;
        Ok(Threads { others, count })
    }
}

impl Crew for Threads {
    fn size(&self) -> usize {
        self.count
    }

    fn run(&self, jobs: &mut [Job<'_>]) {
        let (own, others) = jobs.split_at_mut(jobs.len().div_ceil(self.count));
        self.others.in_place_scope(|scope| {
            others.iter_mut().for_each(|job| scope.spawn(move |_| job()));
            own.iter_mut().for_each(|job| job());
        });
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
