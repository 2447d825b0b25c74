//! The policy where users are known, as a table; a change of the policy is a change of this file.

use std::sync::Arc;

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
| Subscription.postChanged | allow | allow | allow | allow | allow |
| Mutation.createComment | deny UNAUTHENTICATED | allow | allow | allow | allow |
| Mutation.createPost | deny UNAUTHENTICATED | deny FORBIDDEN | allow | allow | allow |
| Mutation.updatePost | deny UNAUTHENTICATED | deny FORBIDDEN | deny FORBIDDEN | allow | allow |
| Mutation.deletePost | deny UNAUTHENTICATED | deny FORBIDDEN | deny FORBIDDEN | deny FORBIDDEN | allow |
";

#[tokio::test]
async fn the_policy_is_the_same_on_every_transport() {
    let database = Arc::new(TestDatabase::new("").await);
    let ids = App::serve(options(&database)).await;
    ids.until_ready().await;
    let ids = ids
        .query("{ users(limit: 3, orderBy: [{ slug: ASC }]) { id } posts(limit: 1) { id } }")
        .await
        .data();
    let (user, post) = (&ids["users"][0]["id"], &ids["posts"][0]["id"]);
    let write = |input: serde_json::Value| json!({ "input": input });
    let changed =
        format!(r#"SELECT pg_notify('post_changed', '{{"id": {post}, "op": "update"}}')"#);
    let tell = {
        let database = database.clone();
        move || {
            let (database, changed) = (database.clone(), changed.clone());
            async move {
                database.execute(&changed).await;
                Ok(())
            }
        }
    };

    let nothing = "00000000-0000-0000-0000-000000000000";
    let mut matrix = authz_matrix(blog::policy::with_policy(options(&database)))
        .layer(|router| router.layer(from_fn(identify)))
        .principal("nobody", &[]);
    for role in ["reader", "author", "editor", "admin"] {
        matrix = matrix.principal(role, &[("x-id", user.as_str().unwrap()), ("x-role", role)]);
    }

    let report = matrix
        .case(Case::new("Query.users", "{ users(limit: 3) { name } }"))
        .case(Case::new(
            "Query.posts",
            "{ posts(limit: 3) { title author { name } } }",
        ))
        .case(
            Case::new(
                "Subscription.postChanged",
                "subscription { postChanged { title } }",
            )
            .event(tell),
        )
        .case(
            Case::new(
                "Mutation.createComment",
                "mutation ($input: NewComment!) { createComment(input: $input) { id } }",
            )
            .variables(write(
                json!({ "post": post, "author": user, "body": "Yes." }),
            )),
        )
        .case(
            Case::new(
                "Mutation.createPost",
                "mutation ($input: NewPost!) { createPost(input: $input) { __typename } }",
            )
            .variables(write(
                json!({ "author": user, "title": "Hello", "body": "World." }),
            )),
        )
        .case(
            Case::new(
                "Mutation.updatePost",
                "mutation ($id: UUID!) { updatePost(id: $id, patch: {}) { __typename } }",
            )
            .variables(json!({ "id": nothing })),
        )
        .case(
            Case::new(
                "Mutation.deletePost",
                "mutation ($id: UUID!) { deletePost(id: $id) { __typename } }",
            )
            .variables(json!({ "id": nothing })),
        )
        .run()
        .await
        .unwrap();

    assert_eq!(report.problems(), [""; 0], "{report}");
    let table = report.to_markdown();
    assert!(table.starts_with(TABLE), "{table}");

    assert!(
        report
            .coverage()
            .all()
            .iter()
            .filter(|one| one.is_operation())
            .all(|one| !one.rules.is_empty())
    );
}

/// A known user writes under no other name; and without a policy everything is open.
#[tokio::test]
async fn only_editors_write_for_other_users() {
    let database = TestDatabase::new("").await;
    let open = App::serve(options(&database)).await;
    open.until_ready().await;
    let answer = open
        .query("{ users(limit: 2, orderBy: [{ slug: ASC }]) { id email } }")
        .await
        .data();
    assert!(answer["users"][0]["email"].is_string(), "{answer}");
    let [one, other] =
        [0, 1].map(|index| answer["users"][index]["id"].as_str().unwrap().to_owned());
    let router = create_svc_app(blog::policy::with_policy(options(&database)))
        .await
        .unwrap();
    let app = App::serve_router(router.layer(from_fn(identify))).await;
    app.until_ready().await;
    let create = "mutation ($input: NewPost!) { createPost(input: $input) { __typename } }";
    let body = json!({ "query": create, "variables": { "input": { "author": other, "title": "Hello", "body": "World." } } });

    for (role, is_allowed) in [("author", false), ("editor", true)] {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let reply = app
            .send(
                request
                    .header("x-id", &one)
                    .header("x-role", role)
                    .body(body.to_string()),
            )
            .await;

        assert_eq!(
            reply.json().get("errors").is_none(),
            is_allowed,
            "{role}: {}",
            reply.text
        );
    }
}

/// The service with its policy, and the ids of two users.
async fn guarded(database: &TestDatabase) -> (App, [String; 2]) {
    let open = App::serve(options(database)).await;
    open.until_ready().await;
    let users = open
        .query("{ users(limit: 2, orderBy: [{ slug: ASC }]) { id } }")
        .await
        .data();
    let ids = [0, 1].map(|index| users["users"][index]["id"].as_str().unwrap().to_owned());
    let router = create_svc_app(blog::policy::with_policy(options(database)))
        .await
        .unwrap();
    let app = App::serve_router(router.layer(from_fn(identify))).await;
    app.until_ready().await;

    (app, ids)
}

async fn ask(
    app: &App,
    (id, role): (&str, &str),
    query: &str,
    variables: serde_json::Value,
) -> serde_json::Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = if id.is_empty() {
        request
    } else {
        request.header("x-id", id).header("x-role", role)
    };

    let reply = app
        .send(request.body(json!({ "query": query, "variables": variables }).to_string()))
        .await;

    reply.data()
}

