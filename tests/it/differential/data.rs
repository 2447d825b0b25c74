//! The rows, written once: as the views' SQL for svc, and as a tree for the reference.

use serde_json::{Value, json};

fn user(id: &str) -> Value {
    let users = [
        json!({"__typename": "User", "id": "u1", "name": "Ada \"the first\"", "nick": null, "role": "EDITOR",
            "age": 36, "score": 0.5, "tags": ["a", "b c"], "matrix": [[1, null], [], [-3]], "active": true}),
        json!({"__typename": "User", "id": "u2", "name": "Bö 🦀", "nick": "b\\n", "role": "READER",
            "age": null, "score": 3, "tags": [], "matrix": [], "active": false}),
        json!({"__typename": "User", "id": "u3", "name": "Cy\n\u{1}", "nick": "", "role": "AUTHOR",
            "age": -1, "score": -1234567.125, "tags": ["x"], "matrix": [[]], "active": true}),
    ];
    users.into_iter().find(|user| user["id"] == id).unwrap()
}

fn users() -> Vec<Value> {
    ["u1", "u2", "u3"].map(user).to_vec()
}

fn comment(id: &str, author: Option<&str>, replies: &[Value]) -> Value {
    let author = author.map(user);
    json!({"__typename": "Comment", "id": id, "body": format!("comment {id}"), "author": author, "replies": replies})
}

fn comments() -> Vec<Value> {
    let deep = comment("c7", Some("u1"), &[comment("c8", None, &[])]);
    vec![
        comment("c1", Some("u1"), &[]),
        comment("c2", None, &[comment("c5", Some("u3"), &[]), deep]),
        comment("c3", Some("u2"), &[comment("c6", Some("u2"), &[])]),
    ]
}

fn posts() -> Vec<Value> {
    let [first, second, third] = comments().try_into().unwrap();
    vec![
        json!({"__typename": "Post", "id": "p1", "title": "One", "body": null, "views": 0, "author": user("u1"),
            "comments": [first.clone(), second.clone()], "mentions": [user("u2"), null, second]}),
        json!({"__typename": "Post", "id": "p2", "title": "Two\t\u{2028}", "body": "text", "views": 2147483647,
            "author": user("u3"), "comments": [], "mentions": []}),
        json!({"__typename": "Post", "id": "p3", "title": "", "body": "", "views": -5, "author": user("u2"),
            "comments": [third], "mentions": [first]}),
    ]
}

fn part(id: &str, size: &Value, parts: &Value) -> Value {
    json!({"id": id, "size": size, "more": "none", "parts": parts})
}

/// Each row breaks other promises; those of the first are kept.
fn shaky() -> Vec<Value> {
    let good = part("k1", &json!(1), &Value::Null);
    let bad = part("k2", &Value::Null, &json!([]));
    let mixed = part("k3", &json!(3), &json!([good, bad]));
    let row = |id: &str, patch: Value| {
        let mut row = json!({"id": id, "must": 1, "may": 2, "word": "w", "role": "READER", "sure": "AUTHOR", "flag": true,
            "ints": [1], "perhaps": [1, 2], "holes": [1, null], "deep": [[1], null], "part": good, "need": good,
            "parts": [good], "some": [good, null]});
        for (name, value) in patch.as_object().unwrap() {
            row[name] = value.clone();
        }
        row
    };
    vec![
        row("s1", json!({})),
        row(
            "s2",
            json!({"may": null, "word": null, "role": null, "flag": null, "perhaps": [1, null, 3],
            "deep": [[1, null], [2]], "part": bad, "some": [bad, good, mixed]}),
        ),
        row(
            "s3",
            json!({"role": "NOBODY", "holes": [1, "x", null, {}], "deep": {}, "part": mixed, "some": "x"}),
        ),
        row("s4", json!({"need": bad, "must": null})),
        row("s5", json!({"parts": [good, null], "sure": null})),
        row("s6", json!({"ints": null, "sure": "NOBODY", "need": null})),
        row(
            "s7",
            json!({"ints": [1, 2, null], "parts": null, "deep": [["x"], 1]}),
        ),
    ]
}

