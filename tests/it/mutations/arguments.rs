//! Functions get their arguments with stored names and values.

use serde_json::json;

use super::schema::app;

/// Nested objects and lists arrive with the stored names, enum values as they are stored.
#[tokio::test]
async fn an_input_object_arrives_as_one_document() {
    let (app, _database) = app().await;
    let query = r#"mutation ($tags: [String!]!) {
        createUser(input: {email: "a@b.c", fullName: "Ada", role: ADMIN, home: {firstLine: "2 Low Road", tags: $tags}}) {
            ... on CreateUserSuccess { user { name role home { firstLine tags } } }
        }
    }"#;
    let reply = app
        .query_with(query, json!({ "tags": ["x", "it's \"$1\""] }))
        .await;
    assert_eq!(
        reply.data()["createUser"]["user"],
        json!({ "name": "Ada", "role": "ADMIN", "home": { "firstLine": "2 Low Road", "tags": ["x", "it's \"$1\""] } })
    );
}

/// An absent key leaves the column, an explicit null clears it.
#[tokio::test]
async fn absent_keys_keep_their_column_and_null_clears_it() {
    let (app, _database) = app().await;
    let make = r#"mutation { createUser(input: {email: "a@b.c", fullName: "Ada", bio: "writes"}) { __typename } }"#;
    app.query(make).await.data();
    let patch = |patch: &str| {
        format!(r#"mutation {{ patchUser(email: "a@b.c", patch: {patch}) {{ name bio }} }}"#)
    };
    for (given, name, bio) in [
        ("{}", "Ada", json!("writes")),
        (r#"{fullName: "Ada L."}"#, "Ada L.", json!("writes")),
        ("{bio: null}", "Ada L.", json!(null)),
        (r#"{bio: "reads", fullName: "Ada"}"#, "Ada", json!("reads")),
    ] {
        assert_eq!(
            app.query(&patch(given)).await.data()["patchUser"],
            json!({ "name": name, "bio": bio }),
            "{given}"
        );
    }
    let query =
        r#"mutation ($bio: String) { patchUser(email: "a@b.c", patch: {bio: $bio}) { bio } }"#;
    assert_eq!(
        app.query_with(query, json!({})).await.data()["patchUser"]["bio"],
        "reads",
        "an absent variable"
    );
    assert_eq!(
        app.query_with(query, json!({ "bio": null })).await.data()["patchUser"]["bio"],
        json!(null)
    );
}

/// A text cannot be blank, also one that can be left out; rows that are there already can.
#[tokio::test]
async fn a_text_is_not_blank() {
    let (app, database) = app().await;
    for blank in ["", " ", "\\t\\n "] {
        let query = format!(
            r#"mutation {{ createUser(input: {{email: "a@b.c", fullName: "{blank}"}}) {{ __typename }} }}"#
        );
        let reply = app.query(&query).await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{query}");
        assert_eq!(
            reply.message(),
            "argument `input.full_name`: write something; a blank text is not enough"
        );
    }
    let query = r#"mutation { createUser(input: {email: "a", fullName: "A", home: {firstLine: " ", tags: []}}) { __typename } }"#;
    assert_eq!(
        app.query(query).await.message(),
        "argument `input.home.first_line`: write something; a blank text is not enough"
    );
    for (query, field) in [
        (
            r#"mutation { createUser(input: {email: "a", fullName: "A", bio: " "}) { __typename } }"#,
            "input.bio",
        ),
        (
            r#"mutation { patchUser(email: "a@b.c", patch: {bio: ""}) { bio } }"#,
            "patch.bio",
        ),
    ] {
        let message = format!("argument `{field}`: write something; a blank text is not enough");
        assert_eq!(app.query(query).await.message(), message);
    }
    let query =
        r#"mutation { createUser(input: {email: "a", fullName: "A", nick: " "}) { __typename } }"#;
    assert_eq!(
        app.query(query).await.data()["createUser"]["__typename"],
        "CreateUserSuccess",
        "`allow_blank`"
    );
    database.execute("DELETE FROM tb_user").await;
    database
        .execute("INSERT INTO tb_user (email, full_name, bio) VALUES ('', ' ', '')")
        .await;
    assert_eq!(
        app.query("{ users { email name bio loud } }").await.data()["users"],
        json!([{ "email": "", "name": " ", "bio": "", "loud": " " }])
    );
}

/// A Rust type that is narrower than its scalar keeps its rule.
#[tokio::test]
async fn a_narrower_rust_type_limits_its_argument() {
    let (app, _database) = app().await;
    let query =
        r#"mutation { createUser(input: {email: "a", fullName: "A", age: 300}) { __typename } }"#;
    let reply = app.query(query).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
    assert!(
        reply
            .message()
            .starts_with("argument `input.age`: expected a 32-bit integer, found 300"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn scalars_are_cast_to_the_types_of_the_parameters() {
    let (app, _database) = app().await;
    let query = r#"mutation ($n: [Int]!, $any: JSON!) { typed(
        id: "6F9619FF-8B86-D011-B42D-00C04FC964FF", at: "2024-02-03T04:05:06+02:00", numbers: $n, words: ["a,b", "{\"}"],
        role: ADMIN, price: "12.5", flag: true, anything: $any) }"#;
    let any = json!({ "deep": [1, { "full_name": null }], "fullName": "as given" });
    let reply = app
        .query_with(query, json!({ "n": [3, null, -1], "any": any }))
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"typed":["uuid","2024-02-03T02:05:06",[3,null,-1],["a,b","{\"}"],"admin",12.5,true,{"deep":[1,{"full_name":null}],"fullName":"as given"}]}}"#
    );
}

#[tokio::test]
async fn an_absent_argument_leaves_the_default_of_the_parameter() {
    let (app, _database) = app().await;
    for (args, sum) in [
        ("a: 1", 111),
        ("a: 1, b: 2", 103),
        ("a: 1, c: 3", 14),
        ("a: 1, b: 2, c: 3", 6),
    ] {
        assert_eq!(
            app.query(&format!("mutation {{ add({args}) }}"))
                .await
                .data()["add"],
            sum,
            "{args}"
        );
    }
    let null = app.query("mutation { add(a: 1, b: null) }").await;
    assert_eq!(
        null.json()["data"],
        json!(null),
        "null is null, not the default: {}",
        null.text
    );
}

/// One name may begin with another.
#[tokio::test]
async fn names_that_begin_alike_do_not_collide() {
    let (app, _database) = app().await;
    let query = r#"mutation {
        createUser(input: {email: "a@b.c", fullName: "Ada"}) { __typename }
        createUserProfile(email: "a@b.c")
        other: createUserProfile(email: "a@b.c", bio: "set")
        none: createUserProfile(email: "nobody")
    }"#;
    let expected = r#"{"data":{"createUser":{"__typename":"CreateUserSuccess"},"createUserProfile":"nothing yet","other":"set","none":null}}"#;
    assert_eq!(app.query(query).await.text, expected);
}

