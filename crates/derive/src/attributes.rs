//! `#[replicated(key, key = value, …)]`, read into a table.
//!
//! A misspelt key must not be ignored and one given twice must not win by chance, so both are errors at their place.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, Path, Result, Token, Type};

/// What stands behind a key.
pub enum Value {
    /// Nothing.
    None,
    Expr(Expr),
    Type(Type),
    Path(Path),
}

/// A key and its value.
pub struct Item {
    pub key: Ident,
    pub value: Value,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> Result<Item> {
        let key = Ident::parse_any(input)?;
        if !input.peek(Token![=]) {
            return Ok(Item { key, value: Value::None });
        }
        input.parse::<Token![=]>()?;
        let value = match key.to_string().as_str() {
            "crate" => Value::Path(Path::parse_mod_style(input)?),
            "via" => Value::Type(input.parse()?),
            _ => Value::Expr(input.parse()?),
        };
        Ok(Item { key, value })
    }
}

impl Item {
    pub fn span(&self) -> Span {
        self.key.span()
    }

    /// A key that stands alone.
    fn flag(self) -> Result<Ident> {
        match self.value {
            Value::None => Ok(self.key),
            _ => Err(Error::new(self.span(), format!("`{}` takes no value", self.key))),
        }
    }

    fn expr(self) -> Result<Expr> {
        match self.value {
            Value::Expr(expr) => Ok(expr),
            _ => Err(Error::new(self.span(), format!("`{0}` needs a value: `{0} = …`", self.key))),
        }
    }
}

/// All items of a struct or field.
pub struct Items(BTreeMap<String, Item>);

impl Items {
    /// The items of every `#[replicated(…)]` among `attributes`; only the keys of `known` are allowed.
    pub fn of(attributes: &[Attribute], known: &[&str]) -> Result<Items> {
        let mut items = BTreeMap::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("replicated")) {
            for item in attribute.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated)? {
                let (key, span) = (item.key.to_string(), item.span());
                if !known.contains(&key.as_str()) {
                    let known = known.join("`, `");
                    return Err(Error::new(
                        span,
                        format!("unknown attribute `{key}`, known here are `{known}`"),
                    ));
                }
                if items.insert(key.clone(), item).is_some() {
                    return Err(Error::new(span, format!("`{key}` is given twice")));
                }
            }
        }
        Ok(Items(items))
    }

    /// A key that stands alone, if it is there.
    pub fn flag(&mut self, key: &str) -> Result<Option<Ident>> {
        self.0.remove(key).map(Item::flag).transpose()
    }

    /// The value of a key, if it is there.
    pub fn expr(&mut self, key: &str) -> Result<Option<(Ident, Expr)>> {
        let item = self.0.remove(key);
        item.map(|item| Ok((item.key.clone(), item.expr()?))).transpose()
    }

    /// A string that must be written out, if it is there.
    pub fn string(&mut self, key: &str) -> Result<Option<syn::LitStr>> {
        let Some((_, expr)) = self.expr(key)? else { return Ok(None) };
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Some(text)),
            other => Err(Error::new_spanned(other, format!("`{key}` takes a string: `{key} = \"…\"`"))),
        }
    }

    /// The type behind `via`, if it is there.
    pub fn via(&mut self) -> Result<Option<Type>> {
        match self.0.remove("via") {
            None => Ok(None),
            Some(Item { value: Value::Type(kind), .. }) => Ok(Some(kind)),
            Some(item) => Err(Error::new(item.span(), "`via` needs a type: `via = [f32; 3]`")),
        }
    }

    /// Where the derives find what they name.
    pub fn krate(&mut self) -> Result<Path> {
        match self.0.remove("crate") {
            None => Ok(syn::parse_quote!(::netloom)),
            Some(Item { value: Value::Path(path), .. }) => Ok(path),
            Some(item) => Err(Error::new(item.span(), "`crate` needs a path: `crate = netloom`")),
        }
    }

    /// The items that nobody asked for.
    pub fn left(&self) -> impl Iterator<Item = &Item> {
        self.0.values()
    }
}
