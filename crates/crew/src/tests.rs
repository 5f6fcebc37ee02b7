use super::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Jobs that count in places of their own.
fn count_up(crew: &Crew, places: &mut [usize]) {
    let mut calls: Vec<_> = places.iter_mut().map(|place| move || *place += 1).collect();
    let mut jobs: Vec<Job<'_>> = calls.iter_mut().map(|call| -> Job<'_> { call }).collect();
    crew.run(&mut jobs);
}

fn crew(count: usize) -> Crew {
    Crew::start(count, "test").expect("threads start")
}

#[test]
fn every_job_is_done_once_however_many_threads_there_are() {
    for count in 0..=8 {
        let crew = crew(count);
        assert_eq!(crew.size(), count.max(1));
        for jobs in 0..=20 {
            let mut places = vec![0; jobs];
            count_up(&crew, &mut places);
            assert_eq!(places, vec![1; jobs]);
        }
    }
}

#[test]
fn it_does_not_matter_whether_threads_are_awake() {
    let crew = crew(3);
    let mut places = [0; 3];
    for round in 0..20_000 {
        match round % 7 {
            0 => crew.wake(),
            3 => crew.rest(),
            _ => {}
        }
        count_up(&crew, &mut places);
    }
    assert_eq!(places, [20_000; 3]);
}

#[test]
fn the_others_have_a_share() {
    let (crew, meeting) = (crew(3), std::sync::Barrier::new(3));
    let mut names: [Option<String>; 3] = Default::default();
    let meet = |name: &mut Option<String>| {
        // Nobody gets past it until all three are there: nobody can have done the job of another.
        meeting.wait();
        *name = thread::current().name().map(str::to_owned);
    };
    let mut calls = names.each_mut().map(|name| || meet(name));
    crew.run(&mut calls.each_mut().map(|call| -> Job<'_> { call }));
    let own = thread::current().name().map(str::to_owned);
    assert_eq!(names, [own, Some("test 1".to_owned()), Some("test 2".to_owned())]);
}

#[test]
fn a_panic_of_any_job_comes_when_all_others_are_done() {
    let crew = crew(3);
    for which in 0..5 {
        let done = AtomicUsize::new(0);
        let work = |number| {
            assert_ne!(number, which, "job {which} panics");
            done.fetch_add(1, Relaxed);
        };
        let mut calls: [_; 5] = std::array::from_fn(|number| move || work(number));
        let mut jobs = calls.each_mut().map(|call| -> Job<'_> { call });
        let told = catch_unwind(AssertUnwindSafe(|| crew.run(&mut jobs))).expect_err("a job panics");
        let text = told.downcast_ref::<String>().expect("a panic with a text");
        assert!(text.contains(&format!("job {which} panics")), "{text}");
        assert_eq!(done.load(Relaxed), 4, "the others are done");
        let mut places = [0; 5];
        count_up(&crew, &mut places);
        assert_eq!(places, [1; 5], "the crew works as before");
    }
}

/// What panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

#[test]
fn panics_that_panic_keep_no_job_from_being_done() {
    for count in [1, 2, 4] {
        let (crew, done) = (crew(count), AtomicUsize::new(0));
        let work = |number| match number {
            0 => panic!("the first"),
            1 | 2 => std::panic::panic_any(Bomb),
            _ => drop(done.fetch_add(1, Relaxed)),
        };
        let mut calls: [_; 6] = std::array::from_fn(|number| move || work(number));
        let mut jobs = calls.each_mut().map(|call| -> Job<'_> { call });
        let told = catch_unwind(AssertUnwindSafe(|| crew.run(&mut jobs))).expect_err("jobs panic");
        assert_eq!(told.downcast_ref(), Some(&"the first"));
        assert_eq!(done.load(Relaxed), 3);
    }
}

#[test]
fn whoever_is_woken_in_vain_goes_to_sleep() {
    let crew = crew(2);
    crew.wake();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while format!("{crew:?}").contains("is_awake: true") {
        assert!(std::time::Instant::now() < deadline, "{crew:?}");
        thread::yield_now();
    }
}

#[test]
fn a_crew_that_is_awake_can_be_dropped() {
    let crew = crew(4);
    crew.wake();
    drop(crew);
}

#[test]
fn several_callers_may_share_a_crew_and_a_job_may_have_jobs() {
    let crew = crew(3);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut places = [[0; 3]; 3];
                for _ in 0..2_000 {
                    let mut calls = places.each_mut().map(|places| || count_up(&crew, places));
                    crew.run(&mut calls.each_mut().map(|call| -> Job<'_> { call }));
                }
                assert_eq!(places, [[2_000; 3]; 3]);
            });
        }
    });
}
