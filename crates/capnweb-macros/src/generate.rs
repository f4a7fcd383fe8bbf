//! The code that both forms of `#[target]` share: dispatch, client, description.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Error, Result, Visibility};

use crate::member::{Errors, Kind, Member, Object};

/// What stands in the brackets of `#[target(…)]`.
pub(crate) struct TargetArguments {
    /// Who can see the client.
    pub(crate) visibility: Option<Visibility>,
}

impl Parse for TargetArguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self { visibility: None });
        }
        let visibility: Visibility = input.parse()?;
        if matches!(visibility, Visibility::Inherited) || !input.is_empty() {
            return Err(input.error(
                "#[target] takes only the visibility of the client, as in #[target(pub(crate))]; \
                 names are changed by #[method(name = \"…\")] on the method",
            ));
        }
        Ok(Self {
            visibility: Some(visibility),
        })
    }
}

/// An object that peers can call, as far as both forms agree on it.
pub(crate) struct Interface<'a> {
    /// The name of the trait or type.
    pub(crate) ident: &'a Ident,
    /// What `Interface` is implemented for.
    pub(crate) interface: TokenStream,
    pub(crate) docs: String,
    pub(crate) visibility: Visibility,
    pub(crate) members: Vec<Member>,
}

impl Interface<'_> {
    /// That no two members have one name.
    pub(crate) fn check_names(&self) -> Result<()> {
        let mut errors = Errors::default();
        let mut taken = HashSet::new();
        // Of those under a condition, only the compiler knows which exist together.
        for member in self.members.iter().filter(|member| member.cfg.is_empty()) {
            let wire = member.wire.value();
            if !taken.insert(wire.clone()) {
                errors.push(Error::new(
                    member.wire.span(),
                    format!("there are two members named `{wire}`"),
                ));
            }
        }
        errors.finish()
    }

    /// The methods of `impl Target`: `path` is what the methods are called on, `borrowed` and `shared`
    /// how to get at the object from an `Arc<Self>`.
    pub(crate) fn dispatch(
        &self,
        path: &TokenStream,
        borrowed: &TokenStream,
        shared: &TokenStream,
    ) -> TokenStream {
        // Of macro hygiene, so that no parameter of a user's can be confused with them.
        let arguments = Ident::new("arguments", Span::mixed_site());
        let name = Ident::new("name", Span::mixed_site());
        let interface = &self.interface;
        let type_name = self.ident.to_string();
        let kinds = self.members.iter().map(
            |Member {
                 wire, cfg, kind, ..
             }| {
                let kind = match kind {
                    Kind::Method => quote!(Method),
                    Kind::Getter => quote!(Getter),
                };
                quote!(#(#cfg)* #wire => ::capnweb::Member::#kind,)
            },
        );
        let arms = |kind| {
            self.of(kind).map(|member| {
                let Member { wire, cfg, .. } = member;
                let reply = reply(member, &arguments, path, borrowed, shared);
                quote!(#(#cfg)* #wire => { #reply })
            })
        };
        let calls = arms(Kind::Method);
        let reads = arms(Kind::Getter);
        quote! {
            fn member(&self, #name: &str) -> ::capnweb::Member {
                match #name {
                    #(#kinds)*
                    _ => ::capnweb::Member::Absent,
                }
            }

            fn call(self: ::std::sync::Arc<Self>, #name: &str, mut #arguments: ::capnweb::Arguments) -> ::capnweb::Reply {
                match #name {
                    #(#calls)*
                    _ => ::capnweb::Reply::no_such_method(#name),
                }
            }

            fn get(self: ::std::sync::Arc<Self>, #name: &str) -> ::capnweb::Reply {
                match #name {
                    #(#reads)*
                    _ => ::capnweb::Reply::ready(()),
                }
            }

            fn interface(&self) -> &'static str {
                #type_name
            }

            fn describe(&self) -> ::capnweb::Description {
                <#interface as ::capnweb::Interface>::describe()
            }
        }
    }

    /// `impl Interface`, with the description.
    pub(crate) fn interface(&self) -> TokenStream {
        let Self {
            interface, docs, ..
        } = self;
        let name = self.ident.to_string();
        let client = self.client_ident();
        let description = Ident::new("description", Span::mixed_site());
        let members = self.members.iter().map(|member| {
            let Member { wire, cfg, parameters, gives, .. } = member;
            let docs = member.docs();
            let gives = received(gives);
            let gives = quote!(<#gives as ::capnweb::FromValue>::describe());
            let parameters = parameters.iter().map(|parameter| {
                let (name, takes) = (&parameter.wire, &parameter.takes);
                quote!(::capnweb::Parameter::new(#name, <#takes as ::capnweb::FromValue>::describe()))
            });
            let more = match member.kind {
                Kind::Method => quote!(method(#wire, #docs, ::std::vec![#(#parameters),*], #gives)),
                Kind::Getter => quote!(getter(#wire, #docs, #gives)),
            };
            quote!(#(#cfg)* let #description = #description.#more;)
        });
        quote! {
            #[automatically_derived]
            impl ::capnweb::Interface for #interface {
                type Client = #client;

                fn describe() -> ::capnweb::Description {
                    let #description = ::capnweb::Description::new(#name, #docs);
                    #(#members)*
                    #description
                }
            }
        }
    }

    /// The struct that a stub's methods are on.
    pub(crate) fn client(&self) -> TokenStream {
        let client = self.client_ident();
        let visibility = &self.visibility;
        let docs = format!("The methods that a stub of a `{}` has.", self.ident);
        let methods = self.members.iter().map(|member| self.client_method(member));
        let allowed = allow(&quote!(dead_code, unreachable_pub));
        let allowed_methods = allow(&quote!(
            dead_code,
            unreachable_pub,
            clippy::should_implement_trait,
            clippy::wrong_self_convention,
            clippy::too_many_arguments
        ));
        quote! {
            #[doc = #docs]
            #[derive(::core::clone::Clone, ::core::fmt::Debug)]
            #allowed
            #visibility struct #client {
                capability: ::capnweb::Capability,
            }

            #[automatically_derived]
            #allowed_methods
            impl #client {
                #(#methods)*
            }

            #[automatically_derived]
            impl ::capnweb::TypedCapability for #client {
                fn from_capability(capability: ::capnweb::Capability) -> Self {
                    Self { capability }
                }

                fn capability(&self) -> &::capnweb::Capability {
                    &self.capability
                }
            }

            #[automatically_derived]
            impl ::core::ops::Deref for #client {
                type Target = ::capnweb::Capability;

                fn deref(&self) -> &::capnweb::Capability {
                    &self.capability
                }
            }
        }
    }

    fn client_method(&self, member: &Member) -> TokenStream {
        let Member {
            ident,
            wire,
            cfg,
            copied,
            parameters,
            gives,
            ..
        } = member;
        let visibility = &self.visibility;
        let gives = received(gives);
        let docs = if member.docs().is_empty() {
            let docs = match member.kind {
                Kind::Method => format!("Calls `{}`.", wire.value()),
                Kind::Getter => format!("Reads `{}`.", wire.value()),
            };
            quote!(#[doc = #docs])
        } else {
            TokenStream::new()
        };
        let names = parameters.iter().map(|parameter| &parameter.ident);
        let takes: Vec<_> = parameters
            .iter()
            .map(|parameter| &parameter.takes)
            .collect();
        let signature = {
            let names = names.clone();
            quote!(#ident(&self, #(#names: impl ::capnweb::Argument<#takes>),*))
        };
        let promise = match member.kind {
            Kind::Method if parameters.is_empty() => quote!(self.capability.call(#wire, ())),
            Kind::Method => {
                let arguments =
                    quote!(::std::vec![#(::capnweb::Argument::<#takes>::into_value(#names)),*]);
                quote!(self.capability.call(#wire, #arguments))
            }
            Kind::Getter => quote!(self.capability.property(#wire)),
        };
        quote! {
            #(#cfg)*
            #(#copied)*
            #docs
            #visibility fn #signature -> ::capnweb::Promise<#gives> {
                #promise.cast()
            }
        }
    }

    fn client_ident(&self) -> Ident {
        format_ident!("{}Client", self.ident)
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Member> {
        self.members
            .iter()
            .filter(move |member| member.kind == kind)
    }
}

/// Decodes the arguments of a member, calls it, and makes a reply of what it gives.
fn reply(
    member: &Member,
    arguments: &Ident,
    path: &TokenStream,
    borrowed: &TokenStream,
    shared: &TokenStream,
) -> TokenStream {
    let Member {
        ident, parameters, ..
    } = member;
    // Errors about the member point to it, yet the code counts as ours.
    let span = ident.span().resolved_at(Span::mixed_site());
    let values: Vec<_> = (0..parameters.len())
        .map(|index| Ident::new(&format!("argument_{index}"), Span::mixed_site()))
        .collect();
    let takes = parameters.iter().map(|parameter| &parameter.takes);
    let names = parameters.iter().map(|parameter| &parameter.wire);
    let object = match member.takes {
        Object::Borrowed => borrowed,
        Object::Shared => shared,
    };
    let call = quote_spanned!(span=> #path::#ident(#object, #(#values),*));
    let reply = if member.is_async {
        // Converted inside, so that the result may borrow from the object.
        let cancellable = member
            .cancels
            .then(|| quote_spanned!(span=> .cancellable()));
        quote_spanned!(span=> ::capnweb::Reply::future(async move { ::capnweb::Output::into_outcome(#call.await) }) #cancellable)
    } else {
        quote_spanned!(span=> ::capnweb::Reply::ready(#call))
    };
    quote! {
        #(
            let #values = match #arguments.take::<#takes>(#names) {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => return ::capnweb::Reply::error(error),
            };
        )*
        #reply
    }
}

/// What a caller gets of a result. Errors about it point to the type in the signature.
fn received(gives: &TokenStream) -> TokenStream {
    let span = gives.span().resolved_at(Span::mixed_site());
    quote_spanned!(span=> <#gives as ::capnweb::Output>::Received)
}

/// Silences lints on generated code.
pub(crate) fn allow(lints: &TokenStream) -> TokenStream {
    quote!(#[allow(#lints, reason = "written by #[target], used or not")])
}