#[tokio::test]
async fn context_values_precede_the_arguments_of_a_call() {
    let (app, _database) = app().await;
    let send = |tenant: &'static str, user: &'static str| {
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let request = request.header("x-tenant", tenant).header("x-user", user);
        app.send(request.body(r#"{"query": "mutation { withContext(word: \"hello\") }"}"#))
    };
    let tenant = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
    let reply = send(tenant, "ada").await;
    assert_eq!(reply.data()["withContext"], format!("{tenant} ada hello"));
    assert_eq!(send(tenant, "nobody").await.code(), "UNAUTHENTICATED");
    assert_eq!(send("no uuid", "ada").await.code(), "BAD_USER_INPUT");
    assert_eq!(
        app.query("mutation { withContext(word: \"hi\") }")
            .await
            .data()["withContext"],
        "hi"
    );
}

#[tokio::test]
async fn overloads_are_resolved_by_their_arguments() {
    let (app, _database) = app().await;
    assert_eq!(
        app.query("mutation { one(a: 1) two(a: 1, b: 2) }")
            .await
            .data(),
        json!({ "one": "one", "two": "two" })
    );
}

/// No text breaks the statement.
#[tokio::test]
async fn hostile_texts_stay_texts() {
    let (app, _database) = app().await;
    for text in [
        "'; DROP TABLE tb_user; --",
        "$1",
        "%s",
        "{0}",
        "\\",
        "\"",
        "\u{2028}",
        "null",
    ] {
        let answer = json!({ "text": text });
        let query = "mutation ($answer: JSON!) { answerJson(answer: $answer) }";
        assert_eq!(
            app.query_with(query, json!({ "answer": answer }))
                .await
                .data()["answerJson"],
            answer
        );
        let query = "mutation ($bio: String!) { createUserProfile(email: $bio, bio: $bio) }";
        assert_eq!(
            app.query_with(query, json!({ "bio": text })).await.data()["createUserProfile"],
            json!(null)
        );
    }
    for value in [
        json!("a\u{0}b"),
        json!({ "a": ["\u{0}"] }),
        json!({ "\u{0}": 1 }),
    ] {
        let query = "mutation ($answer: JSON!) { answerJson(answer: $answer) }";
        let reply = app.query_with(query, json!({ "answer": value })).await;
        assert_eq!(
            (reply.code(), reply.message()),
            (
                "BAD_USER_INPUT".into(),
                "strings cannot contain the character U+0000".into()
            )
        );
    }
}
