//! The `impl` block. Bodies of methods stay unchanged; methods without a body are only fields.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, TokenStreamExt as _};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Generics, ImplItem, LitInt, LitStr, Path, Token, Type, Visibility, braced, token,
};

use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// The highest cost of a field.
const MAX_COST: u32 = 1_000_000;

/// `impl User { … }`.
pub(super) struct Block {
    pub(super) attrs: Vec<Attribute>,
    unsafety: Option<Token![unsafe]>,
    impl_token: Token![impl],
    pub(super) generics: Generics,
    /// `Trait for`.
    pub(super) of: Option<(Path, Token![for])>,
    pub(super) ty: Type,
    brace: token::Brace,
    pub(super) items: Vec<Item>,
}

/// An item of the block.
pub(super) enum Item {
    Method(Box<Function>),
    Other(Box<ImplItem>),
}

/// `#[svc(…)]` on a method.
#[derive(Default)]
pub(super) struct MethodArgs {
    pub(super) name: Option<LitStr>,
    pub(super) cost: Option<LitInt>,
    /// The function of the database that computes the field.
    pub(super) function: Option<LitStr>,
    /// The key `batch`, if the method takes all objects of a level.
    pub(super) batch: Option<Ident>,
    pub(super) skip: bool,
}

/// Reads the macro's arguments.
pub(super) fn args(tokens: TokenStream, errors: &mut Errors) -> Crate {
    let mut krate = Crate::default();
    let of_the_struct = &["sql_source", "name", "implements", "authorize_fields"];
    let mut keys = Keys::new(&["crate"]).instead_of(
        of_the_struct,
        "this key goes onto the struct; move it there",
    );
    keys.read(tokens, errors, |key, input| {
        krate = keys::krate(key, input)?;
        Ok(())
    });

    krate
}

/// Removes our attributes from a method.
pub(super) fn method(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> MethodArgs {
    let mut args = MethodArgs::default();
    keys::refuse_relation(attrs, errors);
    keys::read_svc(
        attrs,
        &["name", "function", "cost", "batch", "skip"],
        errors,
        |key, input| {
            match key.to_string().as_str() {
                "name" => args.name = Some(keys::string(key, input)?),
                "cost" => args.cost = Some(cost(key, input)?),
                "function" => args.function = Some(keys::string(key, input)?),
                "batch" => args.batch = keys::flag(key, input)?.then(|| key.clone()),
                _ => args.skip = keys::flag(key, input)?,
            }
            Ok(())
        },
    );

    args
}

/// `cost = 50`: the cost of the field in the complexity.
fn cost(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitInt> {
    let number: LitInt = keys::value(key, input, "50")?;
    match number.base10_parse() {
        Ok(1..=MAX_COST) => Ok(number),
        _ => Err(syn::Error::new(
            number.span(),
            format!("a cost is a whole number from 1 to {MAX_COST}"),
        )),
    }
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (unsafety, impl_token) = (input.parse()?, input.parse()?);
        let mut generics: Generics = input.parse()?;
        let first: Type = input.parse()?;

        // The trait is parsed as a type first: only the `for` behind it shows that it is one.
        let (of, ty) = match (input.parse::<Option<Token![for]>>()?, first) {
            (Some(token), Type::Path(path)) => (Some((path.path, token)), input.parse()?),
            (_, first) => (None, first),
        };

        generics.where_clause = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let mut items = Vec::new();

        while !content.is_empty() {
            items.push(content.parse()?);
        }

        Ok(Self {
            attrs,
            unsafety,
            impl_token,
            generics,
            of,
            ty,
            brace,
            items,
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;

        // Of the items that start with `const`, only a function is a method.
        let other = ahead.peek(Token![type])
            || (ahead.peek(Token![const]) && !is_const_fn(&ahead))
            || ahead.peek2(Token![!]);

        if other {
            input.parse().map(Self::Other)
        } else {
            input.parse().map(Self::Method)
        }
    }
}

fn is_const_fn(input: ParseStream<'_>) -> bool {
    input.peek2(Token![fn])
        || input.peek2(Token![async])
        || input.peek2(Token![unsafe])
        || input.peek2(Token![extern])
}

impl ToTokens for Block {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.unsafety.to_tokens(tokens);
        self.impl_token.to_tokens(tokens);
        self.generics.to_tokens(tokens);
        if let Some((path, token)) = &self.of {
            path.to_tokens(tokens);
            token.to_tokens(tokens);
        }

        self.ty.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);

        self.brace.surround(tokens, |tokens| {
            for item in &self.items {
                match item {
                    // Rust allows no method without a body; a function of the database implements
                    // this one.
                    Item::Method(method) if method.body.is_none() => {}
                    Item::Method(method) => method.to_tokens(tokens),
                    Item::Other(other) => other.to_tokens(tokens),
                }
            }
        });
    }
}
