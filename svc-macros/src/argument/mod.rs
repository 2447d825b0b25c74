//! Arguments of functions and fields of input objects.

mod literal;
mod nested;
mod rule;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::{Attribute, FnArg, Pat, PatType, Type};

use self::nested::{Nested, NestedKeys};
use self::rule::Rule;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::keys;
use crate::krate::Crate;
use crate::types::{self, ContextParameter, Place};

/// An argument of a function, or a field of an input object.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) element: Element,
    pub(crate) ty: Type,
    /// As a GraphQL literal.
    default: Option<String>,
    /// Whether a required text may be blank.
    pub(crate) allow_blank: bool,
    /// The meaning of null, for an argument that filters rows.
    pub(crate) null: Option<NullArgument>,
    rules: Vec<Rule>,
    /// The rows of another table in a field of an input object.
    pub(crate) nested: Option<Nested>,
}

/// `null = …`.
pub(crate) struct NullArgument {
    pub(crate) at: Ident,
    variant: &'static str,
}

impl NullArgument {
    fn read(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let word: Ident = keys::value(key, input, "all_rows")?;
        let variant = match word.to_string().as_str() {
            "all_rows" => "AllRows",
            "is_null" => "IsNull",
            _ => {
                return Err(syn::Error::new(
                    word.span(),
                    "`null` means `all_rows` or `is_null`",
                ));
            }
        };

        Ok(Self {
            at: key.clone(),
            variant,
        })
    }
}

impl Argument {
    /// Reads the element `ident: ty` and removes our attributes from it.
    pub(crate) fn new(
        ident: &Ident,
        ty: &Type,
        attrs: &mut Vec<Attribute>,
        errors: &mut Errors,
    ) -> Self {
        Self::with_keys(
            &[
                "name", "default", "null", "length", "range", "pattern", "not_null",
            ],
            ident,
            ty,
            attrs,
            errors,
        )
    }

    /// Reads a field of an input object, which has a rule on blank texts.
    pub(crate) fn field(
        ident: &Ident,
        ty: &Type,
        attrs: &mut Vec<Attribute>,
        errors: &mut Errors,
    ) -> Self {
        Self::with_keys(
            &[
                "name",
                "default",
                "allow_blank",
                "length",
                "range",
                "pattern",
                "not_null",
                "row",
                "rows",
                "links",
                "column",
                "references",
                "key",
                "of",
            ],
            ident,
            ty,
            attrs,
            errors,
        )
    }

    fn with_keys(
        valid: &'static [&'static str],
        ident: &Ident,
        ty: &Type,
        attrs: &mut Vec<Attribute>,
        errors: &mut Errors,
    ) -> Self {
        let (mut name, mut default, mut allow_blank, mut null) = (None, None, false, None);
        let (mut rules, mut nested) = (Vec::new(), NestedKeys::default());
        keys::read_svc(attrs, valid, errors, |key, input| {
            match key.to_string().as_str() {
                "name" => name = Some(keys::string(key, input)?),
                "null" => null = Some(NullArgument::read(key, input)?),
                "length" | "not_null" | "pattern" | "range" => rules.push(Rule::read(key, input)?),
                "allow_blank" => allow_blank = keys::flag(key, input)?,
                _ if NestedKeys::has(key) => nested.read(key, input)?,
                _ => {
                    keys::equals(key, input, "10")?;
                    default = Some(literal::whole(key, input)?);
                }
            }

            Ok(())
        });

        keys::refuse_relation(attrs, errors);
        element::check_cfg(attrs, errors);
        types::check(ty, Place::Argument, errors);
        let element = Element::new(ident, name.as_ref(), attrs, errors);
        let nested = nested.finish(errors);

        Self {
            ident: ident.clone(),
            element,
            ty: ty.clone(),
            default,
            allow_blank,
            null,
            rules,
            nested,
        }
    }

    /// The default, as GraphQL.
    pub(crate) fn default(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// The function that returns the type.
    pub(crate) fn type_ref(&self, krate: &Crate, this: Option<&Ident>) -> TokenStream {
        // With the span of the type, so that rustc reports a type that is no input there.
        let ty = types::outside(&self.ty, this);
        quote_spanned!(types::span(&self.ty)=> <#ty as #krate::Input>::type_ref)
    }

    /// The `ArgMeta`, with the function that returns the type.
    pub(crate) fn meta(
        &self,
        krate: &Crate,
        ty: &TokenStream,
        this: Option<&Ident>,
    ) -> TokenStream {
        let (element, default) = (self.element.meta(krate), element::option(&self.default));
        let null = format_ident!(
            "{}",
            self.null.as_ref().map_or("ByField", |null| null.variant)
        );
        let null = quote!(#krate::NullArgument::#null);
        let rules = self
            .rules
            .iter()
            .map(|rule| rule.meta(krate, &types::outside(&self.ty, this), &self.ty));
        let nested = element::option(&self.nested.as_ref().map(|nested| nested.meta(krate)));

        quote! {
            #krate::ArgMeta {
                element: #element, ty: #ty, default: #default, null: #null,
                rules: &[#(#rules),*], nested: #nested,
            }
        }
    }
}

/// The parameters of a resolver, in order.
#[derive(Default)]
pub(crate) struct Parameters(Vec<Parameter>);

#[expect(
    clippy::large_enum_variant,
    reason = "a function has few parameters, and each lives for one expansion"
)]
enum Parameter {
    /// `ctx: &Context<'_>`, under any name.
    Context(Type),
    Argument(Argument),
}

