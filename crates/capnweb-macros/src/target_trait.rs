//! `#[target]` on a trait.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, ItemTrait, Result, ReturnType, TraitItem, TraitItemFn, parse_quote};

use crate::generate::{Interface, TargetArguments, allow};
use crate::member::{Container, Errors, Marker, Member, docs};

pub(crate) fn expand(arguments: &TargetArguments, mut item: ItemTrait) -> TokenStream {
    match read(arguments, &mut item) {
        Ok(members) => generate(&item, members),
        // The trait stays, so that nothing else is reported for want of it.
        Err(error) => [error.into_compile_error(), item.into_token_stream()]
            .into_iter()
            .collect(),
    }
}

fn read(arguments: &TargetArguments, item: &mut ItemTrait) -> Result<Vec<Member>> {
    let mut errors = Errors::default();
    if let Some(visibility) = &arguments.visibility {
        errors.push(Error::new_spanned(
            visibility,
            "the client of a trait is as visible as the trait",
        ));
    }
    if !item.generics.params.is_empty() {
        let message =
            "a target cannot be generic: peers know objects by their members only, without types";
        errors.push(Error::new_spanned(&item.generics, message));
    }
    let mut members = Vec::new();
    for item in &mut item.items {
        match item {
            TraitItem::Fn(method) => members.extend(errors.keep(read_member(method))),
            other => {
                errors.push(Error::new_spanned(
                    other,
                    "a target has methods and getters, and nothing else",
                ));
            }
        }
    }
    errors.finish()?;
    Ok(members)
}

fn read_member(method: &mut TraitItemFn) -> Result<Member> {
    let marker = Marker::take(&mut method.attrs)?;
    Member::read(&Container::Trait, &method.attrs, marker, &method.sig)
}

fn generate(item: &ItemTrait, members: Vec<Member>) -> TokenStream {
    let ident = &item.ident;
    let interface = Interface {
        ident,
        // For every lifetime: in an async block the compiler forgets that it is `'static`.
        interface: quote!((dyn #ident + '_)),
        docs: docs(&item.attrs),
        visibility: item.vis.clone(),
        members,
    };
    if let Err(error) = interface.check_names() {
        return [error.into_compile_error(), item.into_token_stream()]
            .into_iter()
            .collect();
    }
    let mut written = item.clone();
    written.colon_token.get_or_insert_default();
    written.supertraits.push(parse_quote!(::core::marker::Send));
    written.supertraits.push(parse_quote!(::core::marker::Sync));
    written.supertraits.push(parse_quote!('static));
    for item in &mut written.items {
        if let TraitItem::Fn(method) = item {
            rewrite(method);
        }
    }
    written.items.push(into_stub(&interface));
    let (implementation, client) = (interface.interface(), interface.client());
    quote!(#written #implementation #client)
}

/// An `async fn` promises a future that can go to another thread, and no method is called through `dyn`.
fn rewrite(method: &mut TraitItemFn) {
    let signature = &mut method.sig;
    signature
        .generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::core::marker::Sized));
    if signature.asyncness.take().is_none() {
        return;
    }
    let gives = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, gives) => gives.to_token_stream(),
    };
    signature.output =
        parse_quote!(-> impl ::core::future::Future<Output = #gives> + ::core::marker::Send);
    if let Some(body) = &method.default {
        method.default = Some(parse_quote!({ async move #body }));
    }
}

/// The provided method that makes a stub of an implementation.
///
/// Its adapter lives in its body, so that nothing is named at the trait's side.
fn into_stub(interface: &Interface<'_>) -> TraitItem {
    let ident = interface.ident;
    let docs =
        format!("A stub of this object, to be called here or given to a peer as a `{ident}`.");
    let path = quote!(<__Object as #ident>);
    let dispatch = interface.dispatch(&path, &quote!(&self.0), &quote!(self));
    let allowed = allow(&quote!(dead_code));
    let allowed_dispatch = allow(&quote!(
        deprecated,
        unused_mut,
        unused_variables,
        clippy::match_single_binding
    ));
    parse_quote! {
        #[doc = #docs]
        #allowed
        fn into_stub(self) -> ::capnweb::Stub<dyn #ident>
        where
            Self: ::core::marker::Sized,
        {
            struct __Adapter<__Object>(__Object);

            #[automatically_derived]
            #allowed_dispatch
            impl<__Object: #ident> ::capnweb::Target for __Adapter<__Object> {
                #dispatch
            }

            ::capnweb::Stub::from_capability(::capnweb::Capability::new(__Adapter(self)))
        }
    }
}
