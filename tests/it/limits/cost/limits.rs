//! Each limit, on every path, for literals and variables alike.

use serde_json::{Value, json};
use svc::{Limits, SvcConfig};

use super::{Ask, app, app_with, chain};

fn repeated(count: usize, condition: &Value) -> Value {
    json!({ "OR": vec![condition; count] })
}

#[tokio::test]
async fn hops_are_counted() {
    let app = app().await;
    for quantifier in ["some", "none", "every"] {
        let refused = Ask::filter(chain(5, true, quantifier), chain(5, false, quantifier));
        refused
            .is_refused(
                &app,
                "QUERY_TOO_COMPLEX",
                &["have 15 hops", "at most 12", "SVC_LIMIT_HOPS"],
            )
            .await;
        Ask::filter(chain(4, true, quantifier), chain(4, false, quantifier))
            .is_answered(&app)
            .await;
    }
    // Those side by side count one each.
    let (user, post) = (chain(1, true, "some"), chain(1, false, "some"));
    let refused = Ask::filter(repeated(13, &user), repeated(13, &post));
    refused
        .is_refused(
            &app,
            "QUERY_TOO_COMPLEX",
            &["have 13 hops", "at most 12", "SVC_LIMIT_HOPS"],
        )
        .await;
    Ask::filter(repeated(12, &user), repeated(12, &post))
        .is_answered(&app)
        .await;
}

#[tokio::test]
async fn nested_conditions_count_as_levels() {
    let app = app().await;
    let nested =
        |levels: usize, inner: Value| (0..levels).fold(inner, |inner, _| json!({ "NOT": inner }));
    let (user, post) = (
        json!({ "name": { "eq": "x" } }),
        json!({ "title": { "eq": "x" } }),
    );
    Ask::filter(nested(15, user.clone()), nested(12, post.clone()))
        .is_refused(
            &app,
            "QUERY_TOO_DEEP",
            &["has 16 levels", "at most 15", "SVC_LIMIT_DEPTH"],
        )
        .await;
    Ask::filter(nested(14, user.clone()), nested(11, post.clone()))
        .is_answered(&app)
        .await;
    // 30 relations, one inside the other, in less than a kilobyte.
    Ask::filter(chain(30, true, "some"), chain(30, false, "some"))
        .is_refused(&app, "QUERY_TOO_DEEP", &["at most 15", "SVC_LIMIT_DEPTH"])
        .await;
    for joined in ["AND", "OR"] {
        let nested = |levels: usize, inner: Value| {
            (0..levels).fold(inner, |inner, _| json!({ joined: [inner] }))
        };
        Ask::filter(nested(15, user.clone()), nested(12, post.clone()))
            .is_refused(&app, "QUERY_TOO_DEEP", &["SVC_LIMIT_DEPTH"])
            .await;
    }
}

#[tokio::test]
async fn comparisons_are_counted() {
    let app = app().await;
    let (user, post) = (
        json!({ "name": { "eq": "x" } }),
        json!({ "title": { "eq": "x" } }),
    );
    let message = [
        "has 201 comparisons",
        "at most 200",
        "SVC_LIMIT_COMPARISONS",
    ];
    Ask::filter(repeated(201, &user), repeated(201, &post))
        .is_refused(&app, "QUERY_TOO_COMPLEX", &message)
        .await;
    Ask::filter(repeated(200, &user), repeated(200, &post))
        .is_answered(&app)
        .await;
    // Nothing is free that is written: empty conditions, several operators of one field, embedded
    // objects and lists.
    for (condition, each) in [
        (json!({}), 1),
        (json!({ "name": {} }), 1),
        (json!({ "AND": [] }), 1),
        (
            json!({ "name": { "eq": "x", "neq": "y" }, "id": { "gt": 1 } }),
            3,
        ),
        (json!({ "address": { "city": { "eq": "x" } } }), 1),
        (
            json!({ "pets": { "some": { "name": { "eq": "x" } }, "none": {} } }),
            4,
        ),
        (
            json!({ "meta": { "contains": { "a": { "b": { "c": [1, 2] } } } } }),
            1,
        ),
        (json!({ "id": { "in": vec![7; 100] } }), 3),
        // Those that read each text in full cost PostgreSQL a multiple.
        (json!({ "name": { "contains": "x" } }), 1),
        (json!({ "name": { "icontains": "x" } }), 4),
        (
            json!({ "name": { "istartswith": "x", "iendswith": "x" } }),
            8,
        ),
        (json!({ "name": { "ilike": "x" } }), 4),
        (json!({ "name": { "matches": "x", "imatches": "x" } }), 20),
        (json!({ "meta": { "pathExists": "$.x" } }), 10),
    ] {
        let count = 200 / each;
        let over = format!("has {} comparisons", (count + 1) * each);
        for (count, is_refused) in [(count, false), (count + 1, true)] {
            let document = "query ($w: UserWhere) { users(where: $w) { id } }";
            let reply = app
                .query_with(document, json!({ "w": repeated(count, &condition) }))
                .await;
            if is_refused {
                assert!(
                    reply.message().contains(&over),
                    "{condition}: {}",
                    reply.text
                );
            } else {
                reply.data();
            }
        }
    }
}

