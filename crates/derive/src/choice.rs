//! `#[derive(Choice)]`: an enum without data is a number of few bits.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::attributes::Items;

pub fn choice(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a choice is an enum; for a struct see Replicated"));
    };
    if let Some(first) = input.generics.params.first() {
        return Err(Error::new_spanned(first, "a choice has no generics"));
    }
    if let Some(variant) = data.variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit)) {
        return Err(Error::new_spanned(variant, "a choice has no data: put it into fields of the struct"));
    }
    if data.variants.len() < 2 {
        return Err(Error::new(input.ident.span(), "a choice is among two at least"));
    }
    let (ident, krate) = (&input.ident, Items::of(&input.attrs, &["crate"])?.krate()?);
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let (indexes, count) = (0..variants.len() as u32, variants.len() as u32);
    let indexes: Vec<u32> = indexes.collect();
    Ok(quote! {
        const _: () = {
            use #krate::replicated::__private as __netloom;

            #[automatically_derived]
            impl __netloom::Choice for #ident {
                const COUNT: u32 = #count;

                fn index(self) -> u32 {
                    match self {
                        #(#ident::#variants => #indexes,)*
                    }
                }

                fn from_index(index: u32) -> ::core::option::Option<#ident> {
                    ::core::option::Option::Some(match index {
                        #(#indexes => #ident::#variants,)*
                        _ => return ::core::option::Option::None,
                    })
                }
            }

            #[automatically_derived]
            impl __netloom::PlainField for #ident {
                const ELEMENT: __netloom::ElementKind = __netloom::choice_kind(#count);

                fn to_value(self) -> __netloom::Value<'static> {
                    __netloom::choice_value(self)
                }

                fn from_value(value: __netloom::Value<'_>) -> ::core::option::Option<#ident> {
                    __netloom::choice_from(value)
                }
            }
        };
    })
}
