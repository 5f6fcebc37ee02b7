//! A struct, understood: its settings and its fields, each with its form, its audience and its number.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Expr, Fields, Ident, Path, Result, Type};

use crate::attributes::Items;
use crate::form::{self, Form};

/// The longest name of a schema or field in bytes, as the wire has it.
const NAME_BYTES_MAX: usize = 64;
/// The most fields of a schema, as the wire has it.
const FIELDS_MAX: usize = 64;

const STRUCT_KEYS: [&str; 7] = ["name", "profile", "priority", "radius", "weight", "predict", "crate"];
const FIELD_KEYS: [&str; 20] = [
    "position",
    "rotation",
    "scale",
    "velocity",
    "range",
    "step",
    "angle",
    "text",
    "bytes",
    "array",
    "name",
    "via",
    "public",
    "owner",
    "server_only",
    "client_writes",
    "any_client_writes",
    "hot",
    "reliable",
    "skip",
];

pub struct Struct {
    pub ident: Ident,
    pub krate: Path,
    pub name: String,
    /// A variant of `Profile`.
    pub profile: &'static str,
    pub priority: Option<Expr>,
    pub radius: Option<Expr>,
    pub weight: Option<Expr>,
    pub predict: Option<Ident>,
    pub fields: Vec<Field>,
    pub skipped: Vec<Ident>,
}

pub struct Field {
    pub ident: Ident,
    pub name: String,
    /// Its type in the struct.
    pub kind: Type,
    /// The type that is sent in its place.
    pub via: Option<Type>,
    pub form: Form,
    pub flags: Flags,
    pub hotness: u8,
    pub is_reliable: bool,
    /// Its place in the schema.
    pub index: usize,
}

