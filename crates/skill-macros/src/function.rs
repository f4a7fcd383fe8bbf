//! The implementation of `Skill` written from an async function.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, ItemFn, Lit, LitStr, Meta, PathArguments,
    Result, ReturnType, Type,
};

use crate::arguments::{Arguments, label};

pub(crate) fn expand(arguments: &Arguments, mut function: ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        let problem = "a skill is an async function: write `async fn`";
        return Err(Error::new_spanned(signature.fn_token, problem));
    }
    if !signature.generics.params.is_empty() {
        let problem = "a skill has one input and one output: no generics";
        return Err(Error::new_spanned(&signature.generics, problem));
    }
    let (input, takes_context) = inputs(&function)?;
    let (output, replies) = output(&signature.output)?;

    let ident = signature.ident.clone();
    let id = match &arguments.id {
        Some(id) => id.clone(),
        None => label(LitStr::new(
            &ident.to_string().replace('_', "-"),
            ident.span(),
        ))?,
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => LitStr::new(&words(&id.value()), ident.span()),
    };
    let description = match &arguments.description {
        Some(description) => description.clone(),
        None => LitStr::new(&documentation(&function.attrs), ident.span()),
    };
    if description.value().is_empty() {
        let problem = "say what the skill does: a doc comment, or `description = \"...\"`";
        return Err(Error::new_spanned(&ident, problem));
    }
    let (tags, examples, flags) = (&arguments.tags, &arguments.examples, &arguments.flags);
    let seconds = arguments.seconds.iter();

    let visibility = function.vis.clone();
    let documentation: Vec<_> = function
        .attrs
        .extract_if(.., |it| it.path().is_ident("doc"))
        .collect();
    function.vis = syn::Visibility::Inherited;
    let inner = format_ident!("run_{}", ident);
    function.sig.ident = inner.clone();
    let call = match takes_context {
        true => quote!(#inner(input, ctx)),
        false => quote!({ let _ = ctx; #inner(input) }),
    };
    let reply = match replies {
        true => quote!(#call.await),
        false => quote!(#call.await.map(::skill::Reply::Done)),
    };
    Ok(quote! {
        #(#documentation)*
        #[allow(non_camel_case_types, reason = "it is called like the function it was")]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #ident;

        impl ::skill::Skill for #ident {
            const SPEC: ::skill::Spec = {
                #[allow(unused_mut, reason = "most skills have the usual traits")]
                let mut traits = ::skill::Traits::new();
                #(traits.#flags = true;)*
                #(traits.timeout = ::core::option::Option::Some(::core::time::Duration::from_secs(#seconds));)*
                ::skill::Spec::new(
                    ::skill::Id::new(#id),
                    #name,
                    #description,
                    ::skill::OneOrMore::new(&[#(#tags),*]),
                    ::skill::OneOrMore::new(&[#(#examples),*]),
                )
                .with(traits)
            };
            type Input = #input;
            type Output = #output;

            async fn run(
                &self,
                input: Self::Input,
                ctx: ::skill::Context,
            ) -> ::core::result::Result<::skill::Reply<Self::Output>, ::skill::SkillError> {
                #function
                #reply
            }
        }

        const _: ::skill::Spec = <#ident as ::skill::Skill>::SPEC;
    })
}

/// The type of the input, and whether a context follows it.
fn inputs(function: &ItemFn) -> Result<(Type, bool)> {
    let mut types = Vec::new();
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Typed(typed) => types.push((*typed.ty).clone()),
            other => {
                let problem = "a skill is a free function: it has no `self`";
                return Err(Error::new_spanned(other, problem));
            }
        }
    }
    match <[Type; 2]>::try_from(types) {
        Ok([input, _context]) => Ok((input, true)),
        Err(mut types) if types.len() == 1 => Ok((types.remove(0), false)),
        Err(_) => Err(Error::new_spanned(
            &function.sig,
            "a skill takes its input and a `Context`: `async fn name(input: Input, ctx: Context)`",
        )),
    }
}

/// The type of the output, and whether the function gives a `Reply` of it.
fn output(returned: &ReturnType) -> Result<(Type, bool)> {
    let problem =
        "a skill returns `Result<Output, SkillError>` or `Result<Reply<Output>, SkillError>`";
    let wrong = || Error::new_spanned(returned, problem);
    let ReturnType::Type(_, kind) = returned else {
        return Err(wrong());
    };
    let done = argument_of(kind, "Result").ok_or_else(wrong)?;
    match argument_of(done, "Reply") {
        Some(output) => Ok((output.clone(), true)),
        None => Ok((done.clone(), false)),
    }
}

/// The first argument of a type with this name.
fn argument_of<'a>(kind: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(argument) if last.ident == name => Some(argument),
        _ => None,
    }
}

/// What the documentation says, in one line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value().trim().to_owned()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<String> = lines.collect();
    lines.join(" ").trim().to_owned()
}

/// The words of an id, as people write them.
fn words(id: &str) -> String {
    let words = id.replace('-', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}
