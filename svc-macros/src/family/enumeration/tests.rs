//! Tests of `#[svc_enum]`.

use super::expand;
use crate::family::check::{has, messages};

#[test]
fn values_are_in_upper_case() {
    has(
        expand,
        "",
        r#"enum State { InReview, #[svc(name = "done", stored = "d")] #[deprecated = "old"] Done }"#,
        &[
            r#"ElementMeta::new("InReview").named("IN_REVIEW")"#,
            r#"stored: "IN_REVIEW""#,
            r#"Self::Done => "done""#,
            r#""done" => Self::Done"#,
            r#"::core::option::Option::Some("d") => Self::Done"#,
            r#".deprecated("old")"#,
        ],
    );
}

#[test]
fn names_that_mean_something_else_are_refused() {
    assert_eq!(
        messages(
            expand,
            "",
            r#"enum Answer { #[svc(name = "true")] Yes, #[svc(name = "__no")] No }"#
        ),
        [
            "`true` means something else in GraphQL; take another name",
            "`__no` begins with `__`, which GraphQL keeps for itself; take another name",
        ]
    );
}
