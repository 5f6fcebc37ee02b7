//! A struct, understood, becomes code.
//!
//! Each field gets a constant, its form; everything else asks the form. All of it stands in a block of its own, so that no
//! name of it meets one of the game's, and what is wrong points at the field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Type};

use crate::form::Form;
use crate::model::{Audience, Field, Flags, Struct};

pub fn replicated(model: &Struct) -> TokenStream {
    let Struct { ident, krate, name, .. } = model;
    let forms = model.fields.iter().map(|field| form_constants(field, model.profile));
    let mut by_index: Vec<&Field> = model.fields.iter().collect();
    by_index.sort_by_key(|field| field.index);
    let names = by_index.iter().map(|field| &field.name);
    let schema = model.fields.iter().map(schema_field);
    let writes = model.fields.iter().map(write_field);
    let reads = model.fields.iter().map(read_field);
    let skipped = &model.skipped;
    let described: Vec<&Field> = model.fields.iter().filter(|field| is_compared(field)).collect();
    let describes = described.iter().map(|field| describe_field(field));
    let (spawn, check) = (spawn_defaults(model), check_listed(model, &described));
    quote! {
        #[allow(clippy::all, clippy::pedantic, unused_parens, unused_qualifications)]
        const _: () = {
            use #krate::replicated::__private as __netloom;

            #(#forms)*
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

fn form_name(field: &Field) -> Ident {
    format_ident!("__NETLOOM_FORM_{}", field.index)
}

/// `Form::<T>`, such that a type without it is what the error points at.
fn form_trait(field: &Field) -> TokenStream {
    let sent = field.sent();
    quote_spanned!(sent.span()=> __netloom::Form::<#sent>)
}

fn whole_number(expr: &Expr) -> TokenStream {
    quote_spanned!(expr.span()=> (#expr) as i128)
}

fn number(expr: &Expr) -> TokenStream {
    quote_spanned!(expr.span()=> (#expr) as f64)
}

/// The type of a form and how it is made.
fn form_parts(
    form: &Form,
    sent: &Type,
    profile: &Ident,
    delivery: &TokenStream,
) -> (TokenStream, TokenStream) {
    let named = |name: &str| {
        let name = Ident::new(name, sent.span());
        (quote!(__netloom::#name), quote!(__netloom::#name(__netloom::Profile::#profile)))
    };
    match form {
        Form::Plain => (quote!(__netloom::PlainForm), quote!(__netloom::PlainForm)),
        Form::Whole(min, max) => {
            let (first, last) = (whole_number(min), whole_number(max));
            let made = quote_spanned!(min.span()=> __netloom::Whole::new::<#sent>(#first, #last));
            (quote!(__netloom::Whole), made)
        }
        Form::Steps { min, max, step, is_angle } => {
            let (first, last, size) = (number(min), number(max), number(step));
            let made = quote_spanned!(min.span()=> __netloom::Steps::new(#first, #last, #size));
            match is_angle {
                true => (quote!(__netloom::Angle), quote!(__netloom::Angle(#made))),
                false => (quote!(__netloom::Steps), made),
            }
        }
        Form::Position => named("Place"),
        Form::Rotation => named("Rotation"),
        Form::Scale => named("Scale"),
        Form::Velocity => named("Velocity"),
        Form::Text(limit) => {
            let bytes = whole_number(limit);
            (quote!(__netloom::Text), quote_spanned!(limit.span()=> __netloom::Text::new(#bytes, #delivery)))
        }
        Form::Bytes(limit) => {
            let bytes = whole_number(limit);
            (
                quote!(__netloom::Bytes),
                quote_spanned!(limit.span()=> __netloom::Bytes::new(#bytes, #delivery)),
            )
        }
        Form::Array { count, element, kind } => {
            let (element_type, element_made) = form_parts(element, kind, profile, delivery);
            let bits = match **element {
                Form::Plain => {
                    quote_spanned!(kind.span()=> __netloom::element_bits(<#kind as __netloom::PlainField>::ELEMENT))
                }
                _ => quote!((#element_made).bits()),
            };
            let count_max = whole_number(count);
            let bytes = quote_spanned!(count.span()=> __netloom::array_bytes(#count_max, #bits, #delivery));
            (
                quote!(__netloom::Array<#element_type, { #bytes }>),
                quote!(__netloom::Array::new(#element_made, #count_max)),
            )
        }
    }
}

fn form_constants(field: &Field, profile: &str) -> TokenStream {
    let (name, profile) = (form_name(field), Ident::new(profile, field.ident.span()));
    let (kind, made) = form_parts(&field.form, field.sent(), &profile, &delivery(field));
    quote!(const #name: #kind = #made;)
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
    let (name, form, form_trait) = (&field.name, form_name(field), form_trait(field));
    let (flags, hotness, delivery) = (sync_flags(field.flags), field.hotness, delivery(field));
    quote!(.with(__netloom::Field::new(#name, #form_trait::kind(&#form), #flags, #hotness).delivered(#delivery)))
}

/// The value that is sent, borrowed.
fn sent_value(field: &Field) -> TokenStream {
    let Field { ident, kind, via, .. } = field;
    match via {
        None => quote!(&self.#ident),
        Some(via) => quote_spanned! {via.span()=>
            &<#via as ::core::convert::From<#kind>>::from(::core::clone::Clone::clone(&self.#ident))
        },
    }
}

fn write_field(field: &Field) -> TokenStream {
    let (form, form_trait, index) = (form_name(field), form_trait(field), field.index);
    let value = sent_value(field);
    quote!(let first = first.and(#form_trait::write(&#form, #value, world, object, #index));)
}

fn read_field(field: &Field) -> TokenStream {
    let Field { ident, kind, via, index, .. } = field;
    let (form, form_trait) = (form_name(field), form_trait(field));
    let sent = quote!(#form_trait::read(&#form, source, #index)?);
    let value = match via {
        None => sent,
        Some(via) => quote_spanned!(via.span()=> <#kind as ::core::convert::From<#via>>::from(#sent)),
    };
    if field.flags.audience == Audience::Public {
        return quote!(#ident: #value);
    }
    let flags = sync_flags(field.flags);
    let default = quote_spanned!(kind.span()=> <#kind as ::core::default::Default>::default());
    quote!(#ident: if source.has(#flags) { #value } else { #default })
}

/// Whether the owner has the value as it was at the tick of a snapshot.
fn is_compared(field: &Field) -> bool {
    field.flags.audience != Audience::Nobody && !field.is_reliable
}

fn describe_field(field: &Field) -> TokenStream {
    let (form, form_trait, name) = (form_name(field), form_trait(field), &field.name);
    let value = sent_value(field);
    quote!(#form_trait::describe(&#form, #name, #value, fields);)
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

fn check_listed(model: &Struct, described: &[&Field]) -> TokenStream {
    let Some(predict) = &model.predict else { return TokenStream::new() };
    let counts = described.iter().map(|field| listed(field));
    quote_spanned!(predict.span()=> const _: () = __netloom::check_listed(0 #(+ #counts)*);)
}

fn spawn_defaults(model: &Struct) -> TokenStream {
    let setting = |value: &Option<Expr>, check: &str, default: TokenStream| match value {
        Some(value) => {
            let (check, value) = (Ident::new(check, value.span()), number(value));
            quote_spanned!(value.span()=> const { __netloom::#check(#value) })
        }
        None => default,
    };
    let priority = setting(&model.priority, "priority", quote!(1.0));
    let radius = setting(&model.radius, "radius", quote!(f32::INFINITY));
    let weight = setting(&model.weight, "weight", quote!(1.0));
    let profile = Ident::new(model.profile, model.ident.span());
    let predict = model.predict.is_some();
    quote! {
        __netloom::SpawnDefaults {
            profile: __netloom::Profile::#profile,
            priority: #priority,
            relevance_radius: #radius,
            kind_weight: #weight,
            predict: #predict,
        }
    }
}
