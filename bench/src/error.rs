//! Why a suite has no figures. A library that fails its workload gets an error, never a number.

/// A failed measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// The two sides were given all the time a handshake could need.
    #[error("{library}: the two sides did not connect within the time allowed")]
    NeverConnected {
        /// Who was measured.
        library: &'static str,
    },
    /// A reliable message that never came.
    #[error("{library}: reliable message {index} was never delivered")]
    NeverDelivered {
        /// Who was measured.
        library: &'static str,
        /// The message, counted from 0.
        index: u64,
    },
    /// A reliable-ordered stream that delivered another message, or other bytes, than the next one.
    #[error("{library}: something else was delivered where reliable message {expected} was due")]
    WrongDelivery {
        /// Who was measured.
        library: &'static str,
        /// The message that was due, counted from 0.
        expected: u64,
    },
    /// The exchange that is timed did not deliver what was sent.
    #[error("{library}: {delivered} payload bytes were delivered of {sent} sent")]
    ShortRound {
        /// Who was measured.
        library: &'static str,
        /// Payload bytes sent.
        sent: u64,
        /// Payload bytes delivered.
        delivered: u64,
    },
    /// A client does not hold what the server has for it.
    #[error("{workload}: the client of peer {peer} {what}")]
    Diverged {
        /// What was measured.
        workload: &'static str,
        /// The peer, counted from 0.
        peer: usize,
        /// The difference.
        what: String,
    },
    /// A workload that is not what its figure says.
    #[error("{workload}: {what}")]
    WrongWorkload {
        /// What was measured.
        workload: &'static str,
        /// What it lacks.
        what: String,
    },
    /// A file cannot be measured.
    #[error("{file}: {what}")]
    File {
        /// Its path.
        file: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A scene cannot be opened; the words name it.
    #[error("{0}")]
    NoScene(String),
    /// A scene did not arrive as it was.
    #[error("scene {scene} with table {table}: {what}")]
    Scene {
        /// What was sent.
        scene: String,
        /// By which codes.
        table: String,
        /// The difference.
        what: String,
    },
    /// The library itself refused a call.
    #[error("{library}: {what}")]
    Refused {
        /// Who was measured.
        library: &'static str,
        /// The library's own words.
        what: String,
    },
}

impl BenchError {
    /// `library` refused a call, in its own words.
    pub fn refused(library: &'static str, what: impl std::fmt::Debug) -> BenchError {
        BenchError::Refused { library, what: format!("{what:?}") }
    }
}
