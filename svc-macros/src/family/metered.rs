//! `#[with_metrics]`: an `async` function whose calls are counted like operations.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;
use syn::{LitStr, ReturnType};

use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{self, Keys};
use crate::krate::Crate;

/// The values of the label `operation_type`.
const TYPES: [&str; 3] = ["query", "mutation", "subscription"];

#[derive(Default)]
struct Args {
    operation_type: Option<LitStr>,
    name: Option<LitStr>,
    krate: Crate,
}

/// The function with its body wrapped in the metrics.
pub(crate) fn expand(args: TokenStream, item: TokenStream, errors: &mut Errors) -> TokenStream {
    let args = read(args, errors);
    let Some(mut function) = errors.ok(syn::parse2::<Function>(item.clone())) else {
        return item;
    };

    let Some(body) = counted(&args, &function, errors) else {
        return item;
    };

    function.body = Some(body);

    function.into_token_stream()
}

fn read(tokens: TokenStream, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    Keys::new(&["operation_type", "name", "crate"]).read(tokens, errors, |key, input| {
        match key.to_string().as_str() {
            "operation_type" => {
                args.operation_type = Some(operation_type(keys::string(key, input)?)?);
            }
            "name" => args.name = Some(keys::string(key, input)?),
            _ => args.krate = keys::krate(key, input)?,
        }
        Ok(())
    });

    args
}

/// The text, if it is the type of an operation.
pub(crate) fn operation_type(text: LitStr) -> syn::Result<LitStr> {
    if TYPES.contains(&text.value().as_str()) {
        return Ok(text);
    }
    Err(syn::Error::new(
        text.span(),
        "an operation is a `query`, a `mutation` or a `subscription`",
    ))
}

/// The body with metrics, or `None` after reporting an error.
fn counted(args: &Args, function: &Function, errors: &mut Errors) -> Option<TokenTree> {
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        errors.at(
            &sig.fn_token,
            "`#[with_metrics]` counts the calls of `async` functions; write `async fn`",
        );
    }

    if let ReturnType::Default = sig.output {
        let message = "`#[with_metrics]` counts whether a call succeeds; add a return type, such \
                       as `-> svc::Result<()>`";
        errors.at(&sig.ident, message);
    }

    let Some(body) = &function.body else {
        errors.at(
            &sig.ident,
            "what has no body is answered by svc, which counts it by itself; remove \
             `#[with_metrics]`",
        );
        return None;
    };

    // The unchanged function compiles by itself, so the mistake is the only error.
    if !errors.is_empty() {
        return None;
    }

    let (path, name) = (args.krate.path(), sig.ident.unraw().to_string());
    let operation_type = args
        .operation_type
        .as_ref()
        .map_or_else(|| "query".to_owned(), LitStr::value);
    let name = args.name.as_ref().map_or(name, LitStr::value);

    // `move`, because the body of an `async fn` owns its parameters.
    let tokens = quote!({ #path::with_metrics(#operation_type, #name, async move #body).await });

    // The braces are one token with their content, as the body of a function is.
    tokens.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::expand;
    use crate::family::check::{has, messages};

    #[test]
    fn the_body_is_counted() {
        has(
            expand,
            "",
            "pub async fn r#move(&self, of: &str) -> Result<u8> { Ok(1) }",
            &[
                "pub async fn r#move(&self, of: &str) -> Result<u8> {",
                r#"::svc::__private::with_metrics("query", "move", async move { Ok(1) }).await }"#,
            ],
        );

        has(
            expand,
            r#"operation_type = "mutation", name = "importUsers", crate = framework"#,
            "async fn import() -> Result<u8> { Ok(1) }",
            &[
                r#"framework::__private::with_metrics("mutation", "importUsers", async move { Ok(1) }).await"#,
            ],
        );
    }

    #[test]
    fn uncountable_functions_are_refused() {
        assert_eq!(messages(expand, "", "fn plain() { }").len(), 2);
        assert!(messages(expand, "", "async fn bodiless() -> Result<u8>;")[0].contains("no body"));
        assert!(
            messages(
                expand,
                r#"operation_type = "job""#,
                "async fn f() -> R { x }"
            )[0]
            .contains("`mutation`")
        );
    }
}
