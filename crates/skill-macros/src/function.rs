//! The implementation of `Skill` written from an async function.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, ItemFn, Result};

use crate::arguments::Arguments;
use crate::signature::{self, Typed, kebab};

pub(crate) fn expand(arguments: &Arguments, mut function: ItemFn) -> Result<TokenStream> {
    if let Some(receiver) = function.sig.receiver() {
        let problem = "a skill with state is an `impl` block: put `#[skill(...)]` on the block, not on the method";
        return Err(Error::new_spanned(receiver, problem));
    }
    let Typed {
        input,
        takes_context,
        output,
        replies,
    } = signature::read(&function.sig)?;
    let ident = function.sig.ident.clone();
    let spec = signature::spec(arguments, &ident, &kebab(&ident), &function.attrs)?;

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
            const SPEC: ::skill::Spec = #spec;
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
