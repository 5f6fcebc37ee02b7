//! The smallest pieces of MessagePack, and the shape that they must have together.

use netloom_wire::Alias;
use rmp::Marker;

use super::{DEPTH_MAX, ELEMENTS_MAX, OBJECT_EXTENSION, ValueError};
use crate::rpc::ARGS_BYTES_MAX;

/// Object bytes of one that the receiver cannot see.
const NOBODY: u32 = u32::MAX;

/// One value without what is inside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    UInt(u64),
    F32(f32),
    F64(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Object(Option<Alias>),
    List(usize),
    Map(usize),
}

impl<'a> Token<'a> {
    /// The first token of `bytes`, and what follows it.
    pub fn read(bytes: &'a [u8]) -> Result<(Token<'a>, &'a [u8]), ValueError> {
        let mut input = Input(bytes);
        let [first] = input.array()?;
        let token = match Marker::from_u8(first) {
            Marker::Null => Token::Nil,
            Marker::False => Token::Bool(false),
            Marker::True => Token::Bool(true),
            Marker::FixPos(value) => Token::Int(value.into()),
            Marker::FixNeg(value) => Token::Int(value.into()),
            Marker::U8 => Token::Int(u8::from_be_bytes(input.array()?).into()),
            Marker::U16 => Token::Int(u16::from_be_bytes(input.array()?).into()),
            Marker::U32 => Token::Int(u32::from_be_bytes(input.array()?).into()),
            Marker::U64 => unsigned(u64::from_be_bytes(input.array()?)),
            Marker::I8 => Token::Int(i8::from_be_bytes(input.array()?).into()),
            Marker::I16 => Token::Int(i16::from_be_bytes(input.array()?).into()),
            Marker::I32 => Token::Int(i32::from_be_bytes(input.array()?).into()),
            Marker::I64 => Token::Int(i64::from_be_bytes(input.array()?)),
            Marker::F32 => Token::F32(f32::from_be_bytes(input.array()?)),
            Marker::F64 => Token::F64(f64::from_be_bytes(input.array()?)),
            Marker::FixStr(length) => input.text(length.into())?,
            Marker::Str8 => input.long(1).and_then(|length| input.text(length))?,
            Marker::Str16 => input.long(2).and_then(|length| input.text(length))?,
            Marker::Str32 => input.long(4).and_then(|length| input.text(length))?,
            Marker::Bin8 => input.long(1).and_then(|length| input.take(length)).map(Token::Bytes)?,
            Marker::Bin16 => input.long(2).and_then(|length| input.take(length)).map(Token::Bytes)?,
            Marker::Bin32 => input.long(4).and_then(|length| input.take(length)).map(Token::Bytes)?,
            Marker::FixArray(count) => Token::List(count.into()),
            Marker::Array16 => Token::List(input.long(2)?),
            Marker::Array32 => Token::List(input.long(4)?),
            Marker::FixMap(count) => Token::Map(count.into()),
            Marker::Map16 => Token::Map(input.long(2)?),
            Marker::Map32 => Token::Map(input.long(4)?),
            Marker::FixExt4 => input.object()?,
            Marker::Reserved
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32
            | Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt8
            | Marker::FixExt16 => return Err(ValueError::UnknownType),
        };
        Ok((token, input.0))
    }

    /// How many values are directly inside.
    pub fn inner_values(&self) -> usize {
        match *self {
            Token::List(count) => count,
            Token::Map(count) => count.saturating_mul(2),
            _ => 0,
        }
    }
}

fn unsigned(value: u64) -> Token<'static> {
    i64::try_from(value).map_or(Token::UInt(value), Token::Int)
}

/// The four bytes of an object inside its extension.
pub fn object_bytes(object: Option<Alias>) -> [u8; 4] {
    object.map_or(NOBODY, Alias::to_script_int).to_le_bytes()
}

/// The inverse of [`object_bytes`].
pub fn object_from_bytes(bytes: [u8; 4]) -> Result<Option<Alias>, ValueError> {
    match u32::from_le_bytes(bytes) {
        NOBODY => Ok(None),
        number => Alias::from_script_int(number).map(Some).ok_or(ValueError::InvalidObject),
    }
}

/// Bytes that are left of a token.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ValueError> {
        let (array, rest) = self.0.split_first_chunk().ok_or(ValueError::UnexpectedEnd)?;
        self.0 = rest;
        Ok(*array)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ValueError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(ValueError::UnexpectedEnd)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A length of one, two or four bytes, the highest first.
    fn long(&mut self, bytes: usize) -> Result<usize, ValueError> {
        Ok(self.take(bytes)?.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)))
    }

    fn text(&mut self, length: usize) -> Result<Token<'a>, ValueError> {
        core::str::from_utf8(self.take(length)?).map(Token::Text).map_err(|_| ValueError::InvalidUtf8)
    }

    fn object(&mut self) -> Result<Token<'a>, ValueError> {
        if i8::from_be_bytes(self.array()?) != OBJECT_EXTENSION {
            return Err(ValueError::UnknownType);
        }
        self.array().and_then(object_from_bytes).map(Token::Object)
    }
}

/// What must still come for the value to be whole.
pub struct Shape {
    /// Of every list and map that is open, how many values are left; keys count.
    open: [Level; DEPTH_MAX],
    depth: usize,
    elements: usize,
    is_complete: bool,
}

#[derive(Clone, Copy, Default)]
struct Level {
    left: usize,
    is_map: bool,
}

impl Shape {
    /// The shape of one value that `bytes` shall be.
    pub fn begin(bytes: &[u8]) -> Result<Shape, ValueError> {
        if bytes.len() > ARGS_BYTES_MAX {
            return Err(ValueError::TooLong);
        }
        Ok(Shape { open: [Level::default(); DEPTH_MAX], depth: 0, elements: 0, is_complete: false })
    }

    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Takes the next token, after which `rest` is left.
    pub fn accept(&mut self, token: &Token<'_>, rest: &[u8]) -> Result<(), ValueError> {
        self.elements += 1;
        if self.elements > ELEMENTS_MAX {
            return Err(ValueError::TooManyElements);
        }
        if let Some(level) = self.depth.checked_sub(1).and_then(|top| self.open.get_mut(top)) {
            let is_key = level.is_map && level.left % 2 == 0;
            if is_key && !matches!(token, Token::Text(_)) {
                return Err(ValueError::KeyIsNoText);
            }
            level.left -= 1;
        }
        let inner = token.inner_values();
        // Every value takes a byte at least.
        if inner > rest.len() {
            return Err(ValueError::UnexpectedEnd);
        }
        if matches!(token, Token::List(_) | Token::Map(_)) {
            let level = self.open.get_mut(self.depth).ok_or(ValueError::TooDeep)?;
            *level = Level { left: inner, is_map: matches!(token, Token::Map(_)) };
            self.depth += 1;
        }
        while let Some(top) = self.depth.checked_sub(1)
            && self.open.get(top).is_some_and(|level| level.left == 0)
        {
            self.depth = top;
        }
        self.is_complete = self.depth == 0;
        Ok(())
    }
}
