//! Netloom sim.
