//! Netloom proto.
