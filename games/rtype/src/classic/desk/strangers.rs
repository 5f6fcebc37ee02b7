//! How many strangers are listened to.
//!
//! Before an address is proven everything that is spent on it is limited: per address, and for all together. The table has a fixed size; two
//! addresses in one place share its limit, and a secret keeps anybody from choosing with whom.

use std::net::IpAddr;

use netloom::proto::crypto::Entropy;
use netloom::replica::SettingError;
use netloom::session::validate::{ActionRate, RateRule};
use netloom::wire::Micros;

const PLACES: usize = 1_024;
/// A client tries four times a second.
const PER_NETWORK: RateRule = RateRule { per_second: 10, burst: 20 };
const TOTAL: RateRule = RateRule { per_second: 1_000, burst: 1_000 };

pub struct Strangers {
    places: Vec<ActionRate>,
    total: ActionRate,
    secret: [u64; 2],
}

impl Strangers {
    pub fn new(now: Micros, entropy: &mut Entropy) -> Result<Strangers, SettingError> {
        Ok(Strangers {
            places: vec![ActionRate::new(PER_NETWORK, now)?; PLACES],
            total: ActionRate::new(TOTAL, now)?,
            secret: [entropy.u64(), entropy.u64() | 1],
        })
    }

    /// Whether to look at a JOIN from here. The address comes first: one that floods takes nothing from the others.
    pub fn admit(&mut self, now: Micros, network: IpAddr) -> bool {
        let place = self.place(network);
        self.places.get_mut(place).is_some_and(|limit| limit.take(now).is_ok())
            && self.total.take(now).is_ok()
    }

    fn place(&self, network: IpAddr) -> usize {
        let number = match network {
            IpAddr::V4(ip) => u64::from(u32::from(ip)) | 1 << 32,
            IpAddr::V6(ip) => (u128::from(ip) >> 64) as u64,
        };
        let mixed = u128::from(number ^ self.secret[0]) * u128::from(self.secret[1]);
        ((mixed >> 64) as u64 ^ mixed as u64) as usize % PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_from_one_address_or_from_many_ends_at_its_limit_and_the_limit_recovers() {
        let now = Micros::from_secs(100);
        let mut strangers = Strangers::new(now, &mut Entropy::new(&[1; 32])).unwrap();
        let one = IpAddr::from([192, 0, 2, 1]);
        assert_eq!((0..10_000).filter(|_| strangers.admit(now, one)).count(), 20);
        assert!(strangers.admit(now, IpAddr::from([192, 0, 2, 2])), "others are not in its place");
        let many = |now, strangers: &mut Strangers| {
            (0..20_000_u32)
                .filter(|n| strangers.admit(now, IpAddr::from((0x0b00_0000 + n).to_be_bytes())))
                .count()
        };
        assert_eq!(many(now, &mut strangers), 1_000 - 21);
        assert_eq!(many(now, &mut strangers), 0);
        assert_eq!(many(now + Micros::from_secs(5), &mut strangers), 1_000);
    }
}