/// The answer of a method, as the reference gets it.
fn add_methods(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_methods),
        Value::Object(fields) => {
            fields.values_mut().for_each(add_methods);
            let (kind, id) = (text(fields.get("__typename")), text(fields.get("id")));
            if kind == "User" {
                add_user_methods(value, &id);
            } else if kind == "Post" {
                value["echo"] = json!({"$echo": true});
            }
        }
        _ => {}
    }
}

fn add_user_methods(user: &mut Value, id: &str) {
    let failed = json!({"$error": "it fails"});
    let unless = |fails: &str, value: Value| if id == fails { failed.clone() } else { value };
    user["shout"] = text(user.get("name")).to_uppercase().into();
    user["slow"] = user["name"].clone();
    user["brittle"] = unless("u3", json!(1));
    user["brittleLater"] = unless("u2", json!(2));
    user["grid"] = json!([[1, null], [], [unless("u2", json!(0.25)), -2.5]]);
    user["strict"] = json!([[unless("u3", json!(10_000_000_000_i64))], [3]]);
    user["broken"] = failed;
    user["remark"] = comment("c9", None, &[]);
    user["remark"]["body"] = "from a method".into();
    user["echo"] = json!({"$echo": true});
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The root value for the reference.
pub(super) fn tree() -> Value {
    let nodes = || [comments(), posts(), users()].concat();
    let some_posts: Vec<Value> = posts().into_iter().chain([Value::Null]).collect();
    let found = || [comments(), users()].concat();
    let written = || [comments(), posts()].concat();
    let (failed, echo) = (json!({"$error": "it fails"}), json!({"$echo": true}));
    let mut root = json!({
        "users": users(), "posts": posts(), "comments": comments(), "nodes": nodes(), "found": found(),
        "user": {"$find": users()}, "certain": {"$find": users(), "$else": "no row"}, "oneShaky": {"$find": shaky()},
        "shakyColumns": shaky(), "shakyData": shaky(), "shakyTable": shaky(), "allUsers": users(),
        "somePosts": some_posts, "written": written(), "anyFound": users(), "foundRows": posts(),
        "nothing": null, "boom": failed, "mustBoom": failed, "echo": echo, "echoDefaults": echo, "echoNested": echo, "echoRequired": echo,
        "touch": echo, "fail": failed, "failHard": failed, "touchUsers": users(),
    });
    add_methods(&mut root);
    root
}

/// Tables and views with the same rows.
pub(super) fn sql() -> String {
    let table = |name: &str, rows: Vec<Value>| {
        let rows = Value::from(rows).to_string().replace('\'', "''");
        format!(
            "CREATE TABLE {name} AS SELECT data->>'id' AS id, data FROM jsonb_array_elements('{rows}') AS data;\n"
        )
    };
    let mut sql = String::new();
    sql += &table("tb_user", users());
    sql += &table("tb_post", posts());
    sql += &table("tv_comment", comments());
    sql += &table("tv_shaky", shaky());
    sql + VIEWS
}

const VIEWS: &str = "
CREATE VIEW v_user AS SELECT id, data->>'name' AS name, (data->>'age')::int AS age, (data->>'score')::float8 AS score,
    data->>'role' AS role, (data->>'active')::boolean AS active, data FROM tb_user;
CREATE VIEW v_post AS SELECT data FROM tb_post;
CREATE VIEW v_node AS
    SELECT 'Comment'::text AS __typename, id, data FROM tv_comment
    UNION ALL SELECT 'Post', id, data FROM tb_post UNION ALL SELECT 'User', id, data FROM tb_user;
CREATE VIEW v_found AS SELECT * FROM v_node WHERE __typename <> 'Post';
CREATE VIEW v_shaky_data AS SELECT data FROM tv_shaky;
CREATE VIEW v_shaky_columns AS SELECT id, (data->>'must')::int AS must, (data->>'may')::int AS may, data->>'word' AS word,
    data->>'role' AS role, data->>'sure' AS sure, (data->>'flag')::boolean AS flag, data FROM tv_shaky;
";
