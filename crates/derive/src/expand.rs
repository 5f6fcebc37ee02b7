//! A struct, understood, becomes code.
//!
//! Each field gets a constant, its form; everything else asks the form. All of it stands in a block of its own, so that no
//! name of it meets one of the game's, and what is wrong points at the field.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Type};

use crate::form::Form;
use crate::model::{Audience, Field, Flags, Struct};

pub fn replicated(model: &Struct) -> TokenStream {
    let Struct { ident, krate, name, .. } = model;
    let forms = model.fields.iter().map(|field| form_constant(field, model.profile));
    let mut by_index: Vec<&Field> = model.fields.iter().collect();
    by_index.sort_by_key(|field| field.index);
    let names = by_index.iter().map(|field| &field.name);
    let schema = model.fields.iter().map(schema_field);
    let writes = model.fields.iter().map(write_field);
    let reads = model.fields.iter().map(read_field);
    let skipped = &model.skipped;
    let compared: Vec<&Field> = model.fields.iter().filter(|field| is_compared(field)).collect();
    let describes = compared.iter().map(|field| describe_field(field));
    let (settings, spawn, check) = (settings(model), spawn_defaults(model), check_listed(model, &compared));
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_parens, unused_qualifications)]
        const _: () = {
            use #krate::replicated::__private as __netloom;

            #(#forms)*
            #settings
            #check

            #[automatically_derived]
            impl __netloom::Replicated for #ident {
                const NAME: &'static str = #name;
                const FIELDS: &'static [&'static str] = &[#(#names),*];

                fn schema() -> ::core::result::Result<__netloom::Schema, __netloom::SchemaError> {
                    __netloom::Schema::builder(#name) #(#schema)* .build()
                }

                fn spawn_defaults() -> __netloom::SpawnDefaults {
                    #spawn
                }

                fn write(
                    &self,
                    world: &mut __netloom::World,
                    object: __netloom::ObjectIndex,
                ) -> ::core::result::Result<(), __netloom::WorldError> {
                    let first = ::core::result::Result::Ok(());
                    #(#writes)*
                    first
                }

                fn read_from(source: &__netloom::Source<'_>) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(Self {
                        #(#reads,)*
                        #(#skipped: ::core::default::Default::default(),)*
                    })
                }

                fn describe(&self, fields: &mut __netloom::Fields) {
                    #(#describes)*
                }
            }
        };
    }
}

/// The place of a piece of source, for what is wrong with code made of it. Names in that code mean what they mean in all
/// other code from here, also where the piece was itself made by a macro.
fn at(source: &impl Spanned) -> Span {
    Span::call_site().located_at(source.span())
}

fn form_name(field: &Field) -> Ident {
    format_ident!("__NETLOOM_FORM_{}", field.index, span = at(field.sent()))
}

