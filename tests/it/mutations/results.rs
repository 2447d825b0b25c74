//! Answers of functions, as clients get them.

use serde_json::{Value, json};
use svc_tests::App;

use super::schema::app;

const MAKE: &str = r#"mutation { createUser(input: {email: "a@b.c", fullName: "Ada", bio: "writes"}) { __typename } }"#;

async fn answer(app: &App, field: &str, answer: Value, selection: &str) -> svc_tests::Reply {
    let query = format!("mutation ($answer: JSON!) {{ {field}(answer: $answer) {selection} }}");
    app.query_with(&query, json!({ "answer": answer })).await
}

/// A function may give only the id: the entity is read from its view, with any selection.
#[tokio::test]
async fn an_entity_is_read_like_a_query_would() {
    let (app, database) = app().await;
    let query = r#"mutation {
        createUser(input: {email: "a@b.c", fullName: "Ada"}) {
            __typename
            ... on CreateUserSuccess { status message id updatedFields user { __typename id name loud slow home { firstLine } } }
            ... on CreateUserError { code }
        }
    }"#;
    let made = app.query(query).await.data()["createUser"].clone();
    let id = made["id"].clone();
    assert!(id.is_string());
    assert_eq!(
        made,
        json!({
            "__typename": "CreateUserSuccess", "status": "created", "message": "welcome", "id": id, "updatedFields": null,
            "user": { "__typename": "User", "id": id, "name": "Ada", "loud": "ADA", "slow": "ADA", "home": { "firstLine": "none" } },
        })
    );
    let before = database.statements("FROM \"v_user\"").await;
    let query = r#"mutation { createUser(input: {email: "d@e.f", fullName: "Bo"}) { ... on CreateUserSuccess { id } } }"#;
    app.query(query).await.data();
    assert_eq!(
        database.statements("FROM \"v_user\"").await,
        before,
        "nobody asked for the entity"
    );
    let only = app
        .query(r#"mutation { createUserOnly(input: {email: "x", fullName: "Xi"}) { name slow } }"#)
        .await;
    assert_eq!(
        only.data()["createUserOnly"],
        json!({ "name": "Xi", "slow": "XI" })
    );
}

/// `__typename` at every level, keys in the order of the request; aliases and fragments.
#[tokio::test]
async fn a_given_entity_has_any_selection() {
    let (app, _database) = app().await;
    app.query(MAKE).await.data();
    let query = r#"mutation {
        first: updateUser(email: "a@b.c", patch: {fullName: "Ada L.", bio: null}) { ...r }
        updateUser(email: "a@b.c", patch: {}) { __typename ... on UpdateUserSuccess { user { slow name } cascade } }
    }
    fragment r on UpdateUserResult { ... on UpdateUserSuccess { updatedFields user { bio n: name __typename role } t: __typename status } }"#;
    assert_eq!(
        app.query(query).await.text,
        concat!(
            r#"{"data":{"first":{"updatedFields":["bio","name"],"user":{"bio":null,"n":"Ada L.","__typename":"User","role":"MEMBER"},"#,
            r#""t":"UpdateUserSuccess","status":"updated"},"#,
            r#""updateUser":{"__typename":"UpdateUserSuccess","user":{"slow":"ADA L.","name":"Ada L."},"cascade":null}}}"#
        )
    );
}

/// A field that the function leaves out of the entity is read from the view.
#[tokio::test]
async fn a_partial_entity_is_completed_from_the_view() {
    let (app, database) = app().await;
    app.query(MAKE).await.data();
    let pool = database.pool().await;
    let id: String = sqlx::query_scalar("SELECT id::text FROM tb_user")
        .fetch_one(&pool)
        .await
        .unwrap();
    let half = json!({ "status": "updated", "entity": { "id": id, "full_name": "From JSON" } });
    let before = database.statements("FROM \"v_user\"").await;
    for (selection, user, reads) in [
        ("id name", json!({ "id": id, "name": "From JSON" }), 0),
        ("name bio", json!({ "name": "Ada", "bio": "writes" }), 1),
        ("loud", json!({ "loud": "ADA" }), 2),
        (
            "home { firstLine }",
            json!({ "home": { "firstLine": "none" } }),
            3,
        ),
    ] {
        let selection = format!("{{ ... on AnswerSuccess {{ user {{ {selection} }} }} }}");
        assert_eq!(
            answer(&app, "answer", half.clone(), &selection)
                .await
                .data()["answer"]["user"],
            user
        );
        assert_eq!(
            database.statements("FROM \"v_user\"").await - before,
            reads,
            "{selection}"
        );
    }
    assert_eq!(
        answer(&app, "answerUser", half, "{ bio slow }")
            .await
            .data()["answerUser"],
        json!({ "bio": "writes", "slow": "ADA" })
    );
    let gone = json!({ "status": "deleted", "entity": { "id": "00000000-0000-0000-0000-000000000000", "full_name": "Gone" } });
    let selection = "{ ... on AnswerSuccess { user { name bio } } }";
    assert_eq!(
        answer(&app, "answer", gone, selection).await.data()["answer"]["user"],
        json!({ "name": "Gone", "bio": null }),
        "what is no more is as the function gave it"
    );
}

