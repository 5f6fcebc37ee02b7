//! What transports outside of this crate are made with.
//!
//! A [`Transport`](crate::Transport) owes its drivers more than bytes: a sleep that another thread can end, a refusal of
//! batches that could not hold a datagram, settings that name their range. Those parts are the same for all, and are here.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use netloom_transport::toolkit::Bell;
//!
//! let bell = Arc::new(Bell::default());
//! let waker = bell.waker(); // for `Transport::waker`, and for the thread that receives
//! std::thread::spawn(move || waker.wake());
//! bell.wait(Duration::from_secs(60)); // in `Transport::wait`
//! ```

pub use crate::error::check_range;
pub use crate::poll::{Bell, sleep_time};
pub use crate::transport::{check_slots, refuse_too_long};
