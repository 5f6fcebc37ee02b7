//! Golden vectors of netloom-proto.

/// The vector files of this layer.
pub fn vectors() -> Vec<crate::VectorFile> {
    Vec::new()
}