#[tokio::test]
async fn lists_of_values_are_counted() {
    let app = app().await;
    let ids = |count: i32| (0..count).collect::<Vec<_>>();
    let (most, over) = (9_999, 10_000);
    for (document, name) in [
        (
            "query ($v: [Int!]) { users(where: {id: {in: $v}}) { id } }",
            "v",
        ),
        (
            "query ($v: [Int!]) { users(where: {id: {nin: $v}}, limit: 1) { id } }",
            "v",
        ),
        (
            "query ($v: [Int!]) { found(where: {id: {in: $v}}) { id } }",
            "v",
        ),
        (
            "query ($v: [Int!]) { users(limit: 1) { posts(where: {author: {id: {in: $v}}}) { id } } }",
            "v",
        ),
        (
            "query ($v: [Int!]) { userPages(where: {AND: [{id: {in: $v}}]}) { totalCount } }",
            "v",
        ),
        (
            "query ($v: [Int!]) { userTotals(where: {NOT: {id: {in: $v}}}) { count } }",
            "v",
        ),
    ] {
        let reply = app.query_with(document, json!({ name: ids(over) })).await;
        assert_eq!(
            reply.code(),
            "QUERY_TOO_COMPLEX",
            "{document}: {}",
            reply.text
        );
        assert!(
            reply.message().contains("has 201 comparisons"),
            "{document}: {}",
            reply.text
        );
        app.query_with(document, json!({ name: ids(most) }))
            .await
            .data();
        // The plan remembers nothing of other variables.
        assert_eq!(
            app.query_with(document, json!({ name: ids(over) }))
                .await
                .code(),
            "QUERY_TOO_COMPLEX"
        );
    }
    let names: Vec<_> = (0..over).map(|n| n.to_string()).collect();
    let document = "query ($v: [String!]) { named(name: $v) { id } }";
    assert_eq!(
        app.query_with(document, json!({ "v": names })).await.code(),
        "QUERY_TOO_COMPLEX"
    );
    app.query_with(document, json!({ "v": names[1..] }))
        .await
        .data();
}

#[tokio::test]
async fn order_keys_are_counted() {
    let app = app().await;
    let (user, post) = (json!({ "name": "DESC" }), json!({ "title": "DESC" }));
    let refused = Ask::order(json!(vec![&user; 51]), json!(vec![&post; 51]));
    refused
        .is_refused(
            &app,
            "QUERY_TOO_COMPLEX",
            &["has 51 keys", "at most 50", "SVC_LIMIT_ORDER_KEYS"],
        )
        .await;
    let ask = Ask::order(json!(vec![&user; 50]), json!(vec![&post; 50]));
    ask.is_answered(&app).await;
    // A path through relations.
    let far = |count: usize| json!(vec![json!({ "author": { "name": "ASC" } }); count]);
    let document = "query ($v: [PostOrderBy!]) { users(limit: 1) { posts(orderBy: $v) { id } } }";
    assert!(
        app.query_with(document, json!({ "v": far(13) }))
            .await
            .message()
            .contains("have 13 hops")
    );
    app.query_with(document, json!({ "v": far(12) }))
        .await
        .data();
    // Embedded objects are levels.
    let reply = app
        .query("{ users(orderBy: [{address: {city: ASC}}]) { id } }")
        .await;
    reply.data();
}

