//! The server under attack: types that nest without end, in Rust and in views.

use svc::ProtectionConfig;
use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;

#[svc_type]
#[derive(Clone)]
struct Node {
    id: i32,
}

#[svc_type]
impl Node {
    fn next(&self) -> Node {
        Node { id: self.id + 1 }
    }

    fn other(&self) -> Node {
        Node { id: self.id + 1 }
    }

    fn many(&self) -> Vec<Node> {
        vec![self.clone(); 3]
    }
}

#[svc_type(sql_source = "v_user")]
struct User {
    id: i32,
    name: String,
    city: String,
    #[relation(to = "author_id")]
    posts: Many<Post>,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
    title: String,
    body: String,
    author_id: i32,
    #[relation]
    author: One<User>,
}

/// Its view has no columns for these.
#[svc_type(sql_source = "v_draft")]
struct Draft {
    id: i32,
    name: String,
    city: String,
    meta: svc::serde_json::Value,
}

#[svc_input]
struct Tree {
    leaf: Option<i32>,
    branches: Option<Vec<Tree>>,
}

#[svc::query]
fn start() -> Node {
    Node { id: 0 }
}

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
async fn posts() -> Vec<Post>;

#[svc::query]
async fn drafts() -> Vec<Draft>;

#[svc::query]
fn leaves(tree: Tree) -> i32 {
    fn count(tree: &Tree) -> i32 {
        tree.leaf.map_or(0, |_| 1) + tree.branches.iter().flatten().map(count).sum::<i32>()
    }
    count(&tree)
}

#[svc::query]
fn length(text: String) -> i32 {
    text.len().try_into().unwrap_or(i32::MAX)
}

#[svc::query]
fn echo(json: svc::serde_json::Value) -> bool {
    !json.is_null()
}

#[svc::subscription]
fn ticks(count: i32) -> impl Stream<Item = i32> {
    stream::iter(1..=count)
}

#[svc::subscription]
fn forever() -> impl Stream<Item = i32> {
    stream::iter([1]).chain(stream::pending())
}

/// The tables that the server reads.
pub(crate) const SQL: &str = "
    CREATE TABLE tb_user AS SELECT n AS id, 'name ' || n AS name, 'city ' || n % 10 AS city
        FROM generate_series(1, 100) AS n;
    CREATE TABLE tb_post AS SELECT n AS id, 'title ' || n AS title, 'body ' || n AS body, n % 100 + 1 AS author_id
        FROM generate_series(1, 1000) AS n;
    ALTER TABLE tb_user ADD PRIMARY KEY (id);
    ALTER TABLE tb_post ADD PRIMARY KEY (id);
    CREATE INDEX ON tb_post (author_id);
    CREATE VIEW v_user AS SELECT * FROM tb_user;
    CREATE VIEW v_post AS SELECT * FROM tb_post;
    CREATE VIEW v_draft AS SELECT id, jsonb_build_object('id', id, 'name', title, 'city', body, 'meta',
        jsonb_build_object('author', author_id)) AS data FROM tb_post;
    ANALYZE";

/// Serves a database with the limits that are on by default, and batches.
pub(crate) async fn serve(database: &str, port: u16) -> svc::Result<()> {
    let protection = ProtectionConfig {
        batch_max: 10,
        ..ProtectionConfig::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig {
            protection,
            ..SvcConfig::default()
        })
        .database_url(database)
        .queries(queries![start, users, posts, drafts, leaves, length, echo])
        .subscriptions(subscriptions![ticks, forever]);
    let app = create_svc_app(options).await?;
    svc::Server::bind(([127, 0, 0, 1], port))
        .await?
        .run(app, std::future::pending())
        .await;
    Ok(())
}
