//! What stands in the parentheses of `#[skill(...)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Result, Token, bracketed};

/// What was said about a skill. Nothing of it is missing that cannot be made up.
pub(crate) struct Arguments {
    pub(crate) id: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) examples: Vec<LitStr>,
    /// Those of the flags that were given.
    pub(crate) flags: Vec<Ident>,
    pub(crate) seconds: Option<LitInt>,
    /// The variant of `Needs` that was named.
    pub(crate) permission: Option<TokenStream>,
    pub(crate) scopes: Vec<LitStr>,
}

/// The flags, which are fields of `Traits`.
const FLAGS: [&str; 7] = [
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "replayable",
    "approval",
    "own_state",
];

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let whole = input.span();
        let mut id = None;
        let mut name = None;
        let mut description = None;
        let mut tags = None;
        let mut examples = None;
        let mut flags: Vec<Ident> = Vec::new();
        let mut seconds = None;
        let mut permission = None;
        let mut scopes = None;
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let word = key.to_string();
            let twice = || syn::Error::new(key.span(), format!("`{word}` is given twice"));
            if FLAGS.contains(&&*word) {
                if flags.contains(&key) {
                    return Err(twice());
                }
                flags.push(key);
            } else {
                input.parse::<Token![=]>()?;
                let new = match &*word {
                    "id" => id.replace(label(input.parse()?)?).is_none(),
                    "name" => name.replace(input.parse()?).is_none(),
                    "description" => description.replace(input.parse()?).is_none(),
                    "tags" => tags.replace(list(input, &key)?).is_none(),
                    "examples" => examples.replace(list(input, &key)?).is_none(),
                    "seconds" => seconds.replace(input.parse()?).is_none(),
                    "permission" => permission.replace(needs(&input.parse()?)?).is_none(),
                    "scopes" => scopes.replace(list(input, &key)?).is_none(),
                    _ => {
                        let known =
                            "id, name, description, tags, examples, seconds, permission, scopes";
                        let flags = FLAGS.join(", ");
                        let problem = format!("`{word}` is not known: use {known}, {flags}");
                        return Err(syn::Error::new(key.span(), problem));
                    }
                };
                if !new {
                    return Err(twice());
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = |what: &str| {
            let problem = format!("a skill has at least one of `{what}`: add `{what} = [\"...\"]`");
            syn::Error::new(whole, problem)
        };
        Ok(Self {
            id,
            name,
            description,
            tags: tags.ok_or_else(|| missing("tags"))?,
            examples: examples.ok_or_else(|| missing("examples"))?,
            flags,
            seconds,
            permission,
            scopes: scopes.unwrap_or_default(),
        })
    }
}

/// A list that is not empty.
fn list(input: ParseStream<'_>, key: &Ident) -> Result<Vec<LitStr>> {
    let content;
    let brackets = bracketed!(content in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    if texts.is_empty() {
        let problem = format!("`{key}` is empty: a skill has at least one");
        return Err(syn::Error::new(brackets.span.join(), problem));
    }
    if let Some(blank) = texts.iter().find(|text| text.value().trim().is_empty()) {
        return Err(syn::Error::new(blank.span(), "this says nothing"));
    }
    Ok(texts.into_iter().collect())
}

/// The permissions, which are variants of `access::Permission`.
const PERMISSIONS: [(&str, &str); 8] = [
    ("read_files", "ReadFiles"),
    ("write_files", "WriteFiles"),
    ("execute_commands", "ExecuteCommands"),
    ("browse", "Browse"),
    ("remember", "Remember"),
    ("approve", "Approve"),
    ("operate", "Operate"),
    ("admin", "Admin"),
];

/// The variant of `Needs` for the name of a permission, or for `none`.
fn needs(text: &LitStr) -> Result<TokenStream> {
    let value = text.value();
    if value == "none" {
        return Ok(quote!(::skill::Needs::Nothing));
    }
    match PERMISSIONS.iter().find(|(name, _)| *name == value) {
        Some((_, variant)) => {
            let variant = format_ident!("{variant}");
            Ok(quote!(::skill::Needs::Permission(::skill::Permission::#variant)))
        }
        None => {
            let known = PERMISSIONS.map(|(name, _)| name).join(", ");
            let problem = format!("{value:?} is not a permission: use none, {known}");
            Err(syn::Error::new(text.span(), problem))
        }
    }
}

/// A text that can be the id of a skill.
pub(crate) fn label(text: LitStr) -> Result<LitStr> {
    let value = text.value();
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=63).contains(&value.len())
        && value.bytes().all(letters)
        && !value.starts_with('-')
        && !value.ends_with('-');
    match fits {
        true => Ok(text),
        false => Err(syn::Error::new(
            text.span(),
            format!(
                "{value:?} cannot be the id of a skill: it is a lower-case DNS label, 1 to 63 of a-z, 0-9 and \
                 '-', with no '-' at either end"
            ),
        )),
    }
}
