//! `#[trace_graphql_operation]` and `#[trace_database_query]`: an `async` function whose calls have
//! a span.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{LitStr, ReturnType, Token, Type};

use super::metered;
use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// The kind of span.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Operation,
    Statement,
}

impl Kind {
    /// The attribute, for messages.
    fn attribute(self) -> &'static str {
        match self {
            Self::Operation => "trace_graphql_operation",
            Self::Statement => "trace_database_query",
        }
    }

    /// The meaning of the two texts, and an example of them.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Operation => (
                "the type and the name of an operation",
                "\"query\", \"Nightly\"",
            ),
            Self::Statement => (
                "the operation and the table of a statement",
                "\"SELECT\", \"tb_order\"",
            ),
        }
    }
}

struct Args {
    first: LitStr,
    second: LitStr,
    krate: Crate,
}

/// The function with its body in the span of an operation.
pub(crate) fn operation(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    expand(Kind::Operation, args, item, errors)
}

/// The function with its body in the span of a statement.
pub(crate) fn statement(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    expand(Kind::Statement, args, item, errors)
}

fn expand(kind: Kind, args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = read(kind, args, errors);
    let Some(mut function) = errors.ok(syn::parse2::<Function>(item.clone())) else {
        return item;
    };

    let Some(body) = traced(kind, args, &function, errors) else {
        return item;
    };

    function.body = Some(body);

    function.into_token_stream()
}

fn read(kind: Kind, tokens: TokenStream, errors: &mut Errors) -> Option<Args> {
    let given = tokens.clone();
    let Ok((first, second, rest)) = two_texts.parse2(tokens) else {
        // syn's error would name a token and not the two texts.
        let (attribute, (texts, example)) = (kind.attribute(), kind.texts());
        errors.at(
            &given,
            format!("`#[{attribute}]` takes {texts}; write `#[{attribute}({example})]`"),
        );
        return None;
    };

    let first = match kind {
        Kind::Operation => errors.ok(metered::operation_type(first)),
        Kind::Statement => Some(first),
    };

    let mut krate = Crate::default();
    Keys::new(&["crate"]).read(rest, errors, |key, input| {
        krate = keys::krate(key, input)?;
        Ok(())
    });

    Some(Args {
        first: first?,
        second,
        krate,
    })
}

/// Two texts, and the keys after them.
fn two_texts(input: ParseStream<'_>) -> syn::Result<(LitStr, LitStr, TokenStream)> {
    let first = input.parse()?;
    input.parse::<Token![,]>()?;
    let second = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }

    // A third text would otherwise be reported as a value without a key.
    if input.peek(LitStr) {
        return Err(input.error("a third text"));
    }

    Ok((first, second, input.parse()?))
}

/// The body in its span, or `None` after reporting an error.
fn traced(
    kind: Kind,
    args: Option<Args>,
    function: &Function,
    errors: &mut Errors,
) -> Option<TokenTree> {
    let (sig, attribute) = (&function.sig, kind.attribute());
    if sig.asyncness.is_none() {
        let message =
            format!("`#[{attribute}]` traces the calls of `async` functions; write `async fn`");
        errors.at(&sig.fn_token, message);
    }

    let Some(body) = &function.body else {
        let message = format!(
            "svc runs and traces a function without a body by itself; remove `#[{attribute}]`"
        );
        errors.at(&sig.ident, message);
        return None;
    };

    let Args {
        first,
        second,
        krate,
    } = args.filter(|_| errors.is_empty())?;

    let path = krate.path();
    let span = match kind {
        Kind::Operation => quote!(#path::trace_graphql_operation(#first, #second)),
        Kind::Statement => {
            // The macro does not see the text of the statement.
            quote!(#path::trace_database_query(#first, #second, ::core::option::Option::None))
        }
    };

    let run = match &sig.output {
        ReturnType::Type(_, output) if is_result(output) => quote!(try_around),
        _ => quote!(around),
    };

    quote!({ #span.#run(async move #body).await })
        .into_iter()
        .next()
}

/// Whether a type is called `Result`, as aliases of it are too.
fn is_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Result"),
        Type::Group(group) => is_result(&group.elem),
        Type::Paren(paren) => is_result(&paren.elem),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{operation, statement};
    use crate::family::check::{has, messages};

    #[test]
    fn the_body_is_in_a_span() {
        has(
            operation,
            r#""query", "Nightly""#,
            "pub async fn report(&self, of: &str) -> u8 { 1 }",
            &[
                "pub async fn report(&self, of: &str) -> u8 {",
                r#"::svc::__private::trace_graphql_operation("query", "Nightly").around(async move { 1 }).await }"#,
            ],
        );

        has(
            statement,
            r#""SELECT", "tb_order", crate = framework,"#,
            "async fn count() -> io::Result<u8> { Ok(1) }",
            &[
                r#"framework::__private::trace_database_query("SELECT", "tb_order", ::core::option::Option::None)"#,
                ".try_around(async move { Ok(1) }).await }",
            ],
        );
    }

    #[test]
    fn only_a_result_can_fail() {
        let args = r#""query", "Nightly""#;
        has(
            operation,
            args,
            "async fn nothing() { work() }",
            &[".around("],
        );

        has(
            operation,
            args,
            "async fn many() -> Vec<Result<u8>> { work() }",
            &[".around("],
        );

        has(
            operation,
            args,
            "async fn one() -> (::std::result::Result<u8, E>) { work() }",
            &[".try_around("],
        );
    }

    #[test]
    fn the_attribute_takes_two_texts() {
        let function = "async fn count() -> u8 { 1 }";
        let example = "write `#[trace_database_query(\"SELECT\", \"tb_order\")]`";
        let few = [
            "",
            r#""SELECT""#,
            r#""SELECT" "tb_order""#,
            r#""SELECT", TABLE"#,
        ];

        for args in few
            .into_iter()
            .chain([r#""SELECT", "tb_order", "x""#, r#"table = "tb_order""#])
        {
            let messages = messages(statement, args, function);
            assert!(
                matches!(&messages[..], [one] if one.contains(example)),
                "{args}: {messages:?}"
            );
        }

        assert!(
            messages(statement, r#""a", "b", name = "c""#, function)[0]
                .contains("the only key here is `crate`")
        );
    }

    #[test]
    fn other_functions_are_refused() {
        let args = r#""query", "Nightly""#;
        assert!(messages(operation, args, "fn plain() { }")[0].contains("write `async fn`"));
        assert!(
            messages(operation, args, "async fn bodiless() -> u8;")[0].contains("without a body")
        );

        assert!(
            messages(operation, r#""job", "Nightly""#, "async fn f() { }")[0]
                .contains("`mutation`")
        );
    }
}
