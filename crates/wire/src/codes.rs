//! Choices that are one byte on the wire: reasons, refusals, kinds of news.
//!
//! A code never changes its meaning, and a receiver may meet codes of a later version. Each choice has words, too, because
//! whoever is refused wants to read why.

/// An enum whose variants are bytes on the wire and have words: `Variant = code, "words";` for each.
///
/// It gets `code`, `from_code`, `ALL` in the order of declaration, `Display` and `Error`.
///
/// ```
/// netloom_wire::codes! {
///     /// Why a door stays shut.
///     Shut {
///         /// It is locked.
///         Locked = 1, "the door is locked: find the key";
///         /// Somebody leans on it.
///         Blocked = 2, "somebody leans on the door";
///     }
/// }
///
/// assert_eq!(Shut::from_code(2), Some(Shut::Blocked));
/// assert_eq!(Shut::from_code(9), None, "of a later version");
/// assert_eq!((Shut::Locked.code(), Shut::ALL.len()), (1, 2));
/// assert_eq!(Shut::Locked.to_string(), "the door is locked: find the key");
/// ```
#[macro_export]
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All of them, in the order of their codes.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The code on the wire, which never changes its meaning.
            pub const fn code(self) -> u8 {
                match self { $($name::$variant => $code,)* }
            }

            /// What a code means; `None` for codes that this version does not know.
            pub const fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self { $($name::$variant => $text,)* })
            }
        }

        impl std::error::Error for $name {}
    };
}