/// A statement repeats the conditions of an aggregate for each list of groups.
#[tokio::test]
async fn each_group_list_counts_its_conditions_again() {
    let app = app().await;
    let groups = |count: usize| {
        (0..count)
            .map(|n| format!("g{n}: groups(by: [NAME]) {{ count key {{ name }} }} "))
            .collect::<String>()
    };
    let document = |count: usize| {
        format!(
            "query ($w: UserWhere) {{ userTotals(where: $w) {{ count {} }} }}",
            groups(count)
        )
    };
    let variables = json!({ "w": chain(2, true, "some") });
    app.query_with(&document(3), variables.clone()).await.data();
    let reply = app.query_with(&document(4), variables).await;
    assert_eq!(
        (
            reply.code().as_str(),
            reply.message().contains("have 15 hops")
        ),
        ("QUERY_TOO_COMPLEX", true),
        "{}",
        reply.text
    );
    let keys: String = (0..51).map(|_| "{count: DESC} ").collect();
    let reply = app
        .query(&format!("{{ userTotals {{ groups(by: [NAME], orderBy: [{keys}]) {{ count key {{ name }} }} }} }}"))
        .await;
    assert!(
        reply.message().contains("SVC_LIMIT_ORDER_KEYS"),
        "{}",
        reply.text
    );
}

/// All root fields, aliases and fragments count together, and so do selected relations.
#[tokio::test]
async fn an_operation_is_counted_as_a_whole() {
    let app = app().await;
    let roots = |count: usize| {
        (0..count)
            .map(|n| format!("a{n}: users(where: {{posts: {{some: {{}}}}}}) {{ id }} "))
            .collect::<String>()
    };
    assert!(
        app.query(&format!("{{ {} }}", roots(13)))
            .await
            .message()
            .contains("have 13 hops")
    );
    app.query(&format!("{{ {} }}", roots(12))).await.data();
    // Two relations a level, eight levels: 510 relations in a short document.
    let mut document = "{ users(limit: 0) { ...F0 } }".to_owned();
    for level in 0..8 {
        let (on, field) = if level % 2 == 0 {
            ("User", "posts(limit: 0)")
        } else {
            ("Post", "author")
        };
        let below = if level == 7 {
            "id".to_owned()
        } else {
            format!("...F{}", level + 1)
        };
        document += &format!(
            " fragment F{level} on {on} {{ a: {field} {{ {below} }} b: {field} {{ {below} }} }}"
        );
    }
    let reply = app.query(&document).await;
    assert_eq!(reply.code(), "QUERY_TOO_COMPLEX", "{}", reply.text);
    assert!(
        reply
            .message()
            .contains("selects 510 relations; at most 100 are allowed (SVC_LIMIT_RELATIONS)"),
        "{}",
        reply.text
    );
    // A filter inside a list is run for each row of it.
    let reply = app
        .query(
            "{ users(limit: 1000) { posts(limit: 1, where: {OR: [{id: {eq: 1}}, {id: {eq: 2}}, {id: {eq: 3}}, \
        {id: {eq: 4}}, {id: {eq: 5}}, {id: {eq: 6}}, {id: {eq: 7}}, {id: {eq: 8}}]}) { id } } }",
        )
        .await;
    assert!(
        reply.message().contains("complexity of 10001"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn every_limit_can_be_set() {
    let limits = Limits {
        hops: 21,
        comparisons: 1_000,
        order_keys: 3,
        depth: 20,
        ..Limits::default()
    };
    let app = app_with(SvcConfig::default(), limits).await;
    let ask = |value: Value| json!({ "w": value });
    let document = "query ($w: UserWhere) { users(where: $w) { id } }";
    app.query_with(document, ask(chain(6, true, "some")))
        .await
        .data();
    assert!(
        app.query_with(document, ask(chain(7, true, "some")))
            .await
            .message()
            .contains("at most 21")
    );
    app.query_with(
        document,
        ask(repeated(1_000, &json!({ "id": { "eq": 1 } }))),
    )
    .await
    .data();
    let reply = app
        .query(
            "{ users(orderBy: [{id: ASC, name: ASC, address: {city: ASC}}, {id: DESC}]) { id } }",
        )
        .await;
    assert!(
        reply
            .message()
            .contains("has 4 keys in its orders and groups; at most 3 are allowed"),
        "{}",
        reply.text
    );
    let none = Limits {
        hops: 0,
        ..Limits::default()
    };
    let app = app_with(SvcConfig::default(), none).await;
    assert!(
        app.query_with(document, ask(chain(1, true, "some")))
            .await
            .message()
            .contains("at most 0")
    );
    app.query_with(document, ask(chain(0, true, "some")))
        .await
        .data();
}
