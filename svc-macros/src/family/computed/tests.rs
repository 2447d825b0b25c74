//! Tests of `#[svc_type]` on `impl` blocks.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn an_async_method_becomes_one_boxed_future() {
    has(
        expand,
        "",
        r#"impl User { async fn posts(&self, ctx: &Context<'_>, #[svc(default = -1)] first: i32) -> Result<Vec<&'a Post>> { body() } }"#,
        &[
            r#"default: ::core::option::Option::Some("-1")"#,
            "ty: <Result<Vec<&'_ Post>> as __svc::Returns>::type_ref",
            "let this = __svc::receiver::<Self>(this);",
            "let context = <&Context<'_> as __svc::ContextParameter<'_>>::of(call.context());",
            r#"let arg0 = __svc::Call::arg::<i32>(&mut call, 0usize, "first")?;"#,
            "outcome(Self::posts(this, context, arg0).await)",
            "fn posts(&self, ctx: &Context<'_>, first: i32)",
        ],
    );
}

#[test]
fn a_batch_method_takes_all_objects() {
    for wait in ["", ".await"] {
        let asynchronous = if wait.is_empty() { "" } else { "async " };
        has(
            expand,
            "",
            &format!(
                r#"impl User {{ #[svc(batch)] {asynchronous}fn rank<'a>(users: &[&'a Self], ctx: &Context<'_>, of: i32) -> Result<Vec<&'a str>> {{ body() }} }}"#
            ),
            &[
                "ty: <Result<Vec<&'_ str>> as __svc::ReturnsBatch>::type_ref",
                "Batch(|this, mut call|",
                "let this = __svc::receivers::<Self>(this);",
                r#"let arg0 = __svc::Call::arg::<i32>(&mut call, 0usize, "of")?;"#,
                &format!("outcomes(Self::rank(&this, context, arg0){wait})"),
                "fn rank<'a>(users: &[&'a Self], ctx: &Context<'_>, of: i32)",
            ],
        );
    }
}

#[test]
fn a_plain_method_makes_no_future() {
    let (_, output) = crate::family::check::expand(
        expand,
        "",
        "impl User { fn name(&self) -> &str { &self.name } }",
    );
    assert!(output.contains("Sync (| this , _ |"), "{output}");
    assert!(!output.contains("pin"));
}

#[test]
fn other_items_and_skipped_methods_are_kept() {
    let item = "impl User { const A: i32 = 1; pub const fn b() {} #[svc(skip)] fn c<T>(self) {} type D = i32; m! {} }";
    let (errors, output) = crate::family::check::expand(expand, "", item);
    assert_eq!(
        errors,
        [
            "a computed field takes `&self` first; put `#[svc(skip)]` on a function that is not a field",
            "a resolver is a plain `fn` or `async fn`; remove `const`",
            "a field must answer with something; add a return type, such as `-> bool`",
        ]
    );

    assert!(
        output.contains("fn c < T > (self) { } type D = i32 ; m ! { }"),
        "{output}"
    );
}

#[test]
fn a_trait_block_is_refused() {
    assert_eq!(messages(expand, "", "impl Clone for User {}").len(), 1);
}
