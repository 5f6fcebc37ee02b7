//! Datagrams by the dozen, in memory that the caller owns.
//!
//! A system call per datagram costs more than most datagrams' content, so they travel in batches. And a copy per layer
//! costs as well, so a batch is where datagrams *live*: the core writes into the next slot, the kernel reads from it; the
//! kernel writes into a slot, the core opens it in place. Transports that keep datagrams for a while (memory, the
//! conditioner) trade buffers with the batch instead of copying.
//!
//! ```text
//!   slots   ┌─────────┬─────────┬─────────┬─────────┬ ─ ─ ─
//!           │ sent    │ waiting │ waiting │ next    │ free
//!           └─────────┴─────────┴─────────┴─────────┴ ─ ─ ─
//!                      ▲ front             ▲ end: next_slot, commit
//! ```

use std::net::{Ipv4Addr, SocketAddr};

use crate::address::PeerAddress;
use crate::error::{ConfigError, check_range};

/// The most datagrams that a batch may hold.
pub const BATCH_DATAGRAMS_LIMIT: usize = 4_096;

/// The largest slot: the largest UDP datagram there can be.
pub const SLOT_BYTES_LIMIT: usize = 65_535;

/// One datagram: whose it is, and its bytes in a buffer of fixed size.
#[derive(Clone, Debug)]
pub struct Datagram {
    pub(crate) address: PeerAddress,
    length: usize,
    buffer: Box<[u8]>,
}

impl Datagram {
    pub(crate) fn new(slot_bytes: usize) -> Datagram {
        let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        Datagram { address: nobody.into(), length: 0, buffer: vec![0; slot_bytes].into() }
    }

    /// Who it is from or for.
    #[inline]
    pub fn address(&self) -> PeerAddress {
        self.address
    }

    /// Its content.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// Its content, to be opened in place.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(..self.length).unwrap_or_default()
    }

    /// The whole buffer, to be filled.
    #[inline]
    pub(crate) fn buffer_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    #[inline]
    pub(crate) fn set_length(&mut self, length: usize) {
        self.length = length.min(self.buffer.len());
    }

    /// Takes over another datagram: by trading buffers if they are alike, by copying if not. `false` if it does not fit.
    pub(crate) fn take_over(&mut self, other: &mut Datagram) -> bool {
        if self.buffer.len() == other.buffer.len() {
            std::mem::swap(self, other);
            return true;
        }
        self.copy_from(other.address, other.bytes())
    }

    pub(crate) fn copy_from(&mut self, address: PeerAddress, bytes: &[u8]) -> bool {
        let Some(slot) = self.buffer.get_mut(..bytes.len()) else {
            return false;
        };
        slot.copy_from_slice(bytes);
        self.address = address;
        self.length = bytes.len();
        true
    }
}

/// Up to a fixed number of datagrams, in the order in which they are sent or were received.
///
/// ```
/// use netloom_transport::{Batch, PeerAddress};
///
/// let mut batch = Batch::new(64, 1_200)?;
/// let slot = batch.next_slot().expect("an empty batch has room");
/// slot[..5].copy_from_slice(b"hello"); // this is where `poll_transmit` writes
/// batch.commit(PeerAddress::Memory(1), 5);
/// assert_eq!(batch.iter().map(|datagram| datagram.bytes()).collect::<Vec<_>>(), [b"hello"]);
/// # Ok::<(), netloom_transport::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batch {
    slots: Box<[Datagram]>,
    front: usize,
    end: usize,
    slot_bytes: usize,
}

impl Batch {
    /// A batch of at most `datagrams_max`, each of at most `slot_bytes`, all allocated now. Slots must be at least as
    /// large as the [mtu](crate::Capabilities::mtu_bytes) of the transports that it is used with.
    pub fn new(datagrams_max: usize, slot_bytes: usize) -> Result<Batch, ConfigError> {
        check_range("datagrams_max", datagrams_max, 1, BATCH_DATAGRAMS_LIMIT)?;
        check_range("slot_bytes", slot_bytes, 1, SLOT_BYTES_LIMIT)?;
        let slots = (0..datagrams_max).map(|_| Datagram::new(slot_bytes)).collect();
        Ok(Batch { slots, front: 0, end: 0, slot_bytes })
    }

