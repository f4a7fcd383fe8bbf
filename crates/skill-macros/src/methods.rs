//! The implementation of `Skill` written from an `impl` block: a skill with state.
//!
//! The methods stay what they were, under names of their own in an inherent `impl`; the implementation of the trait
//! calls them. So what the compiler says about them points at what was written.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, Ident, ImplItem, ImplItemFn, ItemImpl, Result, Type};

use crate::arguments::Arguments;
use crate::signature::{self, Typed, kebab};

pub(crate) fn expand(arguments: &Arguments, block: ItemImpl) -> Result<TokenStream> {
    if let Some((of, _)) = &block.trait_ {
        let problem =
            "the block has the methods of the skill's own type: write `impl Type { ... }`";
        return Err(Error::new_spanned(of, problem));
    }
    if !block.generics.params.is_empty() {
        let problem = "a skill has one input and one output: no generics";
        return Err(Error::new_spanned(&block.generics, problem));
    }
    let (kind, ident) = (&block.self_ty, name_of(&block.self_ty)?);
    let (mut run, mut preview, mut bind, mut tell) = (None, None, None, None);
    for item in block.items {
        let problem = "a skill has the method `run`, and maybe `preview`, `bind` and `tell`: put other items into a block of their own";
        match item {
            ImplItem::Fn(method) if method.sig.ident == "run" => run = Some(method),
            ImplItem::Fn(method) if method.sig.ident == "preview" => preview = Some(method),
            ImplItem::Fn(method) if method.sig.ident == "bind" => bind = Some(method),
            ImplItem::Fn(method) if method.sig.ident == "tell" => tell = Some(method),
            other => return Err(Error::new_spanned(other, problem)),
        }
    }
    let missing =
        || Error::new_spanned(kind, "a skill has an async method `run(&self, input, ctx)`");
    let mut run = run.ok_or_else(missing)?;
    let Typed {
        input,
        takes_context,
        output,
        replies,
    } = signature::read(&run.sig)?;
    let described: Vec<Attribute> = run.attrs.iter().chain(&block.attrs).cloned().collect();
    let described = match signature::documentation(&run.attrs).is_empty() {
        true => &described,
        false => &run.attrs,
    };
    let spec = signature::spec(arguments, &ident, &kebab(&ident), described)?;

    let context = takes_context.then(|| quote!(ctx)).into_iter();
    let unused = (!takes_context).then(|| quote!(let _ = ctx;));
    let called = own(&mut run, "run")?;
    let reply = match replies {
        true => quote!(self.#called(input #(, #context)*).await),
        false => quote!(self.#called(input #(, #context)*).await.map(::skill::Reply::Done)),
    };
    let shown = preview
        .as_mut()
        .map(|preview| {
            let called = own(preview, "preview")?;
            Ok::<_, Error>(quote! {
                async fn preview(
                    &self,
                    input: Self::Input,
                ) -> ::core::result::Result<::core::option::Option<::std::string::String>, ::skill::SkillError> {
                    self.#called(input).await
                }
            })
        })
        .transpose()?;
    let bound = bind
        .as_mut()
        .map(|bind| {
            let called = own(bind, "bind")?;
            Ok::<_, Error>(quote! {
                async fn bind(
                    &self,
                    input: Self::Input,
                ) -> ::core::result::Result<::core::option::Option<::skill::Value>, ::skill::SkillError> {
                    self.#called(input).await
                }
            })
        })
        .transpose()?;
    let told = tell
        .as_mut()
        .map(|tell| {
            let called = own(tell, "tell")?;
            Ok::<_, Error>(quote! {
                fn tell(
                    &self,
                    output: &::skill::Value,
                ) -> ::core::option::Option<::std::string::String> {
                    self.#called(output)
                }
            })
        })
        .transpose()?;
    Ok(quote! {
        impl #kind {
            #run
            #preview
            #bind
            #tell
        }

        impl ::skill::Skill for #kind {
            const SPEC: ::skill::Spec = #spec;
            type Input = #input;
            type Output = #output;

            async fn run(
                &self,
                input: Self::Input,
                ctx: ::skill::Context,
            ) -> ::core::result::Result<::skill::Reply<Self::Output>, ::skill::SkillError> {
                #unused
                #reply
            }

            #shown

            #bound

            #told
        }

        const _: ::skill::Spec = <#kind as ::skill::Skill>::SPEC;
    })
}

/// Gives a method a name that nothing else has, and says which.
fn own(method: &mut ImplItemFn, name: &str) -> Result<Ident> {
    if method.sig.receiver().is_none() {
        let problem = format!("`{name}` is a method of the skill: its first argument is `&self`");
        return Err(Error::new_spanned(&method.sig, problem));
    }
    let own = format_ident!("skill_{}", name, span = method.sig.ident.span());
    method.sig.ident = own.clone();
    Ok(own)
}

fn name_of(kind: &Type) -> Result<Ident> {
    match kind {
        Type::Path(path) => path.path.segments.last().map(|it| it.ident.clone()),
        _ => None,
    }
    .ok_or_else(|| Error::new_spanned(kind, "a skill is a type with a name"))
}
