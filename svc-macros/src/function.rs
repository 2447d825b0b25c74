//! Functions as the macros see them: the body is optional and stays unchanged.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, GenericParam, ReturnType, Signature, Token, Type, Visibility, token};

use crate::argument::Parameters;
use crate::errors::Errors;
use crate::krate::Crate;
use crate::types::{self, Place};

/// A function, with or without a body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The braces and their content.
    pub(crate) body: Option<TokenTree>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        // The braces stay one token: rustc reports mistakes in them better than syn, and each build
        // is faster.
        let body = if input.peek(token::Brace) {
            Some(input.parse()?)
        } else {
            input.parse::<Token![;]>()?;
            None
        };

        Ok(Self {
            attrs,
            vis,
            sig,
            body,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        match &self.body {
            Some(body) => body.to_tokens(tokens),
            None => <Token![;]>::default().to_tokens(tokens),
        }
    }
}

impl Function {
    /// The return type of the function; reports everything in the signature that a schema cannot
    /// express.
    pub(crate) fn check(&self, errors: &mut Errors) -> Option<Type> {
        let output = self.check_signature(errors)?;
        types::check(&output, Place::Return, errors);
        Some(output)
    }

    /// The return type of the function, without checking it; reports everything else in the
    /// signature.
    pub(crate) fn check_signature(&self, errors: &mut Errors) -> Option<Type> {
        let sig = &self.sig;
        for (token, name) in [
            (sig.constness.map(|token| token.to_token_stream()), "const"),
            (sig.unsafety.map(|token| token.to_token_stream()), "unsafe"),
            (
                sig.abi
                    .as_ref()
                    .map(|abi| abi.extern_token.to_token_stream()),
                "extern",
            ),
        ] {
            if let Some(token) = token {
                errors.at(
                    &token,
                    format!("a resolver is a plain `fn` or `async fn`; remove `{name}`"),
                );
            }
        }

        if let Some(variadic) = &sig.variadic {
            errors.at(
                variadic,
                "a resolver has a fixed list of arguments; take a `Vec<T>` instead of `...`",
            );
        }

        // Lifetimes are inferred at the call, but a schema has no values for types and constants.
        for param in sig
            .generics
            .params
            .iter()
            .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        {
            errors.at(
                param,
                "a resolver cannot be generic; write the concrete type where the parameter is used",
            );
        }

        match &sig.output {
            ReturnType::Type(_, ty) => Some((**ty).clone()),
            // GraphQL has no field without a type, so a mutation returns something too.
            ReturnType::Default => {
                errors.at(
                    &sig.ident,
                    "a field must answer with something; add a return type, such as `-> bool`",
                );
                None
            }
        }
    }
}

/// The closure that reads the arguments, calls a resolver and returns its outcome.
pub(crate) struct Caller<'a> {
    pub(crate) krate: &'a Crate,
    /// The resolver.
    pub(crate) callee: TokenStream,
    /// For a method, the function that finds the object in the closure's first parameter.
    pub(crate) receiver: Option<TokenStream>,
    pub(crate) params: &'a Parameters,
    pub(crate) output: &'a Type,
    pub(crate) asynchronous: bool,
    /// Whether the method takes all objects of a level; `receiver` then finds them all.
    pub(crate) batch: bool,
    /// If the resolver returns a stream, the function that turns its return value into events.
    pub(crate) events: Option<TokenStream>,
}

impl Caller<'_> {
    /// `&Sync(|call| …)`, `&Async(|call| …)`, `&Batch(|call| …)` or `&Stream(|call| …)` of the enum
    /// `kind`, which is `Method` or `Resolver`.
    pub(crate) fn variant(&self, kind: &str) -> TokenStream {
        let Self {
            krate,
            callee,
            receiver,
            params,
            output,
            asynchronous,
            batch,
            events,
        } = self;

        let kind = quote::format_ident!("{kind}");
        let output = types::outside(output, None);
        let call = params.call();
        let this = receiver.as_ref().map(|_| crate::argument::local("this"));
        let this_param = this.iter();
        let (let_this, this_arg) = match &this {
            // Before the future, which must be `Send`: a reference to `dyn Any` is not.
            Some(this) => {
                let slice = batch.then(|| quote!(&));
                (quote!(let #this = #receiver(#this);), quote!(#slice #this,))
            }
            None => (TokenStream::new(), TokenStream::new()),
        };

        let (bindings, arguments) = (params.bindings(krate), params.arguments());
        let wait = asynchronous.then(|| quote!(.await));
        let read = match events {
            Some(events) => events.clone(),
            None if *batch => quote!(<#output as #krate::ReturnsBatch>::outcomes),
            None => quote!(<#output as #krate::Returns>::outcome),
        };
        let body = quote! { #bindings #read(#callee(#this_arg #(#arguments),*)#wait) };
        let future = quote!(::std::boxed::Box::pin(async move { #body }));
        let (variant, body) = match asynchronous {
            // Also if the function is not `async`: opening a stream and a batch are asynchronous in
            // any case, and the body then has no `.await`.
            _ if events.is_some() => (quote!(Stream), future),
            _ if *batch => (quote!(Batch), future),
            true => (quote!(Async), future),
            false => (quote!(Sync), body),
        };

        quote! { &#krate::#kind::#variant(|#(#this_param,)* #call| { #let_this #body }) }
    }
}
