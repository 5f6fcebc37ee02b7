//! What a server shows to prove who it is.
//!
//! A server on a home connection has no name that an authority would vouch for. Browsers connect to it nonetheless if the page gives the
//! SHA-256 of its certificate, and if that is an ECDSA key valid for two weeks at most. So there is always a new one to be made, and
//! nobody who holds hashes should be shut out by that. The hash of the next certificate is given out from the beginning:
//!
//! ```text
//!   day        0         6         12        18
//!   shown      A ───────▶B ───────▶C ───────▶D        each valid a day before and six after, for clocks that are wrong
//!   hashes     A B       B C       C D                whoever asked while A was shown connects until day 12
//! ```
//!
//! Time is read when somebody connects or asks: there is no timer, and a machine that slept for a month is right at once.
//!
//! A certificate of the operator's own is read from files, and read again when they change, as they do when it is renewed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use wtransport::Identity;
use wtransport::tls::rustls::crypto::ring;
use wtransport::tls::rustls::pki_types::pem::PemObject;
use wtransport::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use wtransport::tls::rustls::server::{ClientHello, ResolvesServerCert};
use wtransport::tls::rustls::sign::CertifiedKey;
use wtransport::tls::self_signed::time::OffsetDateTime;

const DAY_SECS: u64 = 86_400;
/// How long a certificate is shown.
const SERVICE_SECS: u64 = 6 * DAY_SECS;
/// How long before that it is valid already.
const BEFORE_SECS: u64 = DAY_SECS;
/// How long it is valid: browsers accept 14 days.
const VALID_SECS: u64 = 13 * DAY_SECS;
/// How often files are looked at, if somebody connects.
const LOOK_SECS: u64 = 60;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file has something else in it.
    #[error("{} has no {expected} in it: {problem}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// What should be there.
        expected: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Certificate and key do not belong together, or are of a kind that is not supported.
    #[error("the certificate of {} cannot be used with the key of {}: {problem}", certificate.display(), key.display())]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A certificate cannot be made.
    #[error("cannot make a certificate for {names:?}: {problem}")]
    NotMade {
        /// Whom it was for.
        names: Vec<String>,
        /// What is wrong.
        problem: String,
    },
}

/// The SHA-256 of a certificate, written in base64.
///
/// ```
/// use netloom_webtransport::CertificateHash;
///
/// let hash = CertificateHash([7; 32]);
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CertificateHash(pub [u8; 32]);

/// A text that is no hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no hash of a certificate: it has 32 bytes in base64, as a server prints it and serves it in /.well-known/netloom.json"
)]
pub struct HashError(String);

impl fmt::Display for CertificateHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&BASE64.encode(self.0))
    }
}

impl FromStr for CertificateHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<CertificateHash, HashError> {
        let bytes = BASE64.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(CertificateHash).ok_or_else(|| HashError(text.chars().take(80).collect()))
    }
}

/// What a server shows. Clones are the same certificates: one for the transport, one for whoever gives out the hashes.
#[derive(Clone)]
pub struct Certificates(Arc<Source>);

enum Source {
    Made { names: Vec<String>, pair: Mutex<Pair> },
    Files { certificate: PathBuf, key: PathBuf, loaded: Mutex<Loaded> },
}

/// A certificate that was made here.
struct Made {
    key: Arc<CertifiedKey>,
    hash: CertificateHash,
}

/// The one that is shown, and the one after it.
struct Pair {
    shown: Made,
    next: Made,
    /// When the one that is shown began to be.
    since_secs: u64,
}

struct Loaded {
    key: Arc<CertifiedKey>,
    looked_secs: u64,
}

impl Certificates {
    /// Makes certificates for these names and addresses, and new ones in time. The keys are never written anywhere.
    pub fn self_signed(names: &[&str]) -> Result<Certificates, CertificateError> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let pair = Mutex::new(Pair::make(&names, now_secs())?);
        Ok(Certificates(Arc::new(Source::Made { names, pair })))
    }

    /// Uses a certificate, with those that vouch for it behind it, and its key: two files in PEM.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Certificates, CertificateError> {
        let loaded = Loaded { key: Arc::new(read(certificate, key)?), looked_secs: now_secs() };
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Certificates(Arc::new(Source::Files { certificate, key, loaded: Mutex::new(loaded) })))
    }

    /// The hashes that a page may give to its browser: of what is shown now, and of what will be next. None for a certificate from
    /// files, which the browser's authorities vouch for.
    pub fn hashes(&self) -> Vec<CertificateHash> {
        self.hashes_at(now_secs())
    }

    fn hashes_at(&self, now_secs: u64) -> Vec<CertificateHash> {
        match &*self.0 {
            Source::Made { names, pair } => {
                let mut pair = lock(pair);
                pair.advance(names, now_secs);
                vec![pair.shown.hash, pair.next.hash]
            }
            Source::Files { .. } => Vec::new(),
        }
    }

    fn key_at(&self, now_secs: u64) -> Arc<CertifiedKey> {
        match &*self.0 {
            Source::Made { names, pair } => {
                let mut pair = lock(pair);
                pair.advance(names, now_secs);
                Arc::clone(&pair.shown.key)
            }
            Source::Files { certificate, key, loaded } => {
                let mut loaded = lock(loaded);
                loaded.look(certificate, key, now_secs);
                Arc::clone(&loaded.key)
            }
        }
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Source::Made { names, .. } => formatter.debug_tuple("Certificates").field(names).finish(),
            Source::Files { certificate, .. } => {
                formatter.debug_tuple("Certificates").field(certificate).finish()
            }
        }
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.key_at(now_secs()))
    }
}