    /// How many datagrams are in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.front
    }

    /// Whether none is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front == self.end
    }

    /// Whether no other has room before those in it have gone.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.end == self.slots.len()
    }

    /// The most datagrams that it holds.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The longest datagram that it holds.
    #[inline]
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Forgets all datagrams.
    #[inline]
    pub fn clear(&mut self) {
        self.front = 0;
        self.end = 0;
    }

    /// Where the next datagram is to be written, if there is room; [`commit`](Self::commit) adds it.
    #[inline]
    pub fn next_slot(&mut self) -> Option<&mut [u8]> {
        // While this one is written, the memory of the one after it comes, as far as datagrams like the last one need it.
        let length = self.end.checked_sub(1).map_or(0, |last| self.slots[last].length);
        if let Some(ahead) = self.slots.get(self.end + 1) {
            netloom_cpu::fetch(&ahead.buffer[..length.min(ahead.buffer.len())]);
        }
        self.next_datagram().map(Datagram::buffer_mut)
    }

    /// Adds the first `length` bytes of the [next slot](Self::next_slot), for `address`.
    #[inline]
    pub fn commit(&mut self, address: PeerAddress, length: usize) {
        if let Some(datagram) = self.next_datagram() {
            datagram.address = address;
            datagram.set_length(length);
            self.end += 1;
        }
    }

    /// Adds a copy of a datagram; `false` if there is no room for it.
    pub fn push(&mut self, address: PeerAddress, bytes: &[u8]) -> bool {
        let is_taken = self.next_datagram().is_some_and(|datagram| datagram.copy_from(address, bytes));
        self.end += usize::from(is_taken);
        is_taken
    }

    /// The datagrams.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Datagram> {
        self.waiting().iter()
    }

    /// The datagrams, to be opened in place.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Datagram> {
        self.slots.get_mut(self.front..self.end).unwrap_or_default().iter_mut()
    }

    /// The datagrams as a slice.
    #[inline]
    pub(crate) fn waiting(&self) -> &[Datagram] {
        self.slots.get(self.front..self.end).unwrap_or_default()
    }

    pub(crate) fn front_mut(&mut self) -> Option<&mut Datagram> {
        self.iter_mut().next()
    }

    /// Forgets the first `count` datagrams: they were sent.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.front = (self.front + count).min(self.end);
        if self.front == self.end {
            self.clear();
        }
    }

    /// The free slots at the end, to be filled from the first on and added by [`extend`](Self::extend).
    #[inline]
    pub(crate) fn free_mut(&mut self) -> &mut [Datagram] {
        self.slots.get_mut(self.end..).unwrap_or_default()
    }

    /// Adds the first `count` free slots.
    #[inline]
    pub(crate) fn extend(&mut self, count: usize) {
        self.end = (self.end + count).min(self.slots.len());
    }

    #[inline]
    pub(crate) fn next_datagram(&mut self) -> Option<&mut Datagram> {
        self.slots.get_mut(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerAddress = PeerAddress::Memory(1);

    fn contents(batch: &Batch) -> Vec<&[u8]> {
        batch.iter().map(Datagram::bytes).collect()
    }

    #[test]
    fn datagrams_leave_in_the_order_in_which_they_came_and_make_room_when_all_have_left() {
        let mut batch = Batch::new(3, 8).unwrap();
        assert!(batch.push(PEER, b"a") && batch.push(PEER, b"b") && batch.push(PEER, b"c"));
        assert!(batch.is_full() && !batch.push(PEER, b"d"));
        batch.consume(2);
        assert_eq!((contents(&batch), batch.len()), (vec![&b"c"[..]], 1));
        batch.consume(9);
        assert!(batch.is_empty() && !batch.is_full() && batch.push(PEER, b"e"));
        assert_eq!(contents(&batch), [b"e"]);
    }

    #[test]
    fn what_does_not_fit_a_slot_is_refused_or_cut_and_never_a_panic() {
        let mut batch = Batch::new(1, 4).unwrap();
        assert!(!batch.push(PEER, b"12345") && batch.is_empty());
        batch.commit(PEER, 400);
        assert_eq!(batch.iter().next().unwrap().bytes().len(), 4);
        batch.commit(PEER, 1);
        assert_eq!(batch.len(), 1, "a commit without room adds nothing");
    }

    #[test]
    fn buffers_alike_are_traded_and_others_copied() {
        let (mut large, mut small, mut other) = (Datagram::new(8), Datagram::new(4), Datagram::new(8));
        assert!(other.copy_from(PEER, b"12345678"));
        let traded = other.bytes().as_ptr();
        assert!(large.take_over(&mut other) && large.bytes().as_ptr() == traded);
        assert!(!small.take_over(&mut large), "eight bytes do not fit four");
        assert!(large.copy_from(PEER, b"123") && small.take_over(&mut large));
        assert_eq!((small.bytes(), small.address()), (&b"123"[..], PEER));
    }

    #[test]
    fn impossible_sizes_are_named() {
        assert_eq!(Batch::new(0, 8).unwrap_err().to_string(), "`datagrams_max` is 0, allowed is 1 to 4096");
        assert_eq!(
            Batch::new(1, 1 << 20).unwrap_err().to_string(),
            "`slot_bytes` is 1048576, allowed is 1 to 65535"
        );
    }
}
