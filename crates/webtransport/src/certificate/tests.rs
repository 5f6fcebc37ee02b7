use super::*;

const START_SECS: u64 = 1_900_000_000;

fn made_at(secs: u64) -> Certificates {
    let names = vec![String::from("localhost")];
    let pair = Mutex::new(Pair::make(&names, secs).unwrap());
    Certificates(Arc::new(Source::Made { names, pair }))
}

fn shown(certificates: &Certificates, secs: u64) -> CertificateHash {
    let key = certificates.key_at(secs);
    let certificate = wtransport::tls::Certificate::from_der(key.cert[0].to_vec()).unwrap();
    CertificateHash(*certificate.hash().as_ref())
}

#[test]
fn whoever_asked_for_hashes_connects_for_another_six_days_at_least() {
    let certificates = made_at(START_SECS);
    for asked_hours in (0..24 * 40).step_by(7) {
        let asked_secs = START_SECS + asked_hours * 3_600;
        let known = certificates.hashes_at(asked_secs);
        assert_eq!(known.len(), 2);
        for later_secs in [0, 3_600, SERVICE_SECS - 1] {
            assert!(
                known.contains(&shown(&made_alike(&certificates), asked_secs + later_secs)),
                "{asked_hours} h"
            );
        }
    }
}

/// The same certificates, which may move on without these.
fn made_alike(certificates: &Certificates) -> Certificates {
    let Source::Made { names, pair } = &*certificates.0 else { unreachable!("these were made") };
    let pair = lock(pair);
    let copy = |made: &Made| Made { key: Arc::clone(&made.key), hash: made.hash };
    let pair = Pair { shown: copy(&pair.shown), next: copy(&pair.next), since_secs: pair.since_secs };
    Certificates(Arc::new(Source::Made { names: names.clone(), pair: Mutex::new(pair) }))
}

#[test]
fn what_is_shown_is_the_first_of_the_hashes_and_changes_every_six_days() {
    let certificates = made_at(START_SECS);
    let [first, second] = certificates.hashes_at(START_SECS)[..] else { panic!("two hashes") };
    assert_eq!(shown(&certificates, START_SECS + SERVICE_SECS - 1), first);
    assert_eq!(shown(&certificates, START_SECS + SERVICE_SECS), second);
    let next = certificates.hashes_at(START_SECS + SERVICE_SECS);
    assert_eq!(next[0], second);
    assert!(!next.contains(&first));
}

#[test]
fn a_clock_that_was_set_or_a_long_sleep_begins_anew() {
    for then_secs in [START_SECS + 3 * SERVICE_SECS, START_SECS - 2 * BEFORE_SECS] {
        let certificates = made_at(START_SECS);
        let before = certificates.hashes_at(START_SECS);
        let after = certificates.hashes_at(then_secs);
        assert!(after.iter().all(|hash| !before.contains(hash)), "{then_secs}");
        assert_eq!(shown(&certificates, then_secs), after[0]);
    }
}

#[test]
fn browsers_take_them_two_weeks_at_most_and_valid_whenever_they_are_shown() {
    const { assert!(VALID_SECS <= 14 * DAY_SECS) };
    // From a day before to the end of the service, and a day after for clocks that are behind.
    const { assert!(BEFORE_SECS + SERVICE_SECS + DAY_SECS <= VALID_SECS) };
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("netloom-certificate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Files of a certificate and of its key.
    fn identity(&self, name: &str) -> [PathBuf; 2] {
        let identity = Identity::self_signed(["localhost"]).unwrap();
        let certificate = identity.certificate_chain().as_slice()[0].to_pem();
        [
            self.write(&format!("{name}.pem"), &certificate),
            self.write(&format!("{name}.key"), &identity.private_key().to_secret_pem()),
        ]
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is in a folder for what nobody keeps.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_certificate_of_files_needs_no_hash_and_is_read_again_when_it_changes() {
    let folder = Folder::new("renewed");
    let [certificate, key] = folder.identity("a");
    let certificates = Certificates::from_files(&certificate, &key).unwrap();
    assert_eq!(certificates.hashes(), []);
    let now = now_secs();
    let before = shown(&certificates, now);
    let [renewed, renewed_key] = folder.identity("b");
    // Half of it: the old one stays.
    std::fs::rename(renewed, &certificate).unwrap();
    assert_eq!(shown(&certificates, now + LOOK_SECS), before);
    std::fs::rename(renewed_key, &key).unwrap();
    assert_eq!(shown(&certificates, now + LOOK_SECS + 1), before, "it is not looked at all the time");
    assert_ne!(shown(&certificates, now + 2 * LOOK_SECS), before);
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_reason() {
    let folder = Folder::new("wrong");
    let ([certificate, key], [_, other_key]) = (folder.identity("a"), folder.identity("b"));
    let (missing, empty) = (folder.0.join("missing.pem"), folder.write("empty.pem", ""));
    let rubbish = folder.write("rubbish.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    for (certificate, key, parts) in [
        (&missing, &key, &["missing.pem", "cannot read"][..]),
        (&certificate, &missing, &["missing.pem", "cannot read"]),
        (&empty, &key, &["empty.pem", "no certificate"]),
        (&rubbish, &key, &["rubbish.pem", "no certificate"]),
        (&certificate, &empty, &["empty.pem", "no private key"]),
        (&certificate, &certificate, &["a.pem", "no private key"]),
        (&certificate, &other_key, &["a.pem", "b.key", "cannot be used with"]),
    ] {
        let error = Certificates::from_files(certificate, key).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn what_is_no_hash_is_quoted() {
    for text in ["", "abc", "AAAA", &"A".repeat(200)] {
        assert!(text.parse::<CertificateHash>().unwrap_err().to_string().starts_with('`'), "{text}");
    }
}
