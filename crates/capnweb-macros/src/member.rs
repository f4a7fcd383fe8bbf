//! One exposed method or getter, read from its signature and checked.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, Lit, LitStr, Meta, Pat, Receiver, ReceiverKind, Result,
    ReturnType, Safety, Signature, Type,
};

use crate::names;

/// A method or getter that peers can reach.
pub(crate) struct Member {
    pub(crate) ident: Ident,
    pub(crate) kind: Kind,
    /// Its name on the wire.
    pub(crate) wire: LitStr,
    /// Documentation, deprecation: what the client method carries too.
    pub(crate) copied: Vec<Attribute>,
    /// The conditions under which it exists at all.
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) takes: Object,
    pub(crate) is_async: bool,
    /// Whether it stops when its result is released.
    pub(crate) cancels: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) gives: TokenStream,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Method,
    Getter,
}

/// How a method takes its object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    Borrowed,
    Shared,
}

pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    /// Its name in error messages and the description.
    pub(crate) wire: String,
    pub(crate) takes: TokenStream,
}

/// Where a signature stands, which decides what it may say.
pub(crate) enum Container<'a> {
    Trait,
    /// In the impl of this type.
    Impl(&'a Type),
}

/// The `#[method(…)]` or `#[getter(…)]` of a member.
pub(crate) struct Marker {
    pub(crate) kind: Kind,
    name: Option<LitStr>,
    /// Where it says `cancel`.
    cancel: Option<syn::Path>,
    pub(crate) attribute: Attribute,
}

impl Marker {
    /// Takes the marker out of a member's attributes.
    pub(crate) fn take(attributes: &mut Vec<Attribute>) -> Result<Option<Self>> {
        let is_marker = |attribute: &Attribute| {
            attribute.path().is_ident("method") || attribute.path().is_ident("getter")
        };
        let (markers, others) = attributes.drain(..).partition::<Vec<_>, _>(is_marker);
        *attributes = others;
        if let [_, second, ..] = &markers[..] {
            return Err(Error::new_spanned(
                second,
                "a member has one #[method] or #[getter]",
            ));
        }
        markers.into_iter().next().map(Self::parse).transpose()
    }

    fn parse(attribute: Attribute) -> Result<Self> {
        let kind = if attribute.path().is_ident("getter") {
            Kind::Getter
        } else {
            Kind::Method
        };
        let (mut name, mut cancel) = (None, None);
        if !matches!(attribute.meta, Meta::Path(_)) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    name = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("cancel") {
                    cancel = Some(meta.path);
                } else {
                    return Err(meta.error("expected `name = \"…\"` or `cancel`"));
                }
                Ok(())
            })?;
        }
        Ok(Self {
            kind,
            name,
            cancel,
            attribute,
        })
    }
}

impl Member {
    /// Reads an exposed member. All that is wrong with it is one error of many messages.
    pub(crate) fn read(
        place: &Container<'_>,
        attributes: &[Attribute],
        marker: Option<Marker>,
        signature: &Signature,
    ) -> Result<Self> {
        let mut errors = Errors::default();
        let ident = signature.ident.clone();
        let kind = marker.as_ref().map_or(Kind::Method, |marker| marker.kind);
        let (name, cancel) = marker.map_or((None, None), |marker| (marker.name, marker.cancel));
        if let Some(cancel) = &cancel
            && signature.asyncness.is_none()
        {
            errors.push(Error::new_spanned(
                cancel,
                "only an `async` member can be cancelled: a plain one has ended before a peer could let go of it",
            ));
        }
        let wire = name.unwrap_or_else(|| LitStr::new(&names::camel_case(&ident), ident.span()));
        if let Some(reason) = names::refuse_member(&wire.value()) {
            errors.push(Error::new(wire.span(), reason));
        } else if let Some(reason) = names::refuse_method(&ident) {
            errors.push(Error::new(ident.span(), reason));
        }
        if !signature.generics.params.is_empty() {
            let message = "a member cannot be generic: a peer calls it by name only, without types";
            errors.push(Error::new_spanned(&signature.generics, message));
        }
        if !matches!(signature.safety, Safety::Default) {
            errors.push(Error::new_spanned(
                &signature.safety,
                "a peer cannot promise what an unsafe method needs",
            ));
        }

        let mut inputs = signature.inputs.iter();
        let takes = match inputs.next() {
            Some(FnArg::Receiver(receiver)) => errors.keep(object(place, receiver)),
            _ => {
                let message = "a member needs `&self`: peers call it on an object";
                errors.push(Error::new(ident.span(), message));
                None
            }
        };
        let typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        });
        let parameters: Vec<_> = typed
            .filter_map(|input| errors.keep(Parameter::read(place, &input.pat, &input.ty)))
            .collect();
        if kind == Kind::Getter && signature.inputs.len() > 1 {
            errors.push(Error::new_spanned(
                &signature.inputs,
                "a getter is read like a field and has no parameters",
            ));
        }
        let gives = match &signature.output {
            ReturnType::Default => Some(quote!(())),
            ReturnType::Type(_, gives) => errors.keep(portable(place, gives)),
        };

        errors.finish()?;
        let (Some(takes), Some(gives)) = (takes, gives) else {
            return Err(Error::new(ident.span(), "not a member"));
        };
        let copied = attributes
            .iter()
            .filter(|a| a.path().is_ident("doc") || a.path().is_ident("deprecated"));
        let cfg = attributes.iter().filter(|a| a.path().is_ident("cfg"));
        Ok(Self {
            ident,
            kind,
            wire,
            copied: copied.cloned().collect(),
            cfg: cfg.cloned().collect(),
            takes,
            is_async: signature.asyncness.is_some(),
            cancels: cancel.is_some(),
            parameters,
            gives,
        })
    }

    /// Its documentation as text.
    pub(crate) fn docs(&self) -> String {
        docs(&self.copied)
    }
}

