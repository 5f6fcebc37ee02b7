//! The processor time that a thread has used, its system calls included.
//!
//! The time that passes while a server works says as much about its neighbours as about the server: whoever else wants the
//! processor makes it longer. What the thread itself used does not depend on them, caches aside.

use std::time::Duration;

/// What the calling thread has used so far.
#[cfg(unix)]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Where the system has no such clock, the time that passes: right on a machine that has nothing else to do.
#[cfg(not(unix))]
pub fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// What a piece of work used, in microseconds.
pub fn microseconds<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let before = thread_time();
    let result = work();
    (result, (thread_time() - before).as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_time_never_goes_back() {
        let before = thread_time();
        let (sum, us) = microseconds(|| (0..1_000_000u64).map(std::hint::black_box).sum::<u64>());
        assert_eq!(sum, 499_999_500_000);
        assert!(us > 0.0 && thread_time() > before);
    }
}
