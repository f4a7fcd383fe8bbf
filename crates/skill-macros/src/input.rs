//! The derive that says that a type is an object.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Result};

pub(crate) fn expand(item: &DeriveInput) -> Result<TokenStream> {
    match &item.data {
        Data::Struct(data) if named(&data.fields) => {}
        Data::Enum(data) if is_tagged(&item.attrs) => {
            let odd = data
                .variants
                .iter()
                .find(|variant| !named(&variant.fields) && !matches!(variant.fields, Fields::Unit));
            if let Some(variant) = odd {
                let problem = "each variant of an input has named fields";
                return Err(Error::new_spanned(variant, problem));
            }
        }
        _ => {
            let problem = "the input of a skill is an object: a struct with named fields, or an enum of such \
                           with #[serde(tag = \"...\")]";
            return Err(Error::new_spanned(&item.ident, problem));
        }
    }
    let ident = &item.ident;
    let (generics, arguments, conditions) = item.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::skill::SkillInput for #ident #arguments #conditions {}
    })
}

fn named(fields: &Fields) -> bool {
    matches!(fields, Fields::Named(_))
}

/// Whether serde tells the variants apart by a field inside of them.
fn is_tagged(attributes: &[Attribute]) -> bool {
    let mut tagged = false;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        // What serde does not understand is for serde to say.
        let _ = attribute.parse_nested_meta(|meta| {
            tagged |= meta.path.is_ident("tag");
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    tagged
}