impl Parameters {
    /// Reads the parameters after the receiver and removes our attributes from them.
    pub(crate) fn read<'a>(
        inputs: impl IntoIterator<Item = &'a mut FnArg>,
        errors: &mut Errors,
    ) -> Self {
        let mut params = Self::default();
        for input in inputs {
            if let FnArg::Typed(input) = input {
                params.0.extend(parameter(input, errors));
                // rustc rejects these attributes on parameters.
                input.attrs.retain(|attr| {
                    !attr.path().is_ident("doc") && !attr.path().is_ident("deprecated")
                });
            }
        }

        if let Some(second) = params.contexts().nth(1) {
            errors.at(
                second,
                "a parameter behind `&` is the context, which is taken once; an argument owns its \
                 value",
            );
        }

        element::check_unique(params.args().map(|arg| (&arg.element, &arg.ident)), errors);

        params
    }

    /// The arguments visible to clients.
    pub(crate) fn args(&self) -> impl Iterator<Item = &Argument> {
        self.0.iter().filter_map(|param| match param {
            Parameter::Argument(arg) => Some(arg),
            Parameter::Context(_) => None,
        })
    }

    /// Rejects `null = …` on resolvers whose arguments do not filter rows.
    pub(crate) fn refuse_null(&self, errors: &mut Errors) {
        for null in self.args().filter_map(|arg| arg.null.as_ref()) {
            let message = "only a query or subscription without a body chooses rows by its \
                           arguments; remove `null`, and handle `None`";
            errors.push(syn::Error::new(null.at.span(), message));
        }
    }

    /// The types of the context parameters.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = &Type> {
        self.0.iter().filter_map(|param| match param {
            Parameter::Context(ty) => Some(ty),
            Parameter::Argument(_) => None,
        })
    }

    /// The pattern that binds the call.
    pub(crate) fn call(&self) -> TokenStream {
        let call = local("call");
        match (self.args().next(), self.contexts().next()) {
            // Only a call with arguments is changed; rustc would warn of any other `mut`.
            (Some(_), _) => quote!(mut #call),
            (None, Some(_)) => quote!(#call),
            (None, None) => quote!(_),
        }
    }

    /// The statements that extract the context and the arguments from the call.
    pub(crate) fn bindings(&self, krate: &Crate) -> TokenStream {
        let (call, context) = (local("call"), local("context"));
        let context = self.contexts().next().map(|ty| {
            let (span, ty) = (types::span(ty), types::outside(ty, None));
            quote_spanned! {span=>
                let #context = <#ty as #krate::ContextParameter<'_>>::of(#call.context());
            }
        });
        let args = self.args().enumerate().map(|(index, arg)| {
            let (value, name, ty) = (
                numbered(index),
                arg.element.graphql(),
                types::outside(&arg.ty, None),
            );
            quote!(let #value = #krate::Call::arg::<#ty>(&mut #call, #index, #name)?;)
        });

        quote!(#context #(#args)*)
    }

    /// The values to pass, in the order of the parameters.
    pub(crate) fn arguments(&self) -> Vec<TokenStream> {
        let (context, mut index) = (local("context"), 0..);
        let value = |param: &Parameter| match param {
            // Only arguments are counted: the context may be at any position.
            Parameter::Context(_) => quote!(#context),
            Parameter::Argument(_) => {
                let value = numbered(index.next().unwrap_or_default());
                quote!(#value)
            }
        };

        self.0.iter().map(value).collect()
    }
}

/// A variable invisible to the user's code.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn numbered(index: usize) -> Ident {
    local(&format!("arg{index}"))
}

fn parameter(input: &mut PatType, errors: &mut Errors) -> Option<Parameter> {
    if let Some(context) = types::context(&input.ty) {
        keys::read_svc(&mut input.attrs, &[], errors, |_, _| Ok(()));
        if context == ContextParameter::Wrong {
            errors.at(&input.ty, "take the context as `ctx: &Context<'_>`");
        }
        return Some(Parameter::Context((*input.ty).clone()));
    }

    let Some(ident) = plain_name(&input.pat) else {
        errors.at(
            &input.pat,
            "an argument needs a plain name, such as `id: Uuid`; take values apart in the body",
        );
        keys::read_svc(
            &mut input.attrs,
            &[
                "name", "default", "null", "length", "range", "pattern", "not_null",
            ],
            // Our attributes are removed all the same, as rustc would report them too; their own
            // mistakes can wait.
            &mut Errors::default(),
            |_, _| Ok(()),
        );

        return None;
    };

    Some(Parameter::Argument(Argument::new(
        &ident,
        &input.ty,
        &mut input.attrs,
        errors,
    )))
}

fn plain_name(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        _ => None,
    }
}
