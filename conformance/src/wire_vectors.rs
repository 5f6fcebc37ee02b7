//! Golden vectors of netloom-wire.

/// The vector files of this layer.
pub fn vectors() -> Vec<crate::VectorFile> {
    Vec::new()
}
