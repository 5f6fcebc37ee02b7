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

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
