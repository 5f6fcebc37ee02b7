//! Writes the seed corpora anew. Other files there, inputs that once broke something, stay.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for seed in netloom_fuzz::seeds::all() {
        let folder = corpus.join(seed.target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(seed.name), &seed.bytes)?;
    }
    Ok(())
}
