//! What a field is sent as: attributes and the type of the field, put together or found to contradict each other.
//!
//! Types are known by their names only, and a name may be an alias. So a type is refused here when its name says that it
//! cannot fit, in the words that help; whatever slips through is refused by the compiler, for want of a `Form`.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Error, Expr, ExprLit, ExprRange, Ident, Lit, RangeLimits, Result, Type, UnOp};

use crate::attributes::Items;

/// How a field is sent.
pub enum Form {
    /// As its type says.
    Plain,
    /// Integers from one to another.
    Whole(Expr, Expr),
    /// Floats from one to another, in steps.
    Steps {
        min: Expr,
        max: Expr,
        step: Expr,
        is_angle: bool,
    },
    Position,
    Rotation,
    Scale,
    Velocity,
    Text(Expr),
    Bytes(Expr),
    Array {
        count: Expr,
        element: Box<Form>,
        kind: Type,
    },
}

impl Form {
    /// Whether its content has no fixed size.
    pub fn is_content(&self) -> bool {
        matches!(self, Form::Text(_) | Form::Bytes(_) | Form::Array { .. })
    }

    /// The hotness of a field that has none of its own: what moves comes first, what is long and rests comes last.
    pub fn hotness(&self) -> u8 {
        match self {
            Form::Position => 255,
            Form::Rotation => 254,
            Form::Velocity => 253,
            Form::Plain | Form::Whole(..) | Form::Steps { .. } => 100,
            Form::Scale => 20,
            Form::Text(_) | Form::Bytes(_) | Form::Array { .. } => 10,
        }
    }
}

/// The form of a field whose values are sent as `sent`, and the key that says so if there is one.
pub fn of(items: &mut Items, sent: &Type) -> Result<(Form, Option<Ident>)> {
    let mut given: Vec<(Ident, Form)> = Vec::new();
    for (key, form) in [
        ("position", Form::Position),
        ("rotation", Form::Rotation),
        ("scale", Form::Scale),
        ("velocity", Form::Velocity),
        ("name", Form::Plain),
    ] {
        given.extend(items.flag(key)?.map(|key| (key, form)));
    }
    for (key, form) in [("text", Form::Text as fn(Expr) -> Form), ("bytes", Form::Bytes)] {
        given.extend(items.expr(key)?.map(|(key, limit)| (key, form(limit))));
    }
    let array = items.expr("array")?;
    let element = if array.is_some() { element_of(sent) } else { Some(sent) };
    let number = number(items, element.unwrap_or(sent))?;
    match array {
        Some((key, count)) => {
            let Some(kind) = element.cloned() else {
                return Err(Error::new_spanned(sent, "`array` is for a Vec: `Vec<u16>`"));
            };
            if number.is_none() {
                check_plain(&kind, "an array of ")?;
            }
            let element = Box::new(number.map_or(Form::Plain, |(_, form)| form));
            given.push((key, Form::Array { count, element, kind }));
        }
        None => given.extend(number),
    }
    if let [(first, _), (second, _), ..] = given.as_slice() {
        let problem = format!("`{second}` contradicts `{first}`: a field is sent in one way");
        return Err(Error::new(second.span(), problem));
    }
    match given.pop() {
        Some((key, form)) => {
            check(&key, &form, sent)?;
            Ok((form, Some(key)))
        }
        None => check_plain(sent, "").map(|()| (Form::Plain, None)),
    }
}

/// The form of `range`, `step` and `angle`.
fn number(items: &mut Items, kind: &Type) -> Result<Option<(Ident, Form)>> {
    let (range, step, angle) = (items.expr("range")?, items.expr("step")?, items.flag("angle")?);
    let Some((key, range)) = range else {
        let alone = step.map(|(key, _)| key).or(angle);
        return alone.map_or(Ok(None), |key| {
            Err(Error::new(key.span(), format!("`{key}` needs a range: `range = -1.0..=1.0, step = 0.01`")))
        });
    };
    let (min, max) = ends(range)?;
    let is_float = is_float_literal(&min) || is_float_literal(&max) || is_one_of(kind, &FLOATS);
    match (step, angle) {
        (Some((_, step)), angle) => {
            if is_one_of(kind, &INTEGERS) {
                let name = kind.to_token_stream();
                return Err(Error::new_spanned(step, format!("`step` is for floats, and this is a {name}")));
            }
            Ok(Some((key, Form::Steps { min, max, step, is_angle: angle.is_some() })))
        }
        (None, Some(angle)) => Err(Error::new(angle.span(), "`angle` needs a step: `step = 0.01`")),
        (None, None) if is_float => {
            Err(Error::new(key.span(), "a range of floats needs a step: `range = -1.0..=1.0, step = 0.01`"))
        }
        (None, None) => Ok(Some((key, Form::Whole(min, max)))),
    }
}

