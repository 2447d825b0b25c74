//! Checks of fields: `#[svc::authorize_field(check)]`, consumed by the attribute that registers the
//! type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Meta};

use crate::argument::local;
use crate::errors::Errors;
use crate::krate::Crate;

/// The checks of a field; all of them must allow access.
#[derive(Default)]
pub(crate) struct FieldChecks(Vec<Expr>);

impl FieldChecks {
    /// Removes the checks from a field or a method.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Self {
        let checks = attrs.extract_if(.., |attr| is_check(attr));
        Self(checks.filter_map(|attr| errors.ok(read(&attr))).collect())
    }

    /// Removes and reports checks on a function without an object to check.
    pub(crate) fn refuse(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
        for attr in attrs.extract_if(.., |attr| is_check(attr)) {
            errors.at(
                attr.path(),
                "a root field has no object to check; write `authorizer = …` in the attribute \
                 above, or a guard",
            );
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The list of checks, for fields of the type `object`.
    pub(crate) fn tokens(&self, krate: &Crate, object: &impl ToTokens) -> TokenStream {
        let (this, request) = (local("this"), local("request"));
        let checks = self.0.iter().map(|check| {
            // The span of the check makes rustc report a wrong signature there.
            let answer = quote_spanned! {check.span()=>
                (#check)(#krate::receiver::<#object>(#this), #request)
            };
            let decided = quote_spanned!(check.span()=> #krate::CheckAnswer::decided(#answer));
            quote!(&#krate::FieldCheck::new(|#this, #request| #decided))
        });

        // rustc does not promote the result of a function call to a constant by itself.
        quote!(const { &[#(#checks),*] })
    }
}

/// Reports a check that no registering attribute has consumed, because it is misplaced, and returns
/// the item below it.
pub(crate) fn misplaced(item: TokenStream, errors: &mut Errors) -> TokenStream {
    let message = "`#[svc::authorize_field]` goes onto a field of a struct with `#[svc_type]`, or \
                   onto a method of an `#[svc_type] impl` block";
    errors.push(syn::Error::new(Span::call_site(), message));
    item
}

fn is_check(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|name| name.ident == "authorize_field")
}

fn read(attr: &Attribute) -> syn::Result<Expr> {
    const EXAMPLE: &str = "write `#[svc::authorize_field(check)]`, where `check` is a function of \
                           the object and the request";
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => attr
            .parse_args()
            .map_err(|error| syn::Error::new(error.span(), format!("{error}; {EXAMPLE}"))),
        _ => Err(syn::Error::new(attr.span(), EXAMPLE)),
    }
}
