//! Looks into the user's types.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{GenericArgument, Generics, Path, PathArguments, Type, TypeImplTrait, TypePath, TypeReference, TypeTuple};

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

/// The place of a type in the source, for errors; names that carry it are the macro's own.
///
/// A type that `macro_rules!` was given has a span that hides the macro's `self` and its locals.
pub(crate) fn span(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

/// How a function takes the context of the request.
#[derive(PartialEq, Eq)]
pub(crate) enum ContextParameter {
    /// `&T`, or an alias with a lifetime.
    Right,
    /// The context, but taken otherwise.
    Wrong,
}

/// How a parameter of this type takes the context; `None` for an argument.
///
/// Only the compiler knows what a name stands for. So what borrows is the context, as an argument owns its value, and
/// the trait `ContextParameter` has the compiler check it.
pub(crate) fn context(ty: &Type) -> Option<ContextParameter> {
    let wrong = |ty: &Type| names_context(ty).then_some(ContextParameter::Wrong);
    match peel(ty) {
        Type::Reference(reference) => match peel(&reference.elem) {
            Type::Path(path) if reference.mutability.is_none() && !is_std_value(&path.path) => {
                Some(ContextParameter::Right)
            }
            inner => wrong(inner),
        },
        Type::Path(path) if has_only_lifetimes(&path.path) => wrong(ty).or(Some(ContextParameter::Right)),
        _ => None,
    }
}

/// Whether `Context<'_>` stands here.
fn names_context(ty: &Type) -> bool {
    match peel(ty) {
        Type::Reference(reference) => names_context(&reference.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Context"),
        _ => false,
    }
}

fn has_only_lifetimes(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| match &last.arguments {
        PathArguments::AngleBracketed(args) => {
            args.args.iter().all(|arg| matches!(arg, GenericArgument::Lifetime(lifetime) if lifetime.ident != "static"))
        }
        _ => false,
    })
}

/// Whether the path names a value of the standard library, such as `str` or `Vec<T>`.
fn is_std_value(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let primitive = last.arguments.is_none()
            && ["str", "String", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"]
                .iter()
                .any(|name| last.ident == name);
        primitive || (!last.arguments.is_none() && ["Vec", "Option", "Box"].iter().any(|name| last.ident == name))
    })
}

/// What to write for a type that is certainly no relation: `Vec<T>`, and `Option` or `Vec` around a relation.
pub(crate) fn instead_of_relation(ty: &Type) -> Option<String> {
    let (outer, inner) = generic(ty)?;
    let row = |ty| pretty(generic(ty).map_or(ty, |(_, row)| row));
    if outer == "Vec" {
        return Some(format!("write `Many<{}>`", row(inner)));
    }
    let many = generic(inner).is_some_and(|(name, _)| name == "Many" || name == "Vec");
    (outer == "Option" && many).then(|| format!("write `Many<{}>`", row(inner)))
}

/// The name and the argument of a type with one type argument, such as `Option` and `User` of `Option<User>`.
pub(crate) fn generic(ty: &Type) -> Option<(&Ident, &Type)> {
    let Type::Path(path) = peel(ty) else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(args) if args.args.len() == 1 => match args.args.first()? {
            GenericArgument::Type(inner) => Some((&last.ident, inner)),
            _ => None,
        },
        _ => None,
    }
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

    fn visit_type_path(&mut self, ty: &'ast TypePath) {
        if let Some(instead) = ty.path.get_ident().and_then(instead_of_primitive) {
            let name = ty.path.to_token_stream();
            return self.errors.at(ty, format!("GraphQL has no type for `{name}`; write {instead}"));
        }
        visit::visit_type_path(self, ty);
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.errors.at(ty, "the schema needs to know the type; write a concrete type instead of `impl …`");
    }
}

/// Types of Rust that no scalar is read into.
fn instead_of_primitive(name: &Ident) -> Option<&'static str> {
    match name.to_string().as_str() {
        "usize" | "isize" => Some("`i64`"),
        "u128" | "i128" => Some("`i64`, or `Decimal` for longer numbers"),
        "char" => Some("`String`"),
        _ => None,
    }
}

/// The types of the standard library that stay in one thread, and what threads share instead.
const SINGLE_THREADED: [(&str, &str); 3] = [("Rc", "Arc"), ("Cell", "Mutex"), ("RefCell", "Mutex")];

/// What to write for a type that is or holds an `Rc`, a `Cell` or a `RefCell`: another of its kind where the field is
/// `skipped`, and the value alone where it is read from a row.
pub(crate) fn instead_of_single_threaded(ty: &Type, skipped: bool) -> Option<String> {
    let (name, inner) = generic(ty)?;
    let Some((_, shared)) = SINGLE_THREADED.iter().find(|(single, _)| name == single) else {
        return instead_of_single_threaded(inner, skipped);
    };
    let instead = if skipped { format!("{shared}<{}>", pretty(inner)) } else { pretty(inner) };
    Some(format!("an `{name}` stays in one thread, and requests do not; write `{instead}`").replace("an `C", "a `C"))
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
