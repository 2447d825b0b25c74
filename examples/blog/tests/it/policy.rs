//! The policy where users are known, as a table; a change of the policy is a change of this file.

use serde_json::json;
use svc::axum::extract::Request;
use svc::axum::http::HeaderMap;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::prelude::*;
use svc::testing::{Case, authz_matrix};
use svc_tests::{App, TestDatabase};

/// The user of the headers, in place of a token's.
async fn identify(mut request: Request, next: Next) -> Response {
    if let Some(user) = user_of(request.headers()) {
        request.extensions_mut().insert(user);
    }
    next.run(request).await
}

fn user_of(headers: &HeaderMap) -> Option<UserContext> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    Some(UserContext::new(header("x-id")?).roles([header("x-role")?]))
}

fn options(database: &TestDatabase) -> AppOptions {
    blog::with_blog(AppOptions::new().database_url(database.url()))
}

const TABLE: &str = "\
| Case | nobody | reader | author | editor | admin |
|---|---|---|---|---|---|
| Query.users | allow | allow | allow | allow | allow |
| Query.posts | allow | allow | allow | allow | allow |
| User.email | deny FORBIDDEN | partly FORBIDDEN | partly FORBIDDEN | partly FORBIDDEN | allow |
| Mutation.createComment | deny UNAUTHENTICATED | allow | allow | allow | allow |
| Mutation.createPost | deny UNAUTHENTICATED | deny FORBIDDEN | allow | allow | allow |
| Mutation.updatePost | deny UNAUTHENTICATED | deny FORBIDDEN | deny FORBIDDEN | allow | allow |
| Mutation.deletePost | deny UNAUTHENTICATED | deny FORBIDDEN | deny FORBIDDEN | deny FORBIDDEN | allow |
";

#[tokio::test]
async fn the_policy_is_the_same_on_every_way() {
    let database = TestDatabase::new("").await;
    let ids = App::serve(options(&database)).await;
    let ids = ids.query("{ users(limit: 3, orderBy: [{ slug: ASC }]) { id } posts(limit: 1) { id } }").await.data();
    let (user, post) = (&ids["users"][0]["id"], &ids["posts"][0]["id"]);
    let write = |input: serde_json::Value| json!({ "input": input });
    let nothing = "00000000-0000-0000-0000-000000000000";
    let mut matrix = authz_matrix(blog::policy::with_policy(options(&database)))
        .layer(|router| router.layer(from_fn(identify)))
        .principal("nobody", &[]);
    for role in ["reader", "author", "editor", "admin"] {
        matrix = matrix.principal(role, &[("x-id", user.as_str().unwrap()), ("x-role", role)]);
    }
    let report = matrix
        .case(Case::new("Query.users", "{ users(limit: 3) { name } }"))
        .case(Case::new("Query.posts", "{ posts(limit: 3) { title author { name } } }"))
        .case(Case::new("User.email", "{ users(limit: 3, orderBy: [{ slug: ASC }]) { email } }"))
        .case(
            Case::new(
                "Mutation.createComment",
                "mutation ($input: NewComment!) { createComment(input: $input) { id } }",
            )
            .variables(write(json!({ "post": post, "author": user, "body": "Yes." }))),
        )
        .case(
            Case::new(
                "Mutation.createPost",
                "mutation ($input: NewPost!) { createPost(input: $input) { __typename } }",
            )
            .variables(write(json!({ "author": user, "title": "Hello", "body": "World." }))),
        )
        .case(
            Case::new("Mutation.updatePost", "mutation ($id: UUID!) { updatePost(id: $id, patch: {}) { __typename } }")
                .variables(json!({ "id": nothing })),
        )
        .case(
            Case::new("Mutation.deletePost", "mutation ($id: UUID!) { deletePost(id: $id) { __typename } }")
                .variables(json!({ "id": nothing })),
        )
        .run()
        .await
        .unwrap();
    assert_eq!(report.problems(), [""; 0], "{report}");
    let table = report.to_markdown();
    assert!(table.starts_with(TABLE), "{table}");
    assert!(report.coverage().all().iter().filter(|one| one.is_operation()).all(|one| !one.rules.is_empty()));
}

/// One who is known writes under no other name; and without a policy everything is open.
#[tokio::test]
async fn others_are_written_for_by_editors_only() {
    let database = TestDatabase::new("").await;
    let open = App::serve(options(&database)).await;
    let answer = open.query("{ users(limit: 2, orderBy: [{ slug: ASC }]) { id email } }").await.data();
    assert!(answer["users"][0]["email"].is_string(), "{answer}");
    let [one, other] = [0, 1].map(|index| answer["users"][index]["id"].as_str().unwrap().to_owned());
    let router = create_svc_app(blog::policy::with_policy(options(&database))).await.unwrap();
    let app = App::serve_router(router.layer(from_fn(identify))).await;
    let create = "mutation ($input: NewPost!) { createPost(input: $input) { __typename } }";
    let body =
        json!({ "query": create, "variables": { "input": { "author": other, "title": "Hello", "body": "World." } } });
    for (role, is_allowed) in [("author", false), ("editor", true)] {
        let request = app.request("POST", "/graphql").header("content-type", "application/json");
        let reply = app.send(request.header("x-id", &one).header("x-role", role).body(body.to_string())).await;
        assert_eq!(reply.json().get("errors").is_none(), is_allowed, "{role}: {}", reply.text);
    }
}
