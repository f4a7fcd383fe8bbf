//! The signature of a skill's function, and the constant that is written from it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, Lit, LitStr, Meta, PathArguments,
    Result, ReturnType, Signature, Type,
};

use crate::arguments::{Arguments, label};

/// The types of a skill.
pub(crate) struct Typed {
    pub(crate) input: Type,
    /// A context follows the input.
    pub(crate) takes_context: bool,
    pub(crate) output: Type,
    /// It gives a `Reply` of the output rather than the output.
    pub(crate) replies: bool,
}

/// Reads the signature of a function or of a method; a receiver is skipped.
pub(crate) fn read(signature: &Signature) -> Result<Typed> {
    if signature.asyncness.is_none() {
        let problem = "a skill is an async function: write `async fn`";
        return Err(Error::new_spanned(signature.fn_token, problem));
    }
    if !signature.generics.params.is_empty() {
        let problem = "a skill has one input and one output: no generics";
        return Err(Error::new_spanned(&signature.generics, problem));
    }
    let (input, takes_context) = inputs(signature)?;
    let (output, replies) = output(&signature.output)?;
    Ok(Typed {
        input,
        takes_context,
        output,
        replies,
    })
}

/// The expression of `SPEC`. `id` is the id unless the arguments say another; `described` has the documentation.
pub(crate) fn spec(
    arguments: &Arguments,
    ident: &Ident,
    id: &str,
    described: &[Attribute],
) -> Result<TokenStream> {
    let id = match &arguments.id {
        Some(id) => id.clone(),
        None => label(LitStr::new(id, ident.span()))?,
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => LitStr::new(&words(&id.value()), ident.span()),
    };
    let description = match &arguments.description {
        Some(description) => description.clone(),
        None => LitStr::new(&documentation(described), ident.span()),
    };
    if description.value().is_empty() {
        let problem = "say what the skill does: a doc comment, or `description = \"...\"`";
        return Err(Error::new_spanned(ident, problem));
    }
    let (tags, examples, flags) = (&arguments.tags, &arguments.examples, &arguments.flags);
    let seconds = arguments.seconds.iter();
    let needs = arguments.permission.iter();
    let scopes = &arguments.scopes;
    Ok(quote! {{
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
        #(.needs(#needs))*
        .scopes(&[#(#scopes),*])
    }})
}

/// The type of the input, and whether a context follows it.
fn inputs(signature: &Signature) -> Result<(Type, bool)> {
    let typed = signature.inputs.iter().filter_map(|it| match it {
        FnArg::Typed(typed) => Some((*typed.ty).clone()),
        FnArg::Receiver(_) => None,
    });
    match <[Type; 2]>::try_from(typed.collect::<Vec<_>>()) {
        Ok([input, _context]) => Ok((input, true)),
        Err(mut types) if types.len() == 1 => Ok((types.remove(0), false)),
        Err(_) => Err(Error::new_spanned(
            signature,
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

/// The text of doc comments, in one line.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
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

/// The id that a name in code stands for: `add_up` and `AddUp` are `add-up`.
pub(crate) fn kebab(ident: &Ident) -> String {
    let mut id = String::new();
    for letter in ident.to_string().chars() {
        if letter.is_uppercase() && !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
        match letter {
            '_' => id.push('-'),
            letter => id.extend(letter.to_lowercase()),
        }
    }
    id
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
