//! Who sees a property and who may write it.
//!
//! | flag                     | meaning                                                           |
//! |--------------------------|-------------------------------------------------------------------|
//! | `SYNCED`                 | in some sync set; follows from the next two and need not be given |
//! | `OWNER_SYNC`             | the owner of the object receives it                               |
//! | `PUBLIC_SYNC`            | everyone who sees the object receives it, the owner too           |
//! | `NO_SYNC`                | never leaves the server                                           |
//! | `MODIFIABLE_BY_CLIENT`   | the owner may ask to change it                                    |
//! | `MODIFIABLE_BY_ANY_CLIENT` | anyone who sees it may ask to change it                         |
//!
//! A client's write is a request: the server validates it always.

use core::fmt;

/// A set of the six flags. [`SyncFlags::validated`] makes it consistent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncFlags(u8);

/// Someone who may receive a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The owner of the object.
    Owner,
    /// Someone of the owner's team: sees what the public sees.
    Team,
    /// Anyone who sees the object.
    Public,
}

/// Someone who wants to change a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writer {
    /// The server's own game code.
    Server,
    /// The client that owns the object.
    Owner,
    /// Another client that sees the object.
    OtherClient,
}

/// Flags that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagsError {
    /// Neither an audience nor its absence is stated.
    #[error("name an audience: OWNER_SYNC, PUBLIC_SYNC, or NO_SYNC for none")]
    NoAudience,
    /// The property is to stay on the server and to be sent.
    #[error("NO_SYNC contradicts SYNCED, OWNER_SYNC and PUBLIC_SYNC")]
    SyncedAndNot,
    /// Someone may write what they cannot see.
    #[error("a client that may write a property must receive it: {0}")]
    WritableUnseen(&'static str),
}

impl SyncFlags {
    /// In some sync set.
    pub const SYNCED: SyncFlags = SyncFlags(1 << 0);
    /// The owner receives it.
    pub const OWNER_SYNC: SyncFlags = SyncFlags(1 << 1);
    /// Everyone who sees the object receives it.
    pub const PUBLIC_SYNC: SyncFlags = SyncFlags(1 << 2);
    /// Never leaves the server.
    pub const NO_SYNC: SyncFlags = SyncFlags(1 << 3);
    /// The owner may ask to change it.
    pub const MODIFIABLE_BY_CLIENT: SyncFlags = SyncFlags(1 << 4);
    /// Anyone who sees it may ask to change it.
    pub const MODIFIABLE_BY_ANY_CLIENT: SyncFlags = SyncFlags(1 << 5);

    /// Both sets of flags.
    #[must_use]
    pub const fn with(self, other: SyncFlags) -> SyncFlags {
        SyncFlags(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: SyncFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of a wire value; `None` if it has other bits, too.
    pub const fn from_bits(bits: u8) -> Option<SyncFlags> {
        if bits < 1 << 6 { Some(SyncFlags(bits)) } else { None }
    }

    /// The wire value.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The same flags with `SYNCED` set where it follows, or the contradiction among them.
    pub const fn validated(self) -> Result<SyncFlags, FlagsError> {
        let owner = self.contains(SyncFlags::OWNER_SYNC);
        let public = self.contains(SyncFlags::PUBLIC_SYNC);
        let unsynced = self.contains(SyncFlags::NO_SYNC);
        if unsynced && (owner || public || self.contains(SyncFlags::SYNCED)) {
            return Err(FlagsError::SyncedAndNot);
        }
        if !unsynced && !owner && !public {
            return Err(FlagsError::NoAudience);
        }
        if self.contains(SyncFlags::MODIFIABLE_BY_CLIENT) && unsynced {
            return Err(FlagsError::WritableUnseen("MODIFIABLE_BY_CLIENT needs OWNER_SYNC or PUBLIC_SYNC"));
        }
        if self.contains(SyncFlags::MODIFIABLE_BY_ANY_CLIENT) && !public {
            return Err(FlagsError::WritableUnseen("MODIFIABLE_BY_ANY_CLIENT needs PUBLIC_SYNC"));
        }
        Ok(if unsynced { self } else { self.with(SyncFlags::SYNCED) })
    }

    /// Whether `audience` receives the property.
    pub const fn reaches(self, audience: Audience) -> bool {
        match audience {
            Audience::Owner => self.contains(SyncFlags::OWNER_SYNC) || self.contains(SyncFlags::PUBLIC_SYNC),
            Audience::Team | Audience::Public => self.contains(SyncFlags::PUBLIC_SYNC),
        }
    }

    /// Whether `writer` may change the property; of a client, whether it may ask to.
    pub const fn may_write(self, writer: Writer) -> bool {
        let any = self.contains(SyncFlags::MODIFIABLE_BY_ANY_CLIENT);
        match writer {
            Writer::Server => true,
            Writer::Owner => any || self.contains(SyncFlags::MODIFIABLE_BY_CLIENT),
            Writer::OtherClient => any,
        }
    }
}

impl fmt::Debug for SyncFlags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 6] = [
            "SYNCED",
            "OWNER_SYNC",
            "PUBLIC_SYNC",
            "NO_SYNC",
            "MODIFIABLE_BY_CLIENT",
            "MODIFIABLE_BY_ANY_CLIENT",
        ];
        let set = NAMES.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| name);
        formatter.debug_set().entries(set).finish()
    }
}