#[tokio::test]
async fn a_result_may_have_no_entity() {
    let (app, _database) = app().await;
    app.query(MAKE).await.data();
    let query = r#"mutation { deleteUser(email: "a@b.c") {
        ... on DeleteUserSuccess { status id message } ... on DeleteUserError { status code message errors { identifier } } } }"#;
    let deleted = app.query(query).await.data()["deleteUser"].clone();
    assert_eq!(deleted["status"], "deleted");
    assert!(deleted["id"].is_string());
    assert_eq!(
        app.query(query).await.data()["deleteUser"],
        json!({ "status": "noop:absent", "code": 422, "message": "noop:absent", "errors": [{ "identifier": "absent" }] })
    );
}

/// No crash, and an error that says where.
#[tokio::test]
async fn a_missing_entity_of_a_non_null_field_is_an_error() {
    let (app, database) = app().await;
    database.execute("CREATE OR REPLACE FUNCTION app.create_user(input jsonb) RETURNS app.mutation_response LANGUAGE sql AS \
        $$ SELECT NULL::text, 'created'::text, NULL::jsonb, NULL::uuid, NULL::text, NULL::text[], NULL::jsonb, NULL::jsonb $$").await;
    for selection in ["user { name }", "user { loud }", "user { slow }"] {
        let query = format!(
            r#"mutation {{ createUser(input: {{email: "a", fullName: "A"}}) {{ ... on CreateUserSuccess {{ status {selection} }} }} }}"#
        );
        let reply = app.query(&query).await;
        assert_eq!(
            (reply.status, reply.json()["data"].clone()),
            (200, Value::Null),
            "{}",
            reply.text
        );
        assert_eq!(reply.code(), "NOT_READ");
        assert!(
            reply
                .message()
                .ends_with("Cannot return null for non-nullable field CreateUserSuccess.user.")
        );
        assert_eq!(
            reply.json()["errors"][0]["path"],
            json!(["createUser", "user"])
        );
    }
    let query = r#"mutation { createUser(input: {email: "a", fullName: "A"}) {
        ... on CreateUserSuccess { status } ... on CreateUserError { clash { loud } } } }"#;
    assert_eq!(
        app.query(query).await.data()["createUser"]["status"],
        "created",
        "nobody asked for the entity"
    );
}

#[tokio::test]
async fn metadata_fills_further_fields() {
    let (app, _database) = app().await;
    let both = "{ ... on AnswerSuccess { note metadata id } ... on AnswerError { retryAfter errors { code identifier message details } } }";
    let success =
        json!({ "status": "ok", "metadata": { "note": "by hand", "more": [1] }, "entity_id": 7 });
    assert_eq!(
        answer(&app, "answer", success, both).await.data()["answer"],
        json!({ "note": "by hand", "metadata": { "more": [1], "note": "by hand" }, "id": "7" })
    );
    let failure = json!({
        "status": "validation:", "message": "two things are wrong",
        "metadata": { "retry_after": 3, "errors": [
            { "identifier": "too_short", "message": "the name is too short", "details": { "field": "name" } },
            { "code": 409 },
        ] },
    });
    assert_eq!(
        answer(&app, "answer", failure, both).await.data()["answer"],
        json!({ "retryAfter": 3, "errors": [
            { "code": 422, "identifier": "too_short", "message": "the name is too short", "details": { "field": "name" } },
            { "code": 409, "identifier": "validation", "message": "two things are wrong", "details": null },
        ] })
    );
}

