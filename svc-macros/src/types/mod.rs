//! Inspects the user's types.

mod check;
mod context;
mod parameters;

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type};

pub(crate) use check::{Place, check, instead_of_single_threaded, is_primitive};
pub(crate) use context::{ContextParameter, context};
pub(crate) use parameters::{Parameters, check_concrete};

/// The type without the invisible groups that `macro_rules!` leaves.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// The place of a type in the source, for errors; names with this span are the macro's own.
///
/// A type passed through `macro_rules!` has a span that hides the macro's `self` and its locals.
pub(crate) fn span(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

/// The advice for a type that is certainly not a relation: `Vec<T>`, and `Option` or `Vec` around a
/// relation.
pub(crate) fn instead_of_relation(ty: &Type) -> Option<String> {
    let (outer, inner) = generic(ty)?;
    let row = |ty| pretty(generic(ty).map_or(ty, |(_, row)| row));
    if outer == "Vec" {
        return Some(format!("write `Many<{}>`", row(inner)));
    }
    let many = generic(inner).is_some_and(|(name, _)| name == "Many" || name == "Vec");
    (outer == "Option" && many).then(|| format!("write `Many<{}>`", row(inner)))
}

/// The name and the argument of a type with one type argument, such as `Option` and `User` of
/// `Option<User>`.
pub(crate) fn generic(ty: &Type) -> Option<(&Ident, &Type)> {
    let Type::Path(path) = peel(ty) else {
        return None;
    };

    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(args) if args.args.len() == 1 => match args.args.first()? {
            GenericArgument::Type(inner) => Some((&last.ident, inner)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether this is `&Self`, as in `self: &Self`.
pub(crate) fn is_self_ref(ty: &Type) -> bool {
    matches!(peel(ty), Type::Reference(reference) if reference.mutability.is_none()
        && matches!(peel(&reference.elem), Type::Path(path) if path.path.is_ident("Self")))
}

/// Whether this is `&[&Self]`, the objects of a batch method.
pub(crate) fn is_self_slice(ty: &Type) -> bool {
    matches!(peel(ty), Type::Reference(reference) if reference.mutability.is_none()
        && matches!(peel(&reference.elem), Type::Slice(slice) if is_self_ref(&slice.elem)))
}

/// Whether this borrows a slice, as no argument does.
pub(crate) fn is_slice(ty: &Type) -> bool {
    matches!(peel(ty), Type::Reference(reference)
        if matches!(peel(&reference.elem), Type::Slice(_)))
}

fn pretty(ty: &Type) -> String {
    // A `TokenStream` prints spaces between all tokens: `Option < User >`.
    ty.to_token_stream()
        .to_string()
        .replace(" :: ", "::")
        .replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
}

/// The type for use in a body outside the item: named lifetimes are inferred, and `Self` is `this`.
pub(crate) fn outside(ty: &Type, this: Option<&Ident>) -> TokenStream {
    rewrite(ty.to_token_stream(), this)
}

fn rewrite(tokens: TokenStream, this: Option<&Ident>) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            // rustc reads a `'` as a lifetime only if it is joint with the name after it.
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                out.extend([TokenTree::Punct(joint(&quote))]);
                out.extend(tokens.next().map(|name| match name {
                    TokenTree::Ident(name) if name != "static" => {
                        Ident::new("_", name.span()).into()
                    }
                    other => other,
                }));
            }
            TokenTree::Ident(name) if name == "Self" => match this {
                Some(this) => out.extend([TokenTree::Ident(respanned(this, &name))]),
                None => out.extend([TokenTree::Ident(name)]),
            },
            TokenTree::Group(group) => {
                // A new group has the span of the macro, and errors in it would be reported there.
                let mut inner = Group::new(group.delimiter(), rewrite(group.stream(), this));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }

    out
}

fn respanned(this: &Ident, at: &Ident) -> Ident {
    let mut this = this.clone();
    this.set_span(at.span());
    this
}

fn joint(quote: &Punct) -> Punct {
    let mut punct = Punct::new('\'', Spacing::Joint);
    punct.set_span(quote.span());
    punct
}

#[cfg(test)]
mod tests {
    use quote::{format_ident, quote};
    use syn::parse_quote;

    use super::outside;

    #[test]
    fn lifetimes_are_inferred_and_self_is_named() {
        let this = format_ident!("User");
        let rewritten = outside(
            &parse_quote!(Result<Cow<'a, [&'static Self; N]>, &'b str>),
            Some(&this),
        );

        assert_eq!(
            rewritten.to_string(),
            quote!(Result<Cow<'_, [&'static User; N]>, &'_ str>).to_string()
        );
    }
}
