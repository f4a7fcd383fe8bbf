//! `#[target]` on an inherent impl.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Error, FnArg, ImplItem, ImplItemFn, ItemImpl, PathArguments, ReceiverKind, Result, Type,
    Visibility, parse_quote,
};

use crate::generate::{Interface, TargetArguments, allow};
use crate::member::{Container, Errors, Marker, Member, docs, is_shared_self};

pub(crate) fn expand(arguments: &TargetArguments, mut item: ItemImpl) -> TokenStream {
    let generated =
        read(&mut item).and_then(|(ident, members)| generate(arguments, &item, &ident, members));
    // The block stays in any case, so that nothing else is reported for want of it.
    let generated = generated.unwrap_or_else(Error::into_compile_error);
    [item.into_token_stream(), generated].into_iter().collect()
}

fn read(item: &mut ItemImpl) -> Result<(Ident, Vec<Member>)> {
    let mut errors = Errors::default();
    if let Some((path, _)) = &item.trait_ {
        let message = "#[target] goes on the trait itself, or on an `impl` block without a trait";
        return Err(Error::new_spanned(path, message));
    }
    if !item.generics.params.is_empty() {
        let message =
            "a target cannot be generic: peers know objects by their members only, without types";
        errors.push(Error::new_spanned(&item.generics, message));
    }
    let ident = errors.keep(name(&item.self_ty));
    let object = item.self_ty.clone();
    let mut members = Vec::new();
    for item in &mut item.items {
        if let ImplItem::Fn(method) = item {
            members.extend(errors.keep(read_member(&object, method)).flatten());
        }
    }
    errors.finish()?;
    // Without a name there was an error.
    ident
        .map(|ident| (ident, members))
        .ok_or_else(|| Error::new_spanned(object, "expected a type"))
}

/// The name of the type, which its client is named after.
fn name(object: &Type) -> Result<Ident> {
    if let Type::Path(path) = object
        && path.qself.is_none()
        && let Some(last) = path.path.segments.last()
    {
        return match &last.arguments {
            PathArguments::None => Ok(last.ident.clone()),
            _ => Err(Error::new_spanned(
                object,
                "a target cannot be generic: give it a struct of its own",
            )),
        };
    }
    Err(Error::new_spanned(
        object,
        "#[target] needs the name of a struct or enum",
    ))
}

/// Reads a method, `None` when it is not one for peers.
fn read_member(object: &Type, method: &mut ImplItemFn) -> Result<Option<Member>> {
    let marker = Marker::take(&mut method.attrs)?;
    let is_public = matches!(method.vis, Visibility::Public(_));
    match &marker {
        Some(marker) if !is_public => {
            return Err(Error::new_spanned(
                &marker.attribute,
                "only `pub` methods are for peers",
            ));
        }
        None if !is_public || !has_object(method) => return Ok(None),
        _ => {}
    }
    let member = Member::read(&Container::Impl(object), &method.attrs, marker, &method.sig)?;
    // `pub` and owned parameters are for peers, which need both even if the crate itself does not.
    method.attrs.push(parse_quote!(#[allow(unreachable_pub, clippy::needless_pass_by_value, reason = "for peers")]));
    Ok(Some(member))
}

/// Whether a method is called on an object that exists, rather than making or consuming one.
fn has_object(method: &ImplItemFn) -> bool {
    match method.sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(..) => true,
            ReceiverKind::Typed(_, typed) => is_shared_self(typed),
            _ => false,
        },
        _ => false,
    }
}

fn generate(
    arguments: &TargetArguments,
    item: &ItemImpl,
    ident: &Ident,
    members: Vec<Member>,
) -> Result<TokenStream> {
    let object = &item.self_ty;
    let interface = Interface {
        ident,
        interface: object.to_token_stream(),
        docs: docs(&item.attrs),
        visibility: arguments
            .visibility
            .clone()
            .unwrap_or_else(|| parse_quote!(pub)),
        members,
    };
    interface.check_names()?;
    let dispatch = interface.dispatch(&quote!(<#object>), &quote!(&self), &quote!(self));
    let (implementation, client) = (interface.interface(), interface.client());
    let docs = "A stub of this object, to be called here or given to a peer.";
    let allowed = allow(&quote!(dead_code, unreachable_pub));
    let allowed_dispatch = allow(&quote!(
        deprecated,
        unused_mut,
        unused_variables,
        clippy::match_single_binding
    ));
    let visibility = &interface.visibility;
    Ok(quote! {
        #[automatically_derived]
        #allowed_dispatch
        impl ::capnweb::Target for #object {
            #dispatch
        }

        #implementation
        #client

        #[automatically_derived]
        #allowed
        impl #object {
            #[doc = #docs]
            #visibility fn into_stub(self) -> ::capnweb::Stub<#object> {
                ::capnweb::Stub::from_capability(::capnweb::Capability::new(self))
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#object> for ::capnweb::Stub<#object> {
            fn from(object: #object) -> Self {
                object.into_stub()
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#object> for ::capnweb::Capability {
            fn from(object: #object) -> Self {
                ::capnweb::Capability::new(object)
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#object> for ::capnweb::Value {
            fn from(object: #object) -> Self {
                ::capnweb::Value::Stub(::capnweb::Capability::new(object))
            }
        }

        #[automatically_derived]
        impl ::capnweb::Argument<::capnweb::Stub<#object>> for #object {
            fn into_value(self) -> ::capnweb::Value {
                ::core::convert::Into::into(self)
            }
        }

        #[automatically_derived]
        impl ::capnweb::Output for #object {
            type Received = ::capnweb::Stub<#object>;

            fn into_outcome(self) -> ::capnweb::Result<::capnweb::Value> {
                ::core::result::Result::Ok(::core::convert::Into::into(self))
            }
        }
    })
}