/// Numbers of any size in the metadata lose neither the errors nor the status.
#[tokio::test]
async fn numbers_in_metadata_keep_their_digits() {
    let (app, _database) = app().await;
    let long = "9".repeat(200);
    for number in [
        "1e300",
        &long,
        "0.12345678901234567890123",
        "-12345678901234567890",
    ] {
        let given = format!(
            r#"{{status: "conflict:x", metadata: {{errors: [{{identifier: "a", details: {{n: {number}}}}}, {{identifier: "b", details: [{number}]}}, 7]}}}}"#
        );
        let query = format!(
            "mutation {{ answer(answer: {given}) {{ ... on AnswerError {{ code errors {{ identifier details }} }} }} }}"
        );
        let reply = app.query(&query).await;
        let (data, stored) = (
            reply.data(),
            if number == "1e300" {
                format!("1{}", "0".repeat(300))
            } else {
                number.to_owned()
            },
        );
        assert_eq!(data["answer"]["code"], 409, "{}", reply.text);
        assert_eq!(
            data["answer"]["errors"][1]["identifier"], "b",
            "{}",
            reply.text
        );
        assert!(
            reply
                .text
                .contains(&format!(r#""details":{{"n":{stored}}}"#)),
            "{}",
            reply.text
        );
        assert!(
            reply.text.contains(&format!(r#""details":[{stored}]"#)),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn an_error_may_carry_an_entity() {
    let (app, database) = app().await;
    app.query(MAKE).await.data();
    let pool = database.pool().await;
    let id: String = sqlx::query_scalar("SELECT id::text FROM tb_user")
        .fetch_one(&pool)
        .await
        .unwrap();
    let noop = json!({ "status": "noop:exists", "entity_id": id });
    let selection = "{ ... on AnswerError { status user { name loud } } }";
    assert_eq!(
        answer(&app, "answer", noop, selection).await.data()["answer"],
        json!({ "status": "noop:exists", "user": { "name": "Ada", "loud": "ADA" } })
    );
}

#[tokio::test]
async fn an_answer_without_a_status_is_the_entity() {
    let (app, _database) = app().await;
    app.query(MAKE).await.data();
    for field in [
        r#"userJson(email: "a@b.c")"#,
        r#"userRow(email: "a@b.c")"#,
        "firstRow",
    ] {
        let query = format!("mutation {{ it: {field} {{ name role loud slow }} }}");
        let expected = json!({ "name": "Ada", "role": "MEMBER", "loud": "ADA", "slow": "ADA" });
        assert_eq!(app.query(&query).await.data()["it"], expected, "{field}");
    }
    for field in [r#"userJson(email: "x")"#, r#"userRow(email: "x")"#] {
        assert_eq!(
            app.query(&format!("mutation {{ it: {field} {{ name }} }}"))
                .await
                .data()["it"],
            Value::Null
        );
    }
    let query = r#"mutation { createUser(input: {email: "z", fullName: "Zoe"}) { __typename } userRows { email } slow: userRows { slow } counted }"#;
    let data = app.query(query).await.data();
    assert_eq!(
        data["userRows"],
        json!([{ "email": "a@b.c" }, { "email": "z" }])
    );
    assert_eq!(data["slow"], json!([{ "slow": "ADA" }, { "slow": "ZOE" }]));
    assert_eq!(data["counted"], 2);
    let order = json!({ "id": 1, "status": "open" });
    let selection =
        "{ ... on OrderSuccess { status id order { id status } } ... on OrderError { status } }";
    assert_eq!(
        answer(&app, "answerOrder", order.clone(), selection)
            .await
            .data()["answerOrder"],
        json!({ "status": "success", "id": "1", "order": order.clone() }),
        "an entity with a status of its own"
    );
    assert_eq!(
        answer(&app, "answerJson", order.clone(), "").await.data()["answerJson"],
        order
    );
    let failed = json!({ "status": "failed:sold_out", "message": "sold out" });
    assert_eq!(
        answer(&app, "answerJson", failed.clone(), "")
            .await
            .message(),
        "sold out"
    );
    assert_eq!(
        answer(&app, "answerOrder", failed, selection).await.data()["answerOrder"],
        json!({ "status": "failed:sold_out" })
    );
}

/// An entity of a union names its type, or the function does.
#[tokio::test]
async fn an_entity_of_a_union_has_a_type() {
    let (app, _database) = app().await;
    let selection = "{ ... on ThingSuccess { thing { __typename ... on Order { id } } } }";
    for answered in [
        json!({ "status": "ok", "entity": { "__typename": "Order", "id": 3, "status": "open" } }),
        json!({ "status": "ok", "entity": { "id": 3, "status": "open" }, "entity_type": "Order" }),
        json!({ "status": "ok", "entity": { "id": 3, "by": { "__typename": "User" } }, "entity_type": "Order" }),
    ] {
        let reply = answer(&app, "answerThing", answered, selection).await;
        assert_eq!(
            reply.data()["answerThing"]["thing"],
            json!({ "__typename": "Order", "id": 3 })
        );
    }
    let nameless = json!({ "status": "ok", "entity": { "id": 3 }, "entity_type": null });
    let reply = answer(&app, "answerThing", nameless, selection).await;
    assert_eq!(
        reply.json()["data"]["answerThing"],
        json!({ "thing": null })
    );
    assert_eq!(
        reply.json()["errors"][0]["path"],
        json!(["answerThing", "thing"])
    );
}

/// All of them run, in order; an Error member ends nothing.
#[tokio::test]
async fn several_mutations_run_in_order() {
    let (app, _database) = app().await;
    let make = |email: &str| {
        format!(r#"createUser(input: {{email: "{email}", fullName: "A"}}) {{ __typename }}"#)
    };
    let query = format!(
        "mutation {{ a: {} n1: counted b: {} n2: counted c: {} n3: counted }}",
        make("a"),
        make("a"),
        make("c")
    );
    assert_eq!(
        app.query(&query).await.text,
        r#"{"data":{"a":{"__typename":"CreateUserSuccess"},"n1":1,"b":{"__typename":"CreateUserError"},"n2":1,"c":{"__typename":"CreateUserSuccess"},"n3":2}}"#
    );
}
