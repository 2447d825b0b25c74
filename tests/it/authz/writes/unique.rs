//! Unique values of others: what may not be written is forbidden, whether others have the value or
//! not.

use serde_json::json;
use svc_tests::TestDatabase;

use super::{SQL, ask, code, serve};

#[tokio::test]
async fn a_forbidden_write_reveals_no_unique_value_of_hidden_rows() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database).await;
    for mutation in [
        "add(input: {tenant: 2, slug: \"X\"})",
        // The tenant is left to its default.
        "add(input: {slug: \"X\"})",
        "add(input: {tenant: 2, code: \"X\"})",
        "addAll(input: [{tenant: 1, slug: \"a\"}, {tenant: 2, slug: \"X\"}])",
        "addAll(input: [{tenant: 1, slug: \"a\"}, {slug: \"X\", code: \"c\"}])",
        "change(id: 2, input: {tenant: 2, slug: \"X\"})",
        "change(id: 2, input: {tenant: 2, code: \"X\"})",
        // The document has the code `taken` already.
        "change(id: 1, input: {tenant: 2})",
        "changeSlug(slug: \"second\", input: {tenant: 2, slug: \"X\"})",
        "put(input: {tenant: 2, slug: \"X\"})",
        "put(input: {tenant: 2, slug: \"new\", code: \"X\"})",
        "put(input: {tenant: 2, slug: \"own\", code: \"X\"})",
        "keep(input: {tenant: 2, slug: \"X\"})",
        "keep(input: {tenant: 2, slug: \"new\", code: \"X\"})",
        "add(input: {tenant: 1, slug: \"a\", comments: [{tenant: 1}, {tenant: 2, code: \"X\"}]})",
        "add(input: {tenant: 1, slug: \"a\", comments: [{code: \"X\"}]})",
        "change(id: 1, input: {comments: [{id: 1, tenant: 2, code: \"X\"}]})",
        "change(id: 1, input: {comments: [{tenant: 2, code: \"X\"}]})",
        "add(input: {tenant: 1, slug: \"a\", tag: {tenant: 2, name: \"X\"}})",
        "change(id: 1, input: {tenant: 2, tag: {tenant: 2, name: \"X\"}})",
    ] {
        let (taken, free) = (
            ask(&app, &mutation.replace('X', "taken")).await,
            ask(&app, &mutation.replace('X', "free")).await,
        );
        assert_eq!(
            (&taken, code(&taken)),
            (&free, json!("FORBIDDEN")),
            "{mutation}"
        );
    }
    for (mutation, taken, free) in [
        ("add(input: {id: N, tenant: 2, slug: \"a\"})", 100, 999),
        (
            "change(id: 1, input: {id: N, tenant: 2, code: \"d\"})",
            100,
            999,
        ),
        // A reference to a row that is there, and to none.
        ("add(input: {tenant: 2, slug: \"a\", authorId: N})", 1, 2),
        ("putById(input: {id: N, tenant: 2, slug: \"a\"})", 100, 999),
    ] {
        let ask = async |id: i32| ask(&app, &mutation.replace('N', &id.to_string())).await;
        let (taken, free) = (ask(taken).await, ask(free).await);
        assert_eq!(
            (&taken, code(&taken)),
            (&free, json!("FORBIDDEN")),
            "{mutation}"
        );
    }
}

/// A constraint that the user's own rows violate is reported as usual.
#[tokio::test]
async fn an_allowed_write_reports_the_unique_constraint() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database).await;
    for mutation in [
        "add(input: {tenant: 1, slug: \"own\"})",
        "addAll(input: [{tenant: 1, slug: \"own\"}])",
        "change(id: 2, input: {slug: \"own\"})",
        "put(input: {tenant: 1, slug: \"third\", tag: {tenant: 1, name: \"t\"}}) { id } again: add(input: {tenant: 1, slug: \"third\"})",
    ] {
        let answer = ask(&app, mutation).await;
        let error = &answer["errors"][0];
        assert_eq!(
            (&error["message"], code(&answer)),
            (&json!("the slug is taken"), json!("CONFLICT")),
            "{mutation}"
        );
    }
}