impl Pair {
    fn make(names: &[String], since_secs: u64) -> Result<Pair, CertificateError> {
        let shown = make(names, since_secs)?;
        Ok(Pair { shown, next: make(names, since_secs + SERVICE_SECS)?, since_secs })
    }

    /// Moves on to what is to be shown at a time.
    fn advance(&mut self, names: &[String], now_secs: u64) {
        let end_secs = self.since_secs + SERVICE_SECS;
        let is_due = (end_secs..end_secs + SERVICE_SECS).contains(&now_secs);
        let is_lost = now_secs >= end_secs + SERVICE_SECS || now_secs + BEFORE_SECS < self.since_secs;
        let made = match (is_due, is_lost) {
            (true, _) => make(names, end_secs + SERVICE_SECS).map(|next| {
                self.shown = std::mem::replace(&mut self.next, next);
                self.since_secs = end_secs;
            }),
            // The clock was set, or nobody came for weeks: no hash that was given out is of use any more.
            (_, true) => Pair::make(names, now_secs).map(|pair| *self = pair),
            _ => return,
        };
        match made {
            Ok(()) => tracing::info!(hash = %self.shown.hash, "another certificate is shown"),
            Err(error) => tracing::error!(%error, "the certificate is not replaced"),
        }
    }
}

impl Loaded {
    /// Reads the files again if they changed. What cannot be used is not: the old certificate stays.
    fn look(&mut self, certificate: &Path, key: &Path, now_secs: u64) {
        if now_secs.abs_diff(self.looked_secs) < LOOK_SECS {
            return;
        }
        self.looked_secs = now_secs;
        match read(certificate, key) {
            Ok(key) if key.cert != self.key.cert => {
                self.key = Arc::new(key);
                tracing::info!(certificate = %certificate.display(), "another certificate is shown");
            }
            Ok(_) => {}
            // Perhaps only one of both is written yet.
            Err(error) => tracing::error!(%error, "the certificate is not replaced"),
        }
    }
}

fn make(names: &[String], since_secs: u64) -> Result<Made, CertificateError> {
    let not_made = |problem: String| CertificateError::NotMade { names: names.to_vec(), problem };
    let from_secs = since_secs.saturating_sub(BEFORE_SECS);
    let time = |secs: u64| {
        let secs = i64::try_from(secs).map_err(|error| not_made(error.to_string()))?;
        OffsetDateTime::from_unix_timestamp(secs).map_err(|error| not_made(error.to_string()))
    };
    let identity = Identity::self_signed_builder()
        .subject_alt_names(names)
        .validity_period(time(from_secs)?, time(from_secs + VALID_SECS)?)
        .build()
        .map_err(|error| not_made(error.to_string()))?;
    let certificate = identity.certificate_chain().as_slice().first();
    let certificate = certificate.ok_or_else(|| not_made(String::from("it is empty")))?;
    let hash = CertificateHash(*certificate.hash().as_ref());
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivatePkcs8KeyDer::from(identity.private_key().secret_der().to_vec());
    let key = CertifiedKey::from_der(chain, key.into(), &ring::default_provider());
    Ok(Made { key: Arc::new(key.map_err(|error| not_made(error.to_string()))?), hash })
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, CertificateError> {
    let bytes = |file: &Path| {
        std::fs::read(file).map_err(|source| CertificateError::Read { file: file.into(), source })
    };
    let wrong = |file: &Path, expected, problem: String| CertificateError::Content {
        file: file.into(),
        expected,
        problem,
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes(certificate)?)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(certificate, "certificate", error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong(
            certificate,
            "certificate",
            String::from("there is no -----BEGIN CERTIFICATE-----"),
        ));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?)
        .map_err(|error| wrong(key, "private key", error.to_string()))?;
    CertifiedKey::from_der(chain, private, &ring::default_provider()).map_err(|error| {
        CertificateError::Mismatch {
            certificate: certificate.into(),
            key: key.into(),
            problem: error.to_string(),
        }
    })
}

fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
