//! The three clocks of a measurement.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread, in the kernel included.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process, in the kernel included.
pub fn process_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

/// Time that passes, the same in both processes.
pub fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// CPU time of the calling thread between two moments, without what reading the clock takes. That is a system call, and as dear as
/// some ticks.
pub struct Stopwatch {
    start_ns: u64,
    reading_ns: u64,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let before_ns = thread_cpu_ns();
        let start_ns = thread_cpu_ns();
        Stopwatch { start_ns, reading_ns: start_ns - before_ns }
    }

    pub fn stop(self) -> u64 {
        (thread_cpu_ns() - self.start_ns).saturating_sub(self.reading_ns)
    }
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
