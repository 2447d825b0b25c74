//! Looks into the user's types.

use proc_macro2::{Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{GenericArgument, Generics, PathArguments, Type, TypeImplTrait, TypeReference, TypeTuple};

use crate::errors::Errors;

/// Where a type stands; decides what to write instead of a bad one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A field of an object or interface.
    Field,
    /// An argument, or a field of an input object.
    Argument,
    /// What a function answers with.
    Return,
}

/// The type without the invisible groups that `macro_rules!` leaves.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// Whether this is the resolver's context, however it is taken.
pub(crate) fn is_context(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => is_context(&reference.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Context"),
        _ => false,
    }
}

/// Whether `One<…>` or `Many<…>` stands in the type.
pub(crate) fn is_relation(ty: &Type) -> bool {
    wrappers(ty).0.iter().any(|name| *name == "One" || *name == "Many")
}

/// What to write for a type that is none of `One<…>`, `Option<One<…>>` and `Many<…>`.
pub(crate) fn instead_of_relation(ty: &Type) -> Option<String> {
    let (names, row) = wrappers(ty);
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let row = pretty(row);
    match names.as_slice() {
        ["One" | "Many"] | ["Option", "One"] => None,
        names if names.contains(&"Vec") || names.contains(&"Many") => Some(format!("write `Many<{row}>`")),
        ["Option", ..] => Some(format!("write `Option<One<{row}>>`")),
        _ => Some(format!("write `One<{row}>` for one row, or `Many<{row}>` for a list")),
    }
}

/// The names of the types around the innermost one, outermost first: `Option` and `One` of `Option<One<User>>`.
fn wrappers(ty: &Type) -> (Vec<&Ident>, &Type) {
    if let Type::Path(path) = peel(ty)
        && let Some(last) = path.path.segments.last()
        && let PathArguments::AngleBracketed(args) = &last.arguments
        && let Some(GenericArgument::Type(inner)) = args.args.first()
    {
        let (mut names, row) = wrappers(inner);
        names.insert(0, &last.ident);
        return (names, row);
    }
    (Vec::new(), ty)
}

/// Whether this is `&Context<'_>`.
pub(crate) fn is_context_ref(ty: &Type) -> bool {
    matches!(peel(ty), Type::Reference(reference)
        if reference.mutability.is_none() && is_context(ty) && !matches!(peel(&reference.elem), Type::Reference(_)))
}

/// Reports what no GraphQL type can come from.
pub(crate) fn check(ty: &Type, place: Place, errors: &mut Errors) {
    Check { place, errors }.visit_type(ty);
}

struct Check<'a> {
    place: Place,
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for Check<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if self.place == Place::Return {
            return visit::visit_type_reference(self, reference);
        }
        let what = if self.place == Place::Field { "a field" } else { "an argument" };
        let owned = match peel(&reference.elem) {
            Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
            Type::Slice(slice) => format!("Vec<{}>", pretty(&slice.elem)),
            other => pretty(other),
        };
        self.errors.at(reference, format!("{what} owns its value; write `{owned}`"));
    }

    fn visit_type_tuple(&mut self, tuple: &'ast TypeTuple) {
        let instead = match self.place {
            _ if tuple.elems.is_empty() => "GraphQL has no empty type; use a real one, such as `bool`",
            Place::Argument => "GraphQL has no tuples; write a struct with `#[svc_input]`",
            Place::Field | Place::Return => "GraphQL has no tuples; write a struct with `#[svc_type]`",
        };
        self.errors.at(tuple, instead);
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.errors.at(ty, "the schema needs to know the type; write a concrete type instead of `impl …`");
    }
}

fn pretty(ty: &Type) -> String {
    ty.to_token_stream()
        .to_string()
        .replace(" :: ", "::")
        .replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
}

/// Reports type parameters, lifetimes and where clauses of an item.
pub(crate) fn check_concrete(generics: &Generics, what: &str, errors: &mut Errors) -> bool {
    if generics.params.is_empty() && generics.where_clause.is_none() {
        return true;
    }
    let instead = format!("generics are not supported; write a concrete {what}, with owned types");
    match generics.params.is_empty() {
        true => errors.at(&generics.where_clause, instead),
        false => errors.at(&generics.params, instead),
    }
    false
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
            TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                out.extend([TokenTree::Punct(joint(&quote))]);
                out.extend(tokens.next().map(|name| match name {
                    TokenTree::Ident(name) if name != "static" => Ident::new("_", name.span()).into(),
                    other => other,
                }));
            }
            TokenTree::Ident(name) if name == "Self" => match this {
                Some(this) => out.extend([TokenTree::Ident(respanned(this, &name))]),
                None => out.extend([TokenTree::Ident(name)]),
            },
            TokenTree::Group(group) => {
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
        let rewritten = outside(&parse_quote!(Result<Cow<'a, [&'static Self; N]>, &'b str>), Some(&this));
        assert_eq!(rewritten.to_string(), quote!(Result<Cow<'_, [&'static User; N]>, &'_ str>).to_string());
    }
}
