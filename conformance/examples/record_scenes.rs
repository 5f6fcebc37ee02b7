//! Records every generated scene as a client receives it, for readers in other languages.
//!
//! ```text
//!   cargo run -p netloom-conformance --example record_scenes > bindings/js/test/scenes.json
//! ```

fn main() {
    println!("{}", netloom_conformance::recorded_scenes::recorded_scenes());
}
