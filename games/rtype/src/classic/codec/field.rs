//! Messages as tables of fields.
//!
//! A message that is copied from memory has its compiler's padding and its machine's byte order. One that is written field by field has
//! neither, but then reading, writing and the size are three lists that must agree. Here they are one.

use netloom::wire::{ByteReader, ByteSink, ByteWriter, ReadError};

/// Something with a fixed size on the wire.
pub trait Field: Sized {
    /// How many bytes it has.
    const BYTES: usize;
    /// Reads it, and refuses what it cannot be.
    fn read(reader: &mut ByteReader<'_>) -> Result<Self, ReadError>;
    /// Writes it.
    fn write(&self, writer: &mut ByteWriter<'_>);
}

macro_rules! numbers {
    ($($kind:ty, $bytes:literal, $read:ident, $write:ident;)*) => {
        $(impl Field for $kind {
            const BYTES: usize = $bytes;

            fn read(reader: &mut ByteReader<'_>) -> Result<$kind, ReadError> {
                reader.$read()
            }

            fn write(&self, writer: &mut ByteWriter<'_>) {
                writer.$write(*self);
            }
        })*
    };
}

numbers! {
    u8, 1, read_u8, write_u8;
    u16, 2, read_u16, write_u16;
    u32, 4, read_u32, write_u32;
    u64, 8, read_u64, write_u64;
    bool, 1, read_bool, write_bool;
}

impl<F: Field + Copy, const N: usize> Field for [F; N] {
    const BYTES: usize = N * F::BYTES;

    fn read(reader: &mut ByteReader<'_>) -> Result<[F; N], ReadError> {
        let mut all = [F::read(reader)?; N];
        for later in all.iter_mut().skip(1) {
            *later = F::read(reader)?;
        }
        Ok(all)
    }

    fn write(&self, writer: &mut ByteWriter<'_>) {
        self.iter().for_each(|field| field.write(writer));
    }
}

/// A byte that has only the values of an enum of `codes!`.
macro_rules! code_fields {
    ($($kind:ty),*) => {
        $(impl Field for $kind {
            const BYTES: usize = 1;

            fn read(reader: &mut ByteReader<'_>) -> Result<$kind, ReadError> {
                <$kind>::from_code(reader.read_u8()?).ok_or(ReadError::OutOfRange)
            }

            fn write(&self, writer: &mut ByteWriter<'_>) {
                writer.write_u8(self.code());
            }
        })*
    };
}

/// A struct whose fields follow each other on the wire, in this order and without gaps.
macro_rules! layout {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name { $($(#[$doc])* pub $field: $kind,)* }

            impl Field for $name {
                const BYTES: usize = 0 $(+ <$kind as Field>::BYTES)*;

                fn read(reader: &mut ByteReader<'_>) -> Result<$name, ReadError> {
                    Ok($name { $($field: Field::read(reader)?,)* })
                }

                fn write(&self, writer: &mut ByteWriter<'_>) {
                    $(self.$field.write(writer);)*
                }
            }
        )*
    };
}

pub(super) use {code_fields, layout};

/// A value that is all of a payload.
pub(super) fn read_whole<F: Field>(payload: &[u8]) -> Result<F, ReadError> {
    let mut reader = ByteReader::new(payload);
    let value = F::read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}