/// A call of a function of the field's form.
fn call(field: &Field, function: &str, arguments: TokenStream) -> TokenStream {
    let (sent, form) = (field.sent(), form_name(field));
    let function = Ident::new(function, at(sent));
    quote_spanned!(at(sent)=> __netloom::Form::<#sent>::#function(&#form, #arguments))
}

fn whole_number(expr: &Expr) -> TokenStream {
    quote_spanned!(at(expr)=> (#expr) as i128)
}

fn number(expr: &Expr) -> TokenStream {
    quote_spanned!(at(expr)=> (#expr) as f64)
}

fn form_constant(field: &Field, profile: &str) -> TokenStream {
    let (name, profile) = (form_name(field), Ident::new(profile, Span::call_site()));
    let (kind, made) = form_parts(&field.form, field.sent(), &profile, &delivery(field));
    quote!(const #name: #kind = #made;)
}

/// The type of a form and how it is made.
fn form_parts(
    form: &Form,
    sent: &Type,
    profile: &Ident,
    delivery: &TokenStream,
) -> (TokenStream, TokenStream) {
    let of_profile = |name: &str| {
        let name = Ident::new(name, at(sent));
        (quote!(__netloom::#name), quote!(__netloom::#name(__netloom::Profile::#profile)))
    };
    let of_bytes = |name: &str, limit: &Expr| {
        let (name, bytes) = (Ident::new(name, at(limit)), whole_number(limit));
        (quote!(__netloom::#name), quote_spanned!(at(limit)=> __netloom::#name::new(#bytes, #delivery)))
    };
    match form {
        Form::Plain => (quote!(__netloom::PlainForm), quote!(__netloom::PlainForm)),
        Form::Whole(min, max) => {
            let (first, last) = (whole_number(min), whole_number(max));
            let made = quote_spanned!(at(min)=> __netloom::Whole::new::<#sent>(#first, #last));
            (quote!(__netloom::Whole), made)
        }
        Form::Steps { min, max, step, is_angle } => {
            let (first, last, size) = (number(min), number(max), number(step));
            let made = quote_spanned!(at(min)=> __netloom::Steps::new(#first, #last, #size));
            match is_angle {
                true => (quote!(__netloom::Angle), quote!(__netloom::Angle(#made))),
                false => (quote!(__netloom::Steps), made),
            }
        }
        Form::Position => of_profile("Place"),
        Form::Rotation => of_profile("Rotation"),
        Form::Scale => of_profile("Scale"),
        Form::Velocity => of_profile("Velocity"),
        Form::Text(limit) => of_bytes("Text", limit),
        Form::Bytes(limit) => of_bytes("Bytes", limit),
        Form::Array { count, element, kind } => {
            let (element_type, element_made) = form_parts(element, kind, profile, delivery);
            let bits = match **element {
                Form::Plain => quote_spanned! {at(kind)=>
                    __netloom::element_bits(<#kind as __netloom::PlainField>::ELEMENT)
                },
                _ => quote!((#element_made).bits()),
            };
            let count_max = whole_number(count);
            let bytes = quote_spanned!(at(count)=> __netloom::array_bytes(#count_max, #bits, #delivery));
            (
                quote!(__netloom::Array<#element_type, { #bytes }>),
                quote!(__netloom::Array::new(#element_made, #count_max)),
            )
        }
    }
}

fn delivery(field: &Field) -> TokenStream {
    match field.is_reliable {
        true => quote!(__netloom::Delivery::Reliable),
        false => quote!(__netloom::Delivery::Latest),
    }
}

fn sync_flags(flags: Flags) -> TokenStream {
    let audience = match flags.audience {
        Audience::Public => quote!(__netloom::SyncFlags::PUBLIC_SYNC),
        Audience::Owner => quote!(__netloom::SyncFlags::OWNER_SYNC),
        Audience::Nobody => quote!(__netloom::SyncFlags::NO_SYNC),
    };
    let owner = flags.owner_writes.then(|| quote!(.with(__netloom::SyncFlags::MODIFIABLE_BY_CLIENT)));
    let anyone = flags.anyone_writes.then(|| quote!(.with(__netloom::SyncFlags::MODIFIABLE_BY_ANY_CLIENT)));
    quote!(#audience #owner #anyone)
}

fn schema_field(field: &Field) -> TokenStream {
    let (name, kind) = (&field.name, call(field, "kind", TokenStream::new()));
    let (flags, hotness, delivery) = (sync_flags(field.flags), field.hotness, delivery(field));
    quote!(.with(__netloom::Field::new(#name, #kind, #flags, #hotness).delivered(#delivery)))
}

/// The value that is sent, borrowed.
fn sent_value(field: &Field) -> TokenStream {
    let Field { ident, kind, via, .. } = field;
    let own = quote!(&self.#ident);
    match via {
        None => own,
        Some(via) => quote_spanned! {at(via)=>
            &<#via as ::core::convert::From<#kind>>::from(::core::clone::Clone::clone(#own))
        },
    }
}

fn write_field(field: &Field) -> TokenStream {
    let (index, value) = (field.index, sent_value(field));
    let written = call(field, "write", quote!(#value, world, object, #index));
    quote!(let first = first.and(#written);)
}

fn read_field(field: &Field) -> TokenStream {
    let Field { ident, kind, via, index, .. } = field;
    let read = call(field, "read", quote!(source, #index));
    let value = match via {
        None => quote!(#read?),
        Some(via) => quote_spanned!(at(via)=> <#kind as ::core::convert::From<#via>>::from(#read?)),
    };
    if field.flags.audience == Audience::Public {
        return quote!(#ident: #value);
    }
    let flags = sync_flags(field.flags);
    let default = quote_spanned!(at(kind)=> <#kind as ::core::default::Default>::default());
    quote!(#ident: if source.has(#flags) { #value } else { #default })
}

/// Whether the owner has the value as it was at the tick of a snapshot.
fn is_compared(field: &Field) -> bool {
    field.flags.audience != Audience::Nobody && !field.is_reliable
}

fn describe_field(field: &Field) -> TokenStream {
    let (name, value) = (&field.name, sent_value(field));
    let described = call(field, "describe", quote!(#name, #value, fields));
    quote!(#described;)
}

/// How many values a field lists for comparison.
fn listed(field: &Field) -> TokenStream {
    match &field.form {
        Form::Scale | Form::Velocity => quote!(3),
        Form::Array { count, element, .. } if matches!(**element, Form::Steps { .. }) => {
            quote!((1 + (#count) as usize))
        }
        _ => quote!(1),
    }
}

fn check_listed(model: &Struct, compared: &[&Field]) -> TokenStream {
    let Some(predict) = &model.predict else { return TokenStream::new() };
    let counts = compared.iter().map(|field| listed(field));
    quote_spanned!(at(predict)=> const _: () = __netloom::check_listed(0 #(+ #counts)*);)
}

/// The settings of the struct as constants, so that a wrong one does not compile.
fn settings(model: &Struct) -> TokenStream {
    let setting = |name: &str, value: &Option<Expr>, check: &str, default: TokenStream| {
        let name = Ident::new(name, Span::call_site());
        let made = value.as_ref().map_or(default, |value| {
            let (check, number) = (Ident::new(check, at(value)), number(value));
            quote_spanned!(at(value)=> __netloom::#check(#number))
        });
        quote!(const #name: f32 = #made;)
    };
    let priority = setting("__NETLOOM_PRIORITY", &model.priority, "priority", quote!(1.0));
    let radius = setting("__NETLOOM_RADIUS", &model.radius, "radius", quote!(f32::INFINITY));
    let weight = setting("__NETLOOM_WEIGHT", &model.weight, "weight", quote!(1.0));
    quote!(#priority #radius #weight)
}

fn spawn_defaults(model: &Struct) -> TokenStream {
    let profile = Ident::new(model.profile, Span::call_site());
    let predict = model.predict.is_some();
    quote! {
        __netloom::SpawnDefaults {
            profile: __netloom::Profile::#profile,
            priority: __NETLOOM_PRIORITY,
            relevance_radius: __NETLOOM_RADIUS,
            kind_weight: __NETLOOM_WEIGHT,
            predict: #predict,
        }
    }
}