impl Parameter {
    fn read(place: &Container<'_>, pattern: &Pat, takes: &Type) -> Result<Self> {
        let ident = match pattern {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
                pattern.ident.clone()
            }
            other => {
                let message =
                    "a parameter needs a name, which callers see; take it apart in the body";
                return Err(Error::new_spanned(other, message));
            }
        };
        if let Type::Reference(_) = takes {
            let message = "arguments are given to the method: take an owned type, such as `String`";
            return Err(Error::new_spanned(takes, message));
        }
        let takes = portable(place, takes)?;
        Ok(Self {
            wire: names::camel_case(&ident),
            ident,
            takes,
        })
    }
}

/// How the receiver takes the object.
fn object(place: &Container<'_>, receiver: &Receiver) -> Result<Object> {
    match (&receiver.kind, place) {
        (ReceiverKind::Reference(_, _, None), _) => Ok(Object::Borrowed),
        (ReceiverKind::Reference(_, _, Some(_)), _) => Err(Error::new_spanned(
            receiver,
            "a target is shared by all calls that are running, so a member takes `&self`; keep what changes behind a lock",
        )),
        (ReceiverKind::Typed(_, typed), Container::Impl(_)) if is_shared_self(typed) => {
            Ok(Object::Shared)
        }
        (_, Container::Impl(_)) => Err(Error::new_spanned(
            receiver,
            "a member takes `&self` or `self: Arc<Self>`",
        )),
        (_, Container::Trait) => Err(Error::new_spanned(receiver, "a member takes `&self`")),
    }
}

/// Whether it is `Arc<Self>`, by any path.
pub(crate) fn is_shared_self(typed: &Type) -> bool {
    let Type::Path(typed) = typed else {
        return false;
    };
    typed.path.segments.last().is_some_and(|last| {
        last.ident == "Arc"
            && matches!(&last.arguments, syn::PathArguments::AngleBracketed(of)
            if of.args.len() == 1 && of.args.to_token_stream().to_string() == "Self")
    })
}

/// A type of a signature in words that mean the same outside of the trait or impl.
fn portable(place: &Container<'_>, original: &Type) -> Result<TokenStream> {
    let tokens = original.to_token_stream();
    if contains(&tokens, "impl") {
        return Err(Error::new_spanned(
            original,
            "a caller needs to know the type: name it instead of using `impl`",
        ));
    }
    match place {
        Container::Impl(object) => Ok(replace_self(tokens, &object.to_token_stream())),
        Container::Trait if contains(&tokens, "Self") => {
            let message = "a caller does not know which type implements the trait: use `Stub<dyn …>` instead of `Self`";
            Err(Error::new_spanned(original, message))
        }
        Container::Trait => Ok(tokens),
    }
}

fn contains(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => contains(&group.stream(), word),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn replace_self(tokens: TokenStream, object: &TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => object.clone(),
        TokenTree::Group(group) => {
            let mut replaced =
                proc_macro2::Group::new(group.delimiter(), replace_self(group.stream(), object));
            replaced.set_span(group.span());
            TokenTree::from(replaced).into()
        }
        other => other.into(),
    };
    tokens
        .into_iter()
        .flat_map(|token| -> TokenStream { replace(token) })
        .collect()
}

/// The text of the doc comments among attributes.
pub(crate) fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(line),
                    ..
                }) => Some(line.value()),
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<_> = lines
        .map(|line| {
            line.strip_prefix(' ')
                .unwrap_or(&line)
                .trim_end()
                .to_owned()
        })
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Everything that is wrong, so that one compilation tells all of it.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
