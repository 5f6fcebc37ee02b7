//! What of Netloom is measured.

use netloom::proto::{Config, Security};
use netloom::wire::Profile;
use peer_common::{ErrorBound, Options};

/// In the order in which `--setting` names them.
pub const NAMES: [&str; 3] = ["exact", "standard", "secure"];

/// A setting of the comparison; everything else is as a server has it by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Positions and rotations as whole f32, not encrypted.
    Exact,
    /// 1 cm and 0.28 degrees, not encrypted.
    Standard,
    /// As standard, encrypted.
    Secure,
}

impl Setting {
    pub fn of(options: &Options) -> Setting {
        match options.setting.as_str() {
            "exact" => Setting::Exact,
            "secure" => Setting::Secure,
            _ => Setting::Standard,
        }
    }

    pub fn profile(self) -> Profile {
        if self == Setting::Exact { Profile::None } else { Profile::Standard }
    }

    /// Off is off for both sides; required is never less.
    pub fn secure(self, connection: &mut Config) {
        connection.security = if self == Setting::Secure { Security::Required } else { Security::Off };
    }

    /// Half a step of the raster on each axis, and what 10 bits for each of three components leave of a rotation. A sum in f32
    /// adds less than a tenth of a millimetre at 500 m. An exact rotation is made unit length again, in its last bit.
    pub fn error_bound(self) -> ErrorBound {
        match self {
            Setting::Exact => ErrorBound { position_metres: 0.0, rotation_degrees: 0.000_05 },
            Setting::Standard | Setting::Secure => {
                ErrorBound { position_metres: 0.005_1, rotation_degrees: 0.28 }
            }
        }
    }
}