impl Field {
    /// The type whose form is asked.
    pub fn sent(&self) -> &Type {
        self.via.as_ref().unwrap_or(&self.kind)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Audience {
    Public,
    Owner,
    Nobody,
}

/// Who sees a field and who may ask to change it.
#[derive(Clone, Copy)]
pub struct Flags {
    pub audience: Audience,
    pub owner_writes: bool,
    pub anyone_writes: bool,
}

impl Struct {
    pub fn of(input: &DeriveInput) -> Result<Struct> {
        if let Some(first) = input.generics.params.first() {
            return Err(Error::new_spanned(
                first,
                "a replicated struct has no generics: both sides must agree on one table of fields",
            ));
        }
        let Data::Struct(data) = &input.data else {
            return Err(Error::new(
                input.ident.span(),
                "only structs are replicated; for an enum without data see Choice",
            ));
        };
        let Fields::Named(named) = &data.fields else {
            return Err(Error::new(
                input.ident.span(),
                "fields need names: the wire and prediction report them by name",
            ));
        };
        let mut items = Items::of(&input.attrs, &STRUCT_KEYS)?;
        let mut model = Struct {
            ident: input.ident.clone(),
            krate: items.krate()?,
            name: name(&mut items, &input.ident)?,
            profile: profile(&mut items)?,
            priority: items.expr("priority")?.map(|(_, value)| value),
            radius: items.expr("radius")?.map(|(_, value)| value),
            weight: items.expr("weight")?.map(|(_, value)| value),
            predict: items.flag("predict")?,
            fields: Vec::new(),
            skipped: Vec::new(),
        };
        model.read_fields(named)?;
        if model.fields.is_empty() || model.fields.len() > FIELDS_MAX {
            let count = model.fields.len();
            let problem = format!(
                "a replicated struct has 1 to {FIELDS_MAX} fields that are not skipped, this has {count}"
            );
            return Err(Error::new(input.ident.span(), problem));
        }
        model.number_fields();
        Ok(model)
    }

    /// Reads all fields, and tells all that is wrong with them at once.
    fn read_fields(&mut self, named: &syn::FieldsNamed) -> Result<()> {
        let mut problems: Option<Error> = None;
        let mut transform: Vec<Ident> = Vec::new();
        for field in &named.named {
            let read = read_field(field).and_then(|read| match read {
                Some((field, key)) => {
                    check_once(&mut transform, &field.form, key)?;
                    self.fields.push(field);
                    Ok(())
                }
                None => {
                    self.skipped.extend(field.ident.clone());
                    Ok(())
                }
            });
            match (read, &mut problems) {
                (Ok(()), _) => {}
                (Err(problem), Some(problems)) => problems.combine(problem),
                (Err(problem), None) => problems = Some(problem),
            }
        }
        problems.map_or(Ok(()), Err)
    }

    /// Gives each field its place in the schema: hottest first, else in the order of the struct.
    fn number_fields(&mut self) {
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        order.sort_by_key(|&place| core::cmp::Reverse(self.fields[place].hotness));
        for (index, place) in order.into_iter().enumerate() {
            self.fields[place].index = index;
        }
    }
}

/// The field and the key of its form; `None` if it is skipped.
fn read_field(field: &syn::Field) -> Result<Option<(Field, Option<Ident>)>> {
    let mut items = Items::of(&field.attrs, &FIELD_KEYS)?;
    if items.flag("skip")?.is_some() {
        return match items.left().next() {
            Some(other) => {
                Err(Error::new(other.span(), format!("`{}` means nothing on a skipped field", other.key)))
            }
            None => Ok(None),
        };
    }
    let ident = field.ident.clone().expect("checked: fields have names");
    let name = ident.unraw().to_string();
    check_name(&name, ident.span())?;
    let via = items.via()?;
    let (form, key) = form::of(&mut items, via.as_ref().unwrap_or(&field.ty))?;
    let flags = flags(&mut items)?;
    let reliable = items.flag("reliable")?;
    if let Some(reliable) = reliable.as_ref().filter(|_| !form.is_content()) {
        return Err(Error::new(
            reliable.span(),
            "`reliable` is for `text`, `bytes` and `array`: of a field of fixed size the newest value is enough",
        ));
    }
    let hotness = match items.expr("hot")? {
        Some((key, value)) => form::byte(&key, &value)?,
        None => form.hotness(),
    };
    let is_reliable = reliable.is_some();
    let kind = field.ty.clone();
    Ok(Some((Field { ident, name, kind, via, form, flags, hotness, is_reliable, index: 0 }, key)))
}

/// An object has one of each part of a transform.
fn check_once(seen: &mut Vec<Ident>, form: &Form, key: Option<Ident>) -> Result<()> {
    let is_part = matches!(form, Form::Position | Form::Rotation | Form::Scale | Form::Velocity);
    let Some(key) = key.filter(|_| is_part) else { return Ok(()) };
    if seen.contains(&key) {
        return Err(Error::new(key.span(), format!("a second `{key}`: an object has one")));
    }
    seen.push(key);
    Ok(())
}

fn flags(items: &mut Items) -> Result<Flags> {
    let audiences = [
        (items.flag("public")?, Audience::Public),
        (items.flag("owner")?, Audience::Owner),
        (items.flag("server_only")?, Audience::Nobody),
    ];
    let given: Vec<(Ident, Audience)> =
        audiences.into_iter().filter_map(|(key, audience)| Some((key?, audience))).collect();
    if let [(first, _), (second, _), ..] = given.as_slice() {
        let problem = format!("`{second}` contradicts `{first}`: a field has one audience");
        return Err(Error::new(second.span(), problem));
    }
    let audience = given.first().map_or(Audience::Public, |(_, audience)| *audience);
    let (owner, anyone) = (items.flag("client_writes")?, items.flag("any_client_writes")?);
    let unseen = match (&owner, &anyone, audience) {
        (_, Some(key), Audience::Owner | Audience::Nobody) => Some((key, "public")),
        (Some(key), _, Audience::Nobody) => Some((key, "public` or `owner")),
        _ => None,
    };
    if let Some((key, audience)) = unseen {
        let problem = format!("`{key}` needs `{audience}`: who may write a field must see it");
        return Err(Error::new(key.span(), problem));
    }
    Ok(Flags { audience, owner_writes: owner.is_some(), anyone_writes: anyone.is_some() })
}

fn name(items: &mut Items, ident: &Ident) -> Result<String> {
    let (name, span) = match items.string("name")? {
        Some(text) => (text.value(), text.span()),
        None => (ident.unraw().to_string(), ident.span()),
    };
    check_name(&name, span).map(|()| name)
}

fn check_name(name: &str, span: Span) -> Result<()> {
    match (1..=NAME_BYTES_MAX).contains(&name.len()) {
        true => Ok(()),
        false => {
            Err(Error::new(span, format!("a name has 1 to {NAME_BYTES_MAX} bytes, this has {}", name.len())))
        }
    }
}

fn profile(items: &mut Items) -> Result<&'static str> {
    let Some(text) = items.string("profile")? else { return Ok("Standard") };
    match text.value().as_str() {
        "standard" => Ok("Standard"),
        "high" => Ok("High"),
        "world" => Ok("World"),
        "none" => Ok("None"),
        other => Err(Error::new(
            text.span(),
            format!(
                "there is no profile \"{other}\", there are \"standard\", \"high\", \"world\" and \"none\""
            ),
        )),
    }
}
