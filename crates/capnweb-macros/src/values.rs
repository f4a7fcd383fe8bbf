//! `#[derive(FromValue)]` and `#[derive(IntoValue)]`.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Fields, LitStr, Result, Type};

use crate::member::{Errors, docs};
use crate::names;

/// The form of a type on the wire.
enum Shape<'a> {
    Fields(Vec<Field<'a>>),
    /// The type of its only field.
    Transparent(&'a Type),
    Variants(Vec<Variant<'a>>),
}

struct Field<'a> {
    ident: &'a Ident,
    wire: LitStr,
    docs: String,
    holds: &'a Type,
}

struct Variant<'a> {
    ident: &'a Ident,
    wire: LitStr,
    docs: String,
}

pub(crate) fn from_value(input: &DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let value = Ident::new("value", Span::mixed_site());
    let (read, describe) = match Shape::read(input)? {
        Shape::Fields(fields) => read_fields(input, &value, &fields),
        Shape::Transparent(holds) => (
            quote!(<#holds as ::capnweb::FromValue>::from_value(#value).map(Self)),
            quote!(<#holds as ::capnweb::FromValue>::describe()),
        ),
        Shape::Variants(variants) => read_variants(input, &value, &variants),
    };
    Ok(quote! {
        #[automatically_derived]
        impl ::capnweb::FromValue for #ident {
            fn from_value(#value: ::capnweb::Value) -> ::capnweb::Result<Self> {
                #read
            }

            fn describe() -> ::capnweb::Type {
                #describe
            }
        }
    })
}

fn read_fields(
    input: &DeriveInput,
    value: &Ident,
    fields: &[Field<'_>],
) -> (TokenStream, TokenStream) {
    let slots: Vec<_> = (0..fields.len())
        .map(|index| Ident::new(&format!("field_{index}"), Span::mixed_site()))
        .collect();
    let idents = fields.iter().map(|field| field.ident);
    let wires: Vec<_> = fields.iter().map(|field| &field.wire).collect();
    let holds: Vec<_> = fields.iter().map(|field| field.holds).collect();
    let read = quote! {
        #(let mut #slots = ::capnweb::Value::Undefined;)*
        for (name, #value) in <::capnweb::Object as ::capnweb::FromValue>::from_value(#value)? {
            match name.as_str() {
                #(#wires => #slots = #value,)*
                _ => ::core::mem::drop(#value),
            }
        }
        ::core::result::Result::Ok(Self {
            #(#idents: ::capnweb::__macro::field::<#holds>(#wires, #slots)?,)*
        })
    };
    let (name, docs) = (input.ident.to_string(), docs(&input.attrs));
    let said = fields.iter().map(|field| &field.docs);
    // Described when asked, since a struct may hold others of its type.
    let describe = quote! {
        ::capnweb::Type::Object(::capnweb::describe::Reference::new::<Self>(|| {
            ::capnweb::describe::Structure::new(#name, #docs)
                #(.field(#wires, #said, <#holds as ::capnweb::FromValue>::describe()))*
        }))
    };
    (read, describe)
}

fn read_variants(
    input: &DeriveInput,
    value: &Ident,
    variants: &[Variant<'_>],
) -> (TokenStream, TokenStream) {
    let idents = variants.iter().map(|variant| variant.ident);
    let wires: Vec<_> = variants.iter().map(|variant| &variant.wire).collect();
    let quoted: Vec<_> = wires
        .iter()
        .map(|wire| format!("'{}'", wire.value()))
        .collect();
    let expected = format!("expected {}", quoted.join(" or "));
    let read = quote! {
        match <::std::string::String as ::capnweb::FromValue>::from_value(#value)?.as_str() {
            #(#wires => ::core::result::Result::Ok(Self::#idents),)*
            _ => ::core::result::Result::Err(::capnweb::Error::type_error(#expected)),
        }
    };
    let (name, docs) = (input.ident.to_string(), docs(&input.attrs));
    let said = variants.iter().map(|variant| &variant.docs);
    let describe = quote! {
        ::capnweb::Type::Choice(::capnweb::describe::Reference::new::<Self>(|| {
            ::capnweb::describe::Choice::new(#name, #docs) #(.variant(#wires, #said))*
        }))
    };
    (read, describe)
}

pub(crate) fn into_value(input: &DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let from = Ident::new("from", Span::mixed_site());
    let object = Ident::new("object", Span::mixed_site());
    let write = match Shape::read(input)? {
        Shape::Fields(fields) => {
            let idents = fields.iter().map(|field| field.ident);
            let wires = fields.iter().map(|field| &field.wire);
            quote! {
                let mut #object = ::capnweb::Object::new();
                #(::capnweb::__macro::insert(&mut #object, #wires, #from.#idents);)*
                ::capnweb::Value::Object(#object)
            }
        }
        Shape::Transparent(_) => quote!(::core::convert::Into::into(#from.0)),
        Shape::Variants(variants) => {
            let idents = variants.iter().map(|variant| variant.ident);
            let wires = variants.iter().map(|variant| &variant.wire);
            quote! {
                ::core::convert::Into::into(match #from {
                    #(#ident::#idents => #wires,)*
                })
            }
        }
    };
    Ok(quote! {
        #[automatically_derived]
        impl ::core::convert::From<#ident> for ::capnweb::Value {
            fn from(#from: #ident) -> Self {
                #write
            }
        }

        #[automatically_derived]
        impl ::capnweb::Output for #ident {
            type Received = #ident;

            fn into_outcome(self) -> ::capnweb::Result<::capnweb::Value> {
                ::core::result::Result::Ok(::core::convert::Into::into(self))
            }
        }
    })
}

impl<'a> Shape<'a> {
    fn read(input: &'a DeriveInput) -> Result<Self> {
        if !input.generics.params.is_empty() {
            let message = "a type with parameters cannot be derived; implement the traits by hand";
            return Err(Error::new_spanned(&input.generics, message));
        }
        match &input.data {
            Data::Struct(data) => match &data.fields {
                Fields::Named(fields) => Self::fields(fields),
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    Ok(Self::Transparent(&fields.unnamed[0].ty))
                }
                Fields::Unnamed(_) | Fields::Unit => Err(Error::new_spanned(
                    &input.ident,
                    "a struct needs named fields, or one unnamed field",
                )),
            },
            Data::Enum(data) => Self::variants(data),
            Data::Union(_) => Err(Error::new_spanned(
                &input.ident,
                "a union cannot be a value",
            )),
        }
    }

    fn fields(fields: &'a syn::FieldsNamed) -> Result<Self> {
        let mut errors = Errors::default();
        let mut taken = HashSet::new();
        let mut read = Vec::new();
        for field in &fields.named {
            // Named fields have names.
            let Some(ident) = &field.ident else { continue };
            let renamed = errors.keep(rename(&field.attrs)).flatten();
            let wire =
                renamed.unwrap_or_else(|| LitStr::new(&names::camel_case(ident), ident.span()));
            if let Some(reason) = names::refuse_field(&wire.value()) {
                errors.push(Error::new(wire.span(), reason));
            }
            if !taken.insert(wire.value()) {
                errors.push(Error::new(
                    wire.span(),
                    format!("there are two fields named `{}`", wire.value()),
                ));
            }
            read.push(Field {
                ident,
                wire,
                docs: docs(&field.attrs),
                holds: &field.ty,
            });
        }
        errors.finish()?;
        Ok(Self::Fields(read))
    }

    fn variants(data: &'a syn::DataEnum) -> Result<Self> {
        let mut errors = Errors::default();
        let mut taken = HashSet::new();
        let mut read = Vec::new();
        if data.variants.is_empty() {
            errors.push(Error::new_spanned(
                data.enum_token,
                "an enum without variants has no values",
            ));
        }
        for variant in &data.variants {
            let ident = &variant.ident;
            if !matches!(variant.fields, Fields::Unit) {
                let message =
                    "a variant is a string and cannot hold data; implement the traits by hand";
                errors.push(Error::new_spanned(&variant.fields, message));
            }
            let renamed = errors.keep(rename(&variant.attrs)).flatten();
            let wire =
                renamed.unwrap_or_else(|| LitStr::new(&names::lower_first(ident), ident.span()));
            if !taken.insert(wire.value()) {
                errors.push(Error::new(
                    wire.span(),
                    format!("there are two variants named `{}`", wire.value()),
                ));
            }
            read.push(Variant {
                ident,
                wire,
                docs: docs(&variant.attrs),
            });
        }
        errors.finish()?;
        Ok(Self::Variants(read))
    }
}

/// The name in `#[value(rename = "…")]`.
fn rename(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let mut name = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("value"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rename") {
                return Err(meta.error("expected `rename = \"…\"`"));
            }
            name = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(name)
}
