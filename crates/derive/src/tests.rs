//! Every mistake is told in words that help, at the word that is wrong.

use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::choice::choice;
use crate::expand;
use crate::model::{Audience, Struct};

fn read(source: &str) -> Result<Struct, syn::Error> {
    Struct::of(&syn::parse_str::<DeriveInput>(source).expect("the source is Rust"))
}

/// All messages, each with the source that it points at.
fn problems_of(result: Result<Struct, syn::Error>) -> Vec<(String, String)> {
    let error = result.err().expect("a mistake");
    let at = |error: &syn::Error| error.span().source_text().unwrap_or_default();
    error.into_iter().map(|error| (at(&error), error.to_string())).collect()
}

/// The only problem of a struct with one field more than a good one.
fn problem_of_field(field: &str) -> (String, String) {
    let problems = problems_of(read(&format!("struct Tank {{ level: u8, {field} }}")));
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.into_iter().next().unwrap_or_default()
}

fn problem_of_struct(source: &str) -> (String, String) {
    problems_of(read(source)).into_iter().next().unwrap_or_default()
}

#[test]
fn fields_are_numbered_by_hotness_and_then_by_their_order() {
    let model = read(
        r#"#[replicated(name = "tank", crate = a::b)]
        struct Tank {
            #[replicated(text = 9)] title: String,
            first: u8,
            #[replicated(hot = 255)] hot: bool,
            #[replicated(position)] at: [f32; 3],
            second: u8,
            #[replicated(skip)] cache: String,
            r#type: u8,
        }"#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let numbers: Vec<_> = model.fields.iter().map(|field| (field.name.as_str(), field.index)).collect();
    assert_eq!(numbers, [("title", 5), ("first", 2), ("hot", 0), ("at", 1), ("second", 3), ("type", 4)]);
    assert_eq!((model.name.as_str(), model.skipped.len()), ("tank", 1));
    let code = expand::replicated(&model).to_string();
    assert!(code.contains("use a :: b :: replicated"), "{code}");
}

#[test]
fn without_attributes_a_field_is_public_and_the_facade_is_used() {
    let model = read("struct Tank { level: u8, #[replicated(owner, client_writes)] fuel: u8 }")
        .unwrap_or_else(|error| panic!("{error}"));
    let [level, fuel] = [&model.fields[0].flags, &model.fields[1].flags];
    assert!(level.audience == Audience::Public && !level.owner_writes && !level.anyone_writes);
    assert!(fuel.audience == Audience::Owner && fuel.owner_writes && !fuel.anyone_writes);
    assert!(expand::replicated(&model).to_string().contains("use :: netloom :: replicated"));
}

#[test]
fn only_structs_with_named_fields_and_no_generics_are_replicated() {
    for (source, at, message) in [
        ("struct Tank<T> { level: u8 }", "T", "no generics"),
        ("struct Tank<'a> { level: u8 }", "'a", "no generics"),
        ("struct Tank<const N: usize> { level: u8 }", "const N: usize", "no generics"),
        ("enum Tank { A, B }", "Tank", "see Choice"),
        ("union Tank { a: u8 }", "Tank", "only structs"),
        ("struct Tank(u8);", "Tank", "fields need names"),
        ("struct Tank;", "Tank", "fields need names"),
        ("struct Tank {}", "Tank", "1 to 64 fields that are not skipped, this has 0"),
        ("struct Tank { #[replicated(skip)] level: u8 }", "Tank", "this has 0"),
    ] {
        let (span, problem) = problem_of_struct(source);
        assert!(span == at && problem.contains(message), "{source}: {span}: {problem}");
    }
    let many: String = (0..65).map(|number| format!("field_{number}: u8,")).collect();
    assert!(problem_of_struct(&format!("struct Tank {{ {many} }}")).1.contains("this has 65"));
}

#[test]
fn settings_of_the_struct_are_checked() {
    for (settings, at, message) in [
        ("colour = 1", "colour", "unknown attribute `colour`, known here are `name`, `profile`"),
        ("predict, predict", "predict", "`predict` is given twice"),
        ("predict = true", "predict", "`predict` takes no value"),
        ("priority", "priority", "`priority` needs a value"),
        ("profile = \"low\"", "\"low\"", "there is no profile \"low\", there are \"standard\""),
        ("profile = High", "High", "`profile` takes a string"),
        ("name = \"\"", "\"\"", "a name has 1 to 64 bytes"),
        ("crate", "crate", "`crate` needs a path"),
    ] {
        let (span, problem) =
            problem_of_struct(&format!("#[replicated({settings})] struct Tank {{ level: u8 }}"));
        assert!(span == at && problem.contains(message), "{settings}: {span}: {problem}");
    }
}

#[test]
fn a_type_that_does_not_say_how_it_is_sent_is_told_what_is_missing() {
    for (kind, message) in [
        ("i32", "i32 needs the range that it takes: `range = 0..=100`"),
        ("u32", "u32 needs the range"),
        ("usize", "usize needs the range"),
        ("f64", "f64 needs a range and a step"),
        ("String", "String needs its longest length in bytes: `text = 32`"),
        ("Vec<u8>", "`bytes = 64`, or `array = 64`"),
        ("Vec<u16>", "Vec needs its longest length: `array = 16`"),
        ("[f32; 3]", "`position`, `velocity` or `scale`"),
        ("[f64; 2]", "`position`, `velocity` or `scale`"),
        ("[f32; 4]", "`rotation`"),
    ] {
        let (span, problem) = problem_of_field(&format!("extra: {kind}"));
        assert!(span == kind && problem.contains(message), "{kind}: {span}: {problem}");
    }
}

#[test]
fn an_attribute_on_a_type_that_it_is_not_for_is_refused_at_the_type() {
    for (attributes, kind, message) in [
        ("position", "f32", "`position` is for [f32; 3]"),
        ("position", "[f32; 4]", "`position` is for [f32; 3]"),
        ("velocity", "[i32; 3]", "`velocity` is for"),
        ("scale", "String", "`scale` is for"),
        ("rotation", "[f32; 3]", "`rotation` is for a quaternion"),
        ("range = 0..=9", "String", "`range` is for an integer"),
        ("range = 0..=9", "[u8; 4]", "`range` is for an integer"),
        ("range = 0.0..=9.0, step = 0.5", "bool", "`range` is for f32 or f64"),
        ("text = 9", "u8", "`text` is for String"),
        ("text = 9", "Vec<u8>", "`text` is for String"),
        ("bytes = 9", "String", "`bytes` is for Vec<u8>"),
        ("bytes = 9", "Vec<u16>", "`bytes` is for Vec<u8>"),
        ("array = 9", "[u8; 9]", "`array` is for a Vec"),
        ("array = 9", "String", "`array` is for a Vec"),
        ("name", "String", "`name` is for Name"),
        ("position, via = f32", "Vec3", "`position` is for"),
    ] {
        let (span, problem) = problem_of_field(&format!("#[replicated({attributes})] extra: {kind}"));
        let at = if attributes.contains("via") { "f32" } else { kind };
        assert!(span == at && problem.contains(message), "{attributes} {kind}: {span}: {problem}");
    }
    let (span, problem) = problem_of_field("#[replicated(array = 9)] extra: Vec<i32>");
    assert!(span == "i32" && problem.contains("an array of i32 needs the range"), "{span}: {problem}");
}

#[test]
fn attributes_that_contradict_each_other_are_refused_at_one_of_them() {
    for (attributes, kind, at, message) in [
        ("postion", "[f32; 3]", "postion", "unknown attribute `postion`, known here are `position`"),
        ("owner, owner", "u8", "owner", "`owner` is given twice"),
        ("position = 1", "[f32; 3]", "position", "`position` takes no value"),
        ("text", "String", "text", "`text` needs a value: `text = …`"),
        ("text = 9, bytes = 9", "String", "bytes", "`bytes` contradicts `text`"),
        ("position, velocity", "[f32; 3]", "velocity", "`velocity` contradicts `position`"),
        ("text = 9, range = 0..=9", "String", "range", "`range` contradicts `text`"),
        ("range = 0..9", "u8", "0..9", "a range has two ends and contains both"),
        ("range = 0..", "u8", "0..", "a range has two ends and contains both"),
        ("range = 100", "u8", "100", "a range has two ends and contains both"),
        ("range = 0.0..=1.0", "f32", "range", "a range of floats needs a step"),
        ("range = MIN..=MAX", "f32", "range", "a range of floats needs a step"),
        ("range = -1.0..=MAX", "Degrees", "range", "a range of floats needs a step"),
        ("range = 0..=9, step = 0.5", "u8", "0.5", "`step` is for floats, and this is a u8"),
        ("step = 0.5", "f32", "step", "`step` needs a range"),
        ("angle", "f32", "angle", "`angle` needs a range"),
        ("range = 0..=7, angle", "Degrees", "angle", "`angle` needs a step"),
        ("reliable", "u8", "reliable", "`reliable` is for `text`, `bytes` and `array`"),
        ("position, reliable", "[f32; 3]", "reliable", "`reliable` is for `text`, `bytes` and `array`"),
        ("hot = 256", "u8", "256", "`hot` is a number of 0 to 255, written out"),
        ("hot = HOT", "u8", "HOT", "`hot` is a number of 0 to 255, written out"),
        ("owner, public", "u8", "owner", "`owner` contradicts `public`: a field has one audience"),
        ("server_only, client_writes", "u8", "client_writes", "needs `public` or `owner`"),
        ("owner, any_client_writes", "u8", "any_client_writes", "needs `public`: who may write"),
        ("skip, owner", "u8", "owner", "`owner` means nothing on a skipped field"),
        ("position, via", "Vec3", "via", "`via` needs a type"),
    ] {
        let (span, problem) = problem_of_field(&format!("#[replicated({attributes})] extra: {kind}"));
        assert!(span == at && problem.contains(message), "{attributes}: {span}: {problem}");
    }
}

#[test]
fn an_object_has_one_of_each_part_of_a_transform() {
    for (part, kind) in
        [("position", "[f32; 3]"), ("rotation", "[f32; 4]"), ("scale", "[f32; 3]"), ("velocity", "[f64; 2]")]
    {
        let field = |name: &str| format!("#[replicated({part})] {name}: {kind},");
        let source = format!("struct Tank {{ {} {} }}", field("one"), field("two"));
        let error = read(&source).err().expect("two are one too many");
        assert_eq!(error.to_string(), format!("a second `{part}`: an object has one"));
        assert_eq!(error.span().start().column, source.rfind(part).unwrap_or_default());
    }
}

#[test]
fn every_wrong_field_is_told_of_at_once() {
    let problems =
        problems_of(read("struct Tank { a: i32, b: u8, c: String, #[replicated(text)] d: String }"));
    let at: Vec<&str> = problems.iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(at, ["i32", "String", "text"]);
}

#[test]
fn types_behind_other_names_are_left_to_the_compiler() {
    for field in [
        "extra: Colour",
        "#[replicated(range = 0..=9)] extra: Percent",
        "#[replicated(range = LOW..=HIGH, step = 0.5)] extra: Metres",
        "#[replicated(position)] extra: Vector",
        "#[replicated(text = LENGTH)] extra: Label",
        "#[replicated(bytes = 9)] extra: Blob",
        "#[replicated(array = 9)] extra: Vec<Colour>",
        "#[replicated(name)] extra: Name",
        "#[replicated(position, via = [f32; 3])] extra: glam::Vec3",
        "#[replicated(public)] #[replicated(any_client_writes)] extra: u8",
    ] {
        let source = format!("struct Tank {{ {field} }}");
        let model = read(&source).unwrap_or_else(|error| panic!("{field}: {error}"));
        assert!(syn::parse2::<syn::File>(expand::replicated(&model)).is_ok(), "{field}");
    }
}

#[test]
fn a_choice_is_an_enum_of_two_or_more_without_data() {
    for (source, at, message) in [
        ("struct Gear { a: u8 }", "Gear", "a choice is an enum"),
        ("enum Gear<T> { A, B }", "T", "no generics"),
        ("enum Gear { A, B(u8) }", "B(u8)", "a choice has no data"),
        ("enum Gear { A }", "Gear", "two at least"),
        (
            "#[replicated(owner)] enum Gear { A, B }",
            "owner",
            "unknown attribute `owner`, known here are `crate`",
        ),
    ] {
        let input = syn::parse_str::<DeriveInput>(source).expect("the source is Rust");
        let error = choice(&input).expect_err("a mistake");
        let span = error.span().source_text().unwrap_or_default();
        assert!(span == at && error.to_string().contains(message), "{source}: {span}: {error}");
    }
    let gear = syn::parse_str::<DeriveInput>("enum Gear { A = 7, B }").expect("the source is Rust");
    let code = choice(&gear).unwrap_or_else(|error| panic!("{error}"));
    assert!(syn::parse2::<syn::File>(code).is_ok(), "{:?}", gear.span());
}
