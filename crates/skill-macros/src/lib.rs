//! The macros of `skill`, which re-exports them; depend on that crate.
//!
//! # Layout
//!
//! - `arguments`: what stands in the parentheses of `#[skill(...)]`, checked.
//! - `function`: the implementation written from an async function.
//! - `methods`: the implementation written from an `impl` block, for a skill with state.
//! - `signature`: what both read from a signature, and the constant `SPEC` they write.
//! - `input`: the derive for inputs.

use proc_macro::TokenStream;
use syn::parse_macro_input;

mod arguments;
mod function;
mod input;
mod methods;
mod signature;

/// Makes a skill of an async function that takes its input and a `Context`, or of a type with a method `run`.
///
/// A function becomes a value of its own name that implements `Skill`. Its documentation is the skill's
/// description, unless `description` is given.
///
/// An `impl` block becomes the implementation of `Skill` for its type. It has an async method `run(&self, input,
/// ctx)` with the description as its documentation, and maybe `preview(&self, input)`, which returns
/// `Result<Option<String>, SkillError>`, `bind(&self, input)`, which returns `Result<Option<Value>, SkillError>`, and
/// `tell(&self, output: &Value)`, which returns `Option<String>`.
///
/// | argument | what it is |
/// |---|---|
/// | `tags = ["..."]`, `examples = ["..."]` | at least one each |
/// | `id = "..."` | a lower-case DNS label; default: the name of the function or type, `add_up` and `AddUp` as `add-up` |
/// | `name = "..."` | for people; default: the words of the id |
/// | `description = "..."` | what it does |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | what callers are told about it |
/// | `replayable` | it can be begun again after a restart |
/// | `approval` | a person agrees before it is done |
/// | `own_state` | it changes only what the agent itself keeps: memory, timers, letters |
/// | `seconds = 30` | how long it may take |
/// | `permission = "write_files"` | what its callers need; `"none"` for nothing; default: what fits the other marks |
/// | `scopes = ["..."]` | the scopes that its callers need beside the permission |
///
/// An example, which is run as a test, stands where the crate `skill` exports this attribute.
#[proc_macro_attribute]
pub fn skill(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as arguments::Arguments);
    let expanded = match parse_macro_input!(item as syn::Item) {
        syn::Item::Fn(function) => function::expand(&arguments, function),
        syn::Item::Impl(block) => methods::expand(&arguments, block),
        other => {
            let problem = "a skill is an async function, or an `impl` block with a method `run`";
            Err(syn::Error::new_spanned(other, problem))
        }
    };
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Says that a struct with named fields, or an enum of such told apart by a tag, can be the input of a skill.
#[proc_macro_derive(SkillInput)]
pub fn skill_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    input::expand(&item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