/// An address is null for others, and so it is to their filters. Without a policy it is for
/// everyone.
#[tokio::test]
async fn an_address_is_visible_to_its_user_and_to_admins() {
    const MAIL: &str = "query ($id: UUID!) {
        one: users(where: { id: { eq: $id } }) { email }
        known: users(where: { id: { eq: $id }, email: { endswith: \"@example.org\" } }) { id }
        userStatistics(where: { id: { eq: $id } }) { max { email } } }";

    let database = TestDatabase::new("").await;
    let (app, [one, other]) = guarded(&database).await;
    let shown = |email: &serde_json::Value| {
        let known = if email.is_null() {
            json!([])
        } else {
            json!([{ "id": one }])
        };
        json!({ "one": [{ "email": email }], "known": known, "userStatistics": { "max": { "email": email } } })
    };

    let variables = || json!({ "id": one });
    let email = ask(&app, (&one, "admin"), MAIL, variables()).await["one"][0]["email"].clone();
    assert!(email.as_str().unwrap().ends_with("@example.org"), "{email}");

    for (user, sees) in [
        ((one.as_str(), "reader"), true),
        ((&other, "admin"), true),
        ((&other, "editor"), false),
        (("somebody", "author"), false),
        (("", ""), false),
    ] {
        let email = if sees {
            &email
        } else {
            &serde_json::Value::Null
        };
        assert_eq!(
            ask(&app, user, MAIL, variables()).await,
            shown(email),
            "{user:?}"
        );
    }

    let open = App::serve(options(&database)).await;
    open.until_ready().await;

    assert_eq!(
        open.query_with(MAIL, variables()).await.data(),
        shown(&email)
    );
}

/// Wherever posts are read. Without a policy a draft is a post like others.
#[tokio::test]
async fn a_draft_is_visible_to_its_author_and_to_editors() {
    const READ: &str = "query ($id: UUID!, $author: UUID!) {
        post(id: $id) { draft }
        posts(where: { title: { eq: \"Zugzwang\" } }) { draft }
        entry(id: $id) { id }
        entries(where: { id: { eq: $id } }) { id }
        search(word: \"zugzwang\") { __typename }
        user(id: $author) { posts(where: { draft: { eq: true } }) { title } }
        comments(where: { post: { id: { eq: $id } } }) { id } }";

    let database = TestDatabase::new("").await;
    let (app, [author, other]) = guarded(&database).await;
    let create = "mutation ($input: NewPost!) { createPost(input: $input) { ... on CreatePostSuccess { id } } }";
    let new = json!({ "author": author, "title": "Zugzwang", "body": "Not yet.", "draft": true });
    let created = ask(&app, (&author, "author"), create, json!({ "input": new })).await;
    let id = created["createPost"]["id"].clone();
    let variables = || json!({ "id": id, "author": author });
    let seen = json!({
        "post": { "draft": true }, "posts": [{ "draft": true }], "entry": { "id": id }, "entries": [{ "id": id }],
        "search": [{ "__typename": "Post" }], "user": { "posts": [{ "title": "Zugzwang" }] }, "comments": []
    });
    let unseen = json!({
        "post": null, "posts": [], "entry": null, "entries": [], "search": [], "user": { "posts": [] }, "comments": []
    });
    for (user, sees) in [
        ((author.as_str(), "author"), true),
        ((&other, "editor"), true),
        ((&other, "author"), false),
        (("somebody", "reader"), false),
        (("", ""), false),
    ] {
        assert_eq!(
            ask(&app, user, READ, variables()).await,
            if sees { seen.clone() } else { unseen.clone() },
            "{user:?}"
        );
    }

    let open = App::serve(options(&database)).await;
    open.until_ready().await;
    assert_eq!(open.query_with(READ, variables()).await.data(), seen);

    // The feed is for everyone.
    const FEED: &str =
        "{ feed(first: 1, orderBy: [{ createdAt: DESC }]) { nodes { title author { name } } } }";

    let feed = async || {
        ask(&app, (&author, "author"), FEED, json!({})).await["feed"]["nodes"][0]["title"].clone()
    };

    assert_ne!(feed().await, "Zugzwang");
    let publish =
        "mutation ($id: UUID!) { updatePost(id: $id, patch: { draft: false }) { __typename } }";
    ask(&app, (&other, "editor"), publish, json!({ "id": id })).await;

    assert_eq!(feed().await, "Zugzwang");
}
