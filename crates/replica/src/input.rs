//! What players do, on its way to the server.
//!
//! A client sends what its player does, never where that leads ("I pressed forward", not "I am there"). Inputs are
//! addressed by step: the input of step 41 is for the server's step 41, and no other. If it came too late there is no
//! second chance, so waiting for a resend is useless. Instead every message carries all inputs that the server has not
//! confirmed yet, the newest first, and a lost message costs nothing as long as the next one arrives in time:
//!
//! ```text
//!   0      2       3           5          6
//!   ├ step ┼ count ┼ view step ┼ fraction ┼ bits: the newest input, then for each older one
//!     u16    u8      u16         u8           1       the same as the one after it
//!                    only if bit 7 of count   0, input
//! ```
//!
//! `step` is that of the newest input, the others are those before it without a gap. An input that did not change, which
//! most do not, takes one bit. Steps are the low 16 bits; who reads them takes the step that is nearest to its own.
//!
//! The view time says which step of the server's world the player saw when it made the newest input: between two steps,
//! so with a fraction in 256ths. The server needs it to judge a shot, and believes it only within bounds.
//!
//! What an input consists of is the game's own matter: [`Input`] writes it to bits and reads it back.

use std::marker::PhantomData;

use netloom_wire::{BitReader, BitWriter, ByteReader, Micros, ReadError, Tick};

use crate::rate::parts_at;
use crate::snapshot::nearest_tick;

/// Inputs in one message: a second and more at 60 steps a second, beyond which every input is too late.
pub const INPUTS_PER_MESSAGE_MAX: usize = 64;

/// Bytes of one message: less than half of a datagram, whatever the inputs are.
pub const INPUT_MESSAGE_BYTES_MAX: usize = 512;

/// Bytes of one input of opaque bytes.
pub const INPUT_BYTES_MAX: usize = 64;

/// Bits of one input: one that differs from all others always fits into a message.
pub const INPUT_BITS_MAX: u32 = 8 * (INPUT_BYTES_MAX as u32 + 1);

/// Set in the count if a view time follows.
const VIEW: u8 = 0x80;

/// What a player does in one step, as bits.
///
/// ```
/// use netloom_replica::input::Input;
/// use netloom_wire::{BitReader, BitWriter, ReadError};
///
/// #[derive(Clone, PartialEq)]
/// struct Buttons {
///     forward: bool,
///     fire: bool,
///     yaw: u16,
/// }
///
/// impl Input for Buttons {
///     const BITS_MAX: u32 = 18;
///
///     fn write(&self, writer: &mut BitWriter<'_>) {
///         writer.write_bool(self.forward);
///         writer.write_bool(self.fire);
///         writer.write_bits(self.yaw.into(), 16);
///     }
///
///     fn read(reader: &mut BitReader<'_>) -> Result<Buttons, ReadError> {
///         let (forward, fire) = (reader.read_bool()?, reader.read_bool()?);
///         Ok(Buttons { forward, fire, yaw: reader.read_bits(16)? as u16 })
///     }
///
///     // Whoever is not heard of keeps running, but does not keep firing.
///     fn repeated(&self) -> Buttons {
///         Buttons { fire: false, ..self.clone() }
///     }
/// }
/// ```
pub trait Input: Clone + PartialEq {
    /// The most bits that [`write`](Input::write) takes, at most [`INPUT_BITS_MAX`].
    const BITS_MAX: u32;

    /// Writes it.
    fn write(&self, writer: &mut BitWriter<'_>);

    /// Reads one. Anything may be in the bits: a value that no player can have is an error.
    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError>;

    /// What takes the place of the next input if that does not come. What happens once, such as a shot, does not belong
    /// into it.
    #[must_use]
    fn repeated(&self) -> Self {
        self.clone()
    }
}

/// So many opaque bytes.
impl<const N: usize> Input for [u8; N] {
    const BITS_MAX: u32 = 8 * N as u32;

    fn write(&self, writer: &mut BitWriter<'_>) {
        self.iter().for_each(|byte| writer.write_bits((*byte).into(), 8));
    }

    fn read(reader: &mut BitReader<'_>) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = reader.read_bits(8)? as u8;
        }
        Ok(bytes)
    }
}

/// Opaque bytes of which only the running program knows how many there are: at most [`INPUT_BYTES_MAX`]. On the wire
/// their number in 7 bits, then the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputBytes {
    bytes: [u8; INPUT_BYTES_MAX],
    length: u8,
}

impl InputBytes {
    /// A copy of the bytes; `None` if there are too many.
    pub fn new(content: &[u8]) -> Option<InputBytes> {
        let mut bytes = [0; INPUT_BYTES_MAX];
        bytes.get_mut(..content.len())?.copy_from_slice(content);
        Some(InputBytes { bytes, length: content.len() as u8 })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Input for InputBytes {
    const BITS_MAX: u32 = 7 + 8 * INPUT_BYTES_MAX as u32;

    fn write(&self, writer: &mut BitWriter<'_>) {
        writer.write_bits(self.length.into(), 7);
        self.as_slice().iter().for_each(|byte| writer.write_bits((*byte).into(), 8));
    }

    fn read(reader: &mut BitReader<'_>) -> Result<InputBytes, ReadError> {
        let length = reader.read_bits(7)? as u8;
        let mut bytes = [0; INPUT_BYTES_MAX];
        for byte in bytes.get_mut(..length.into()).ok_or(ReadError::TooLong)? {
            *byte = reader.read_bits(8)? as u8;
        }
        Ok(InputBytes { bytes, length })
    }
}

/// A moment of the server's world, between two of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewTime {
    /// The step before it.
    pub step: Tick,
    /// How far it is to the next one, in 256ths.
    pub fraction: u8,
}

impl ViewTime {
    /// The moment at a server time, where step 0 is at zero and a second has `steps_per_second` of them.
    pub fn at(time: Micros, steps_per_second: u32) -> ViewTime {
        let parts = parts_at(time, steps_per_second, 256);
        ViewTime { step: Tick((parts >> 8) as u32), fraction: parts as u8 }
    }

