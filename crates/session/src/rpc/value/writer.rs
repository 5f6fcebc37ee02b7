//! Values into bytes, by those who have them in a form of their own: a script's list, a brick's property.

use netloom_wire::Alias;
use rmp::encode;

use super::{OBJECT_EXTENSION, Value, ValueError, check, token};
use crate::rpc::ARGS_BYTES_MAX;

/// Appends one value to a caller's buffer, in its shortest form.
///
/// A list or map is its length, then its elements; a map's elements are keys and values in turn.
///
/// ```
/// use netloom_session::rpc::{Args, Value, ValueWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = ValueWriter::new(&mut bytes);
/// writer.list(2);
/// writer.text("hello");
/// writer.int(-7);
/// writer.finish()?;
/// let args: Vec<Value> = Args::read(&bytes)?.values().collect();
/// assert_eq!(args, [Value::Text("hello"), Value::Int(-7)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    fault: Option<ValueError>,
}

impl<'a> ValueWriter<'a> {
    /// A writer that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> ValueWriter<'a> {
        let start = out.len();
        ValueWriter { out, start, fault: None }
    }

    /// Writes nothing: `None`, `null`.
    pub fn nil(&mut self) {
        self.append(1, |out| encode::write_nil(out).is_ok());
    }

    /// Writes true or false.
    pub fn bool(&mut self, value: bool) {
        self.append(1, |out| encode::write_bool(out, value).is_ok());
    }

    /// Writes an integer.
    pub fn int(&mut self, value: i64) {
        self.append(1, |out| encode::write_sint(out, value).is_ok());
    }

    /// Writes an integer that may exceed [`i64::MAX`].
    pub fn uint(&mut self, value: u64) {
        self.append(1, |out| encode::write_uint(out, value).is_ok());
    }

    /// Writes a float of 32 bits.
    pub fn f32(&mut self, value: f32) {
        self.append(5, |out| encode::write_f32(out, value).is_ok());
    }

    /// Writes a float of 64 bits.
    pub fn f64(&mut self, value: f64) {
        self.append(9, |out| encode::write_f64(out, value).is_ok());
    }

    /// Writes a text; as the key of a map too.
    pub fn text(&mut self, text: &str) {
        self.append(text.len(), |out| encode::write_str(out, text).is_ok());
    }

    /// Writes raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.append(bytes.len(), |out| encode::write_bin(out, bytes).is_ok());
    }

    /// Writes an object by the alias under which both sides of the connection know it; `None` is one that the receiver
    /// cannot see.
    pub fn object(&mut self, object: Option<Alias>) {
        let bytes = token::object_bytes(object);
        self.append(6, |out| {
            let is_begun = encode::write_ext_meta(out, bytes.len() as u32, OBJECT_EXTENSION).is_ok();
            out.extend_from_slice(&bytes);
            is_begun
        });
    }

    /// Begins a list of `length` values, which follow.
    pub fn list(&mut self, length: usize) {
        self.append(length, |out| encode::write_array_len(out, length as u32).is_ok());
    }

    /// Begins a map of `length` entries, which follow: key, value, key, value.
    pub fn map(&mut self, length: usize) {
        self.append(length, |out| encode::write_map_len(out, length as u32).is_ok());
    }

    /// Writes a value that was read elsewhere, with all that is inside.
    pub fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Nil => self.nil(),
            Value::Bool(value) => self.bool(*value),
            Value::Int(value) => self.int(*value),
            Value::UInt(value) => self.uint(*value),
            Value::F32(value) => self.f32(*value),
            Value::F64(value) => self.f64(*value),
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::Object(object) => self.object(*object),
            Value::List(items) => {
                self.list(items.len());
                items.clone().for_each(|item| self.value(&item));
            }
            Value::Map(entries) => {
                self.map(entries.len());
                entries.clone().for_each(|(key, value)| {
                    self.text(key);
                    self.value(&value);
                });
            }
        }
    }

    /// How many bytes were written. Anything but exactly one value within the limits of [`check`] is an error, and then
    /// the buffer is as it was.
    pub fn finish(self) -> Result<usize, ValueError> {
        let written = self.out.get(self.start..).unwrap_or_default();
        match self.fault.map_or_else(|| check(written), Err) {
            Ok(()) => Ok(written.len()),
            Err(error) => {
                self.out.truncate(self.start);
                Err(error)
            }
        }
    }

    /// Lets `write` append something of at least `bytes` bytes, unless that is too much. What is written here in spite
    /// of the limit is small, and [`ValueWriter::finish`] notices it.
    fn append(&mut self, bytes: usize, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let room = (self.start + ARGS_BYTES_MAX).saturating_sub(self.out.len());
        if self.fault.is_none() && (bytes > room || !write(self.out)) {
            self.fault = Some(ValueError::TooLong);
        }
    }
}
