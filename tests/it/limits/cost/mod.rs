//! Filters and orders cost: they are counted wherever they reach SQL.

mod expressions;
mod limits;
mod messages;
mod methods;
mod patterns;
mod statements;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Limits, Operation, SvcConfig};
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_user")]
pub(super) struct User {
    id: i32,
    name: String,
    tags: Vec<String>,
    meta: Option<svc::serde_json::Value>,
    address: Address,
    pets: Vec<Pet>,
    #[relation(to = "author_id")]
    posts: Many<Post>,
}

#[svc_type(sql_source = "v_post")]
pub(super) struct Post {
    id: i32,
    title: String,
    #[relation]
    author: One<User>,
}

#[svc_type]
pub(super) struct Address {
    city: String,
}

#[svc_type]
pub(super) struct Pet {
    name: String,
}

/// The statements that are prepared on the connection that reads them.
#[svc_type(sql_source = "v_prepared")]
pub(super) struct Prepared {
    id: String,
    statement: String,
}

#[svc_input]
struct Search {
    conditions: Option<Where<User>>,
    keys: Option<OrderBy<User>>,
    limit: Option<i32>,
}

#[svc::query]
async fn users() -> Vec<User>;
#[svc::query]
async fn named(name: Option<Vec<String>>) -> Vec<User>;
#[svc::query]
async fn user(id: i32) -> Option<User>;
#[svc::query]
async fn user_pages() -> Connection<User>;
#[svc::query]
async fn user_totals() -> Aggregate<User>;
#[svc::query]
async fn prepared() -> Vec<Prepared>;
#[svc::query]
async fn found(
    ctx: &Context<'_>,
    r#where: Option<Where<User>>,
    order_by: Option<OrderBy<User>>,
) -> Result<Find<User>> {
    Ok(ctx
        .db()
        .find::<User>()
        .apply_where(r#where)
        .apply_order_by(order_by))
}
#[svc::query]
async fn searched(ctx: &Context<'_>, search: Search) -> Result<i32> {
    let users = ctx
        .db()
        .find::<User>()
        .apply_where(search.conditions)
        .apply_order_by(search.keys);
    Ok(users
        .limit(search.limit.unwrap_or(20).try_into()?)
        .await?
        .len()
        .try_into()?)
}
#[svc::query]
async fn within(ctx: &Context<'_>, r#where: Option<Where<User>>) -> Result<i32> {
    let query = ctx.db().find::<User>().apply_where(r#where);
    Ok(ctx
        .db()
        .transaction()
        .await?
        .rows(query)
        .await?
        .len()
        .try_into()?)
}

const SQL: &str = "
CREATE TABLE tb_user (id int PRIMARY KEY, name text NOT NULL, tags text[] NOT NULL, meta jsonb, address jsonb, pets jsonb);
CREATE TABLE tb_post (id int PRIMARY KEY, title text NOT NULL, author_id int NOT NULL REFERENCES tb_user);
INSERT INTO tb_user SELECT n, 'user ' || n, ARRAY['a', 't' || n], '{\"k\": 1}', '{\"city\": \"Bern\"}', '[{\"name\": \"Rex\"}]'
  FROM generate_series(1, 5) n;
INSERT INTO tb_post SELECT n, 'post ' || n, n % 5 + 1 FROM generate_series(1, 10) n;
CREATE VIEW v_user AS SELECT * FROM tb_user;
CREATE VIEW v_post AS SELECT * FROM tb_post;
CREATE VIEW v_prepared AS SELECT name AS id, statement FROM pg_prepared_statements;
";

pub(super) const REGISTERED: [&str; 2] = [
    "query Registered($where: UserWhere, $keys: [UserOrderBy!]) { users(where: $where, orderBy: $keys) { id } }",
    "query Cached($where: UserWhere, $keys: [UserOrderBy!]) { users(where: $where, orderBy: $keys) { id } }",
];

pub(super) async fn app_with(config: SvcConfig, limits: Limits) -> App {
    let url = TestDatabase::shared("cost", SQL).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(url),
            pool_size: 1,
            ..config.database
        },
        schema: svc::SchemaConfig {
            auto_camel_case: true,
            ..config.schema
        },
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..config.operations
        },
        ..config
    };
    let cached = "SELECT (SELECT jsonb_agg(jsonb_build_object('id', id)) FROM v_user WHERE ($1::jsonb || $2) IS NULL) AS users";
    let options = AppOptions::new()
        .config(config)
        .limits(limits)
        .queries(queries![
            users,
            named,
            user,
            user_pages,
            user_totals,
            prepared,
            found,
            searched,
            within
        ])
        .operations([
            Operation::new(REGISTERED[0]),
            Operation::new(REGISTERED[1]).sql(cached),
        ]);
    App::serve(options).await
}

pub(super) async fn app() -> App {
    app_with(SvcConfig::default(), Limits::default()).await
}