    /// So many steps before.
    #[must_use]
    pub fn earlier(self, steps: u32) -> ViewTime {
        ViewTime { step: Tick(self.step.0.wrapping_sub(steps)), ..self }
    }
}

/// Writes a message with the input of step `newest` and those before it, the newest first; as many as there is room for.
/// Returns its length; `None` if there is no input, or `out` has no room for one.
pub fn write_inputs<'i, I: Input + 'i>(
    newest: Tick,
    view: Option<ViewTime>,
    inputs: impl Iterator<Item = &'i I>,
    out: &mut [u8],
) -> Option<usize> {
    const { assert!(I::BITS_MAX <= INPUT_BITS_MAX, "an input takes more bits than INPUT_BITS_MAX") };
    let room = out.len().min(INPUT_MESSAGE_BYTES_MAX);
    let (head, rest) = out[..room].split_at_mut_checked(if view.is_some() { 6 } else { 3 })?;
    let mut writer = BitWriter::new(rest);
    let mut after: Option<&I> = None;
    let mut count = 0u8;
    for input in inputs.take(INPUTS_PER_MESSAGE_MAX) {
        let is_same = after == Some(input);
        let bits = if is_same { 0 } else { I::BITS_MAX as usize };
        if writer.remaining_bits() < usize::from(after.is_some()) + bits {
            break;
        }
        if after.is_some() {
            writer.write_bool(is_same);
        }
        if !is_same {
            input.write(&mut writer);
        }
        after = Some(input);
        count += 1;
    }
    let length = writer.finish().ok().filter(|_| count > 0)?;
    head[..2].copy_from_slice(&(newest.0 as u16).to_le_bytes());
    head[2] = count;
    if let Some(view) = view {
        head[2] |= VIEW;
        head[3..5].copy_from_slice(&(view.step.0 as u16).to_le_bytes());
        head[5] = view.fraction;
    }
    Some(head.len() + length)
}

/// A message with inputs, read to its end: all of it is valid.
#[derive(Clone, Copy, Debug)]
pub struct InputMessage<'a, I> {
    newest: u16,
    view: Option<(u16, u8)>,
    count: u8,
    bits: &'a [u8],
    inputs: PhantomData<I>,
}

impl<'a, I: Input> InputMessage<'a, I> {
    /// Reads a message.
    pub fn read(payload: &'a [u8]) -> Result<InputMessage<'a, I>, ReadError> {
        if payload.len() > INPUT_MESSAGE_BYTES_MAX {
            return Err(ReadError::TooLong);
        }
        let mut reader = ByteReader::new(payload);
        let (newest, count) = (reader.read_u16()?, reader.read_u8()?);
        let view = match count & VIEW {
            0 => None,
            _ => Some((reader.read_u16()?, reader.read_u8()?)),
        };
        let count = count & !VIEW;
        if count == 0 || usize::from(count) > INPUTS_PER_MESSAGE_MAX {
            return Err(ReadError::OutOfRange);
        }
        let message = InputMessage { newest, view, count, bits: reader.rest(), inputs: PhantomData };
        let mut unpacking = message.unpack();
        for _ in 0..count {
            unpacking.read_next()?;
        }
        unpacking.reader.finish()?;
        Ok(message)
    }

    /// How many inputs there are.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// The step of the newest input, near to a step that is known.
    pub fn newest(&self, near: Tick) -> Tick {
        nearest_tick(self.newest, near)
    }

    /// What the player saw at the newest input.
    pub fn view(&self, near: Tick) -> Option<ViewTime> {
        self.view.map(|(step, fraction)| ViewTime { step: nearest_tick(step, near), fraction })
    }

    /// The inputs, the newest first.
    pub fn inputs(&self) -> impl Iterator<Item = I> + use<'a, I> {
        let mut unpacking = self.unpack();
        (0..self.count).map_while(move |_| unpacking.read_next().ok())
    }

    fn unpack(&self) -> Unpacking<'a, I> {
        Unpacking { reader: BitReader::new(self.bits), after: None }
    }
}

/// Inputs that are being read, each of which may be the same as the one after it.
struct Unpacking<'a, I> {
    reader: BitReader<'a>,
    after: Option<I>,
}

impl<I: Input> Unpacking<'_, I> {
    fn read_next(&mut self) -> Result<I, ReadError> {
        let input = match self.after.take() {
            Some(after) if self.reader.read_bool()? => after,
            _ => I::read(&mut self.reader)?,
        };
        self.after = Some(input.clone());
        Ok(input)
    }
}

#[cfg(test)]
mod tests;