/// Both ends of a range that names both and contains both.
fn ends(range: Expr) -> Result<(Expr, Expr)> {
    let problem = "a range has two ends and contains both: `range = 0..=100`";
    match range {
        Expr::Range(ExprRange {
            start: Some(min), end: Some(max), limits: RangeLimits::Closed(_), ..
        }) => Ok((*min, *max)),
        other => Err(Error::new_spanned(other, problem)),
    }
}

const FLOATS: [&str; 2] = ["f32", "f64"];
const INTEGERS: [&str; 10] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize"];
const OTHERS: [&str; 5] = ["bool", "char", "str", "String", "Vec"];

/// Refuses a type whose name says that it does not fit.
fn check(key: &Ident, form: &Form, sent: &Type) -> Result<()> {
    let components = |allowed: &[&str]| {
        let written = array_type(sent).map(|(element, length)| format!("[{element}; {length}]"));
        match written {
            Some(written) => allowed.contains(&written.as_str()),
            None => !is_one_of(sent, &FLOATS) && !is_one_of(sent, &INTEGERS) && !is_one_of(sent, &OTHERS),
        }
    };
    let is_named_number = is_one_of(sent, &FLOATS) || is_one_of(sent, &INTEGERS);
    let is_other = is_one_of(sent, &OTHERS) || array_type(sent).is_some();
    let (fits, wanted) = match form {
        Form::Position | Form::Scale | Form::Velocity => (
            components(&["[f32; 3]", "[f64; 3]", "[f32; 2]", "[f64; 2]"]),
            "[f32; 3], [f64; 3], [f32; 2] or [f64; 2]; convert other types with `via = [f32; 3]`",
        ),
        Form::Rotation => (
            components(&["[f32; 4]", "[f64; 4]"]),
            "a quaternion x y z w: [f32; 4] or [f64; 4]; convert other types with `via = [f32; 4]`",
        ),
        Form::Whole(..) => (!is_other, "an integer"),
        Form::Steps { .. } => (!is_other, "f32 or f64"),
        Form::Text(_) => (!is_named_number && !is_one_of(sent, &["bool", "Vec", "str"]), "String"),
        Form::Bytes(_) => (
            !is_named_number
                && !is_one_of(sent, &["bool", "str", "String"])
                && element_of(sent).is_none_or(|element| is_one_of(element, &["u8"])),
            "Vec<u8>",
        ),
        Form::Plain => (!is_named_number && !is_other, "Name: `Name::of(text)` is the hash of a text"),
        Form::Array { .. } => (true, ""),
    };
    match fits {
        true => Ok(()),
        false => Err(Error::new_spanned(sent, format!("`{key}` is for {wanted}"))),
    }
}

/// Refuses a type that says nothing about how it is sent, and says what is missing.
fn check_plain(sent: &Type, of_what: &str) -> Result<()> {
    let problem = |problem: String| Err(Error::new_spanned(sent, problem));
    if is_one_of(sent, &["u32", "i32", "i64", "usize", "isize"]) {
        let name = sent.to_token_stream();
        return problem(format!(
            "{of_what}{name} needs the range that it takes: `range = 0..=100`; it is sent in as few bits as that needs"
        ));
    }
    if is_one_of(sent, &["f64"]) {
        return problem(format!(
            "{of_what}f64 needs a range and a step: `range = -1.0..=1.0, step = 0.01`; f32 can be sent as it is"
        ));
    }
    if is_one_of(sent, &["String"]) {
        return problem(format!("{of_what}String needs its longest length in bytes: `text = 32`"));
    }
    if let Some(element) = element_of(sent) {
        return problem(match is_one_of(element, &["u8"]) {
            true => format!(
                "{of_what}Vec<u8> needs its longest length: `bytes = 64`, or `array = 64` for numbers"
            ),
            false => format!("{of_what}Vec needs its longest length: `array = 16`"),
        });
    }
    if let Some((element, length)) = array_type(sent)
        && FLOATS.contains(&element.as_str())
    {
        return problem(match length.as_str() {
            "4" => "what is it? `rotation` for a quaternion x y z w".to_owned(),
            _ => "what is it? `position`, `velocity` or `scale`".to_owned(),
        });
    }
    Ok(())
}

/// Whether the type is a plain path that ends in one of these names.
fn is_one_of(kind: &Type, names: &[&str]) -> bool {
    let Type::Path(path) = kind else { return false };
    path.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Of `Vec<T>`: `T`.
fn element_of(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Vec")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(element) => Some(element),
        _ => None,
    }
}

/// Of `[f32; 3]`: both as they are written.
fn array_type(kind: &Type) -> Option<(String, String)> {
    let Type::Array(array) = kind else { return None };
    Some((array.elem.to_token_stream().to_string(), array.len.to_token_stream().to_string()))
}

fn is_float_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => true,
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => is_float_literal(&unary.expr),
        _ => false,
    }
}

/// The number of a literal that must be written out, for what has to be known before anything is compiled.
pub fn byte(key: &Ident, expr: &Expr) -> Result<u8> {
    let number = match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    };
    let span = expr.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    number.ok_or_else(|| Error::new(span, format!("`{key}` is a number of 0 to 255, written out")))
}