/// The places where a client's filter or order of users reaches SQL, for literals.
const LITERALS: [&str; 7] = [
    "{ users(ARGS) { id } }",
    "{ users(limit: 1) { posts { author { posts(PARGS) { id } } } } }",
    "{ userPages(ARGS) { totalCount nodes { id } } }",
    "{ found(ARGS) { id } }",
    "{ u: users(ARGS) { id } }",
    "fragment F on Query { found(ARGS) { id } } { ...F }",
    "{ searched(search: {SARGS}) }",
];

/// The question, as an argument and as a variable of each place.
pub(super) struct Ask {
    /// `where` or `orderBy`.
    pub(super) argument: &'static str,
    pub(super) value: Value,
    /// The same for posts, where it can be.
    pub(super) of_posts: Value,
}

impl Ask {
    pub(super) fn filter(value: Value, of_posts: Value) -> Self {
        Self {
            argument: "where",
            value,
            of_posts,
        }
    }

    pub(super) fn order(value: Value, of_posts: Value) -> Self {
        Self {
            argument: "orderBy",
            value,
            of_posts,
        }
    }

    fn literals(&self) -> impl Iterator<Item = String> {
        let args = format!("{}: {}", self.argument, literal(&self.value));
        let of_posts = format!("{}: {}", self.argument, literal(&self.of_posts));
        let name = if self.argument == "where" {
            "conditions"
        } else {
            "keys"
        };
        let in_search = format!("{name}: {}", literal(&self.value));
        LITERALS.iter().map(move |document| {
            document
                .replace("SARGS", &in_search)
                .replace("PARGS", &of_posts)
                .replace("ARGS", &args)
        })
    }

    /// The answers of every path, and what was asked.
    pub(super) async fn everywhere(&self, app: &App) -> Vec<(String, Reply)> {
        let mut replies = Vec::new();
        for document in self.literals() {
            let reply = app.query(&document).await;
            replies.push((document, reply));
        }
        let (argument, ty) = match self.argument {
            "where" => ("where", "UserWhere"),
            _ => ("orderBy", "[UserOrderBy!]"),
        };
        let search = if argument == "where" {
            "conditions"
        } else {
            "keys"
        };
        for field in [
            "users(ARG: $v) { id }",
            "userPages(ARG: $v) { totalCount nodes { id } }",
            "found(ARG: $v) { id }",
        ] {
            let document = format!("query ($v: {ty}) {{ {} }}", field.replace("ARG", argument));
            let reply = app.query_with(&document, json!({ "v": self.value })).await;
            replies.push((document, reply));
        }
        let document = format!("query ($v: {ty}) {{ searched(search: {{ {search}: $v }}) }}");
        replies.push((
            document.clone(),
            app.query_with(&document, json!({ "v": self.value })).await,
        ));
        let document = "query ($v: Search!) { searched(search: $v) }";
        let search = json!({ "v": { search: self.value } });
        replies.push((document.to_owned(), app.query_with(document, search).await));
        let name = if argument == "where" { "where" } else { "keys" };
        for id in ["Registered", "Cached"] {
            let body = json!({ "documentId": id, "variables": { name: self.value } });
            replies.push((id.to_owned(), app.post(&body).await));
            let request = app
                .request("POST", "/graphql/rust")
                .header("content-type", "application/json");
            replies.push((
                format!("rust {id}"),
                app.send(request.body(body.to_string())).await,
            ));
        }
        replies
    }

    /// Asserts that every path refuses it, with this code and these words in the message.
    pub(super) async fn is_refused(&self, app: &App, code: &str, words: &[&str]) {
        for (what, reply) in self.everywhere(app).await {
            assert_eq!(reply.code(), code, "{what}: {}", reply.text);
            for word in words {
                assert!(reply.message().contains(word), "{what}: {}", reply.text);
            }
            assert!(reply.json().get("data").is_none(), "{what}: {}", reply.text);
        }
    }

    /// Asserts that every path answers.
    pub(super) async fn is_answered(&self, app: &App) {
        for (what, reply) in self.everywhere(app).await {
            assert!(
                reply.json().get("errors").is_none(),
                "{what}: {}",
                reply.text
            );
        }
    }
}

/// A value as a literal of GraphQL; texts in capitals are enum values.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(literal).collect::<Vec<_>>().join(" ")
        ),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name}: {}", literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(" "))
        }
        Value::String(text) if text == "ASC" || text == "DESC" => text.clone(),
        other => other.to_string(),
    }
}

/// A condition that follows `hops` relations, one inside the other, from users or from posts.
pub(super) fn chain(hops: usize, from_users: bool, quantifier: &str) -> Value {
    match (hops, from_users) {
        (0, true) => json!({ "name": { "eq": "x" } }),
        (0, false) => json!({ "title": { "eq": "x" } }),
        (_, true) => json!({ "posts": { quantifier: chain(hops - 1, false, quantifier) } }),
        (_, false) => json!({ "author": chain(hops - 1, true, quantifier) }),
    }
}
