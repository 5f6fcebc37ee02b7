//! Lending jobs costs no memory, on either side.

use netloom_count::allocations;
use netloom_crew::{Crew, Job};

#[test]
fn jobs_are_lent_without_allocating() {
    let crew = Crew::start(2, "test").expect("threads start");
    // What each thread had allocated when its job began: the caller's, and that of whoever did the second.
    let mut counts = [0; 2];
    // The second job is the other thread's: the first waits until it began.
    let meeting = std::sync::Barrier::new(2);
    let turn = |counts: &mut [u64; 2]| {
        let [first, second] = counts;
        let mut calls = [first, second].map(|count| {
            let meeting = &meeting;
            move || {
                meeting.wait();
                *count = allocations();
            }
        });
        crew.wake();
        crew.run(&mut calls.each_mut().map(|call| -> Job<'_> { call }));
        crew.rest();
    };
    // The first time, threads learn who they are.
    turn(&mut counts);
    let before = counts;
    (0..1_000).for_each(|_| turn(&mut counts));
    assert_eq!(counts, before, "neither thread allocated");
}
