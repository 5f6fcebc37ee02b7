use super::*;
use netloom_scene::cubes::Cube;

/// A few cubes that roll, some that rest, and some that stick to the first.
fn frames(count: i32) -> Vec<Vec<Cube>> {
    let cube = |frame: i32, number: i32| -> Cube {
        let rolls = number % 7 == 0 && frame > number % 20;
        let way = if rolls { frame * (3 + number % 5) } else { 0 };
        let turn = if rolls { (frame * 2) % 100 } else { 0 };
        [3, 256 + turn, 200, 300 - turn / 2, way + number * 40, -way, 100, i32::from(number % 14 == 0)]
    };
    (0..count).map(|frame| (0..CUBES as i32).map(|number| cube(frame, number)).collect()).collect()
}

#[test]
fn every_frame_returns_from_its_bits_with_and_without_attachments() {
    let film = Film::new(&frames(40));
    for is_attached in [false, true] {
        let measured =
            measure(&film, &Coder::new(is_attached), &Codes::generic()).expect("the frames return");
        assert!((1.0..2_000.0).contains(&measured.kbit_per_s), "{}", measured.kbit_per_s);
    }
}

#[test]
fn the_parts_of_a_frame_are_all_of_it() {
    let film = Film::new(&frames(40));
    let codes = shipped().expect("a whole table");
    let measured = measure(&film, &Coder::new(false), &codes).expect("the frames return");
    let parts: f64 =
        parts::rows(&film, &codes).iter().flat_map(|row| &row.figures).flatten().map(|f| f.value).sum();
    let rounding = measured.kbit_per_s - parts;
    assert!((0.0..parts::KBIT_PER_S_OF_A_BYTE).contains(&rounding), "bytes are at most one more: {rounding}");
}

#[test]
fn a_file_that_is_no_recording_is_an_error_that_names_it() {
    let options = Options {
        batches: 500,
        quick: false,
        files: vec!["Cargo.toml".into()],
        tables: Vec::new(),
        train: Vec::new(),
    };
    let message = run(&options).err().expect("no figures").to_string();
    assert!(message.contains("Cargo.toml"), "{message}");
    let none = Options { files: Vec::new(), ..options };
    assert!(run(&none).err().expect("no figures").to_string().contains("FILE"));
}
