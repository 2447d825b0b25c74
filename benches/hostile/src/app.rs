//! The server under attack: types that nest without end, and a view in a database that is away.

use std::net::SocketAddr;

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

    fn many(&self) -> Vec<Node> {
        vec![self.clone(); 3]
    }
}

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    name: String,
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

/// Serves on a free port with the limits that are on by default.
pub(crate) async fn serve() -> svc::Result<SocketAddr> {
    // The discard port: nothing listens there.
    let options = AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:9/nothing")
        .queries(queries![start, users, leaves, length]);
    let app = create_svc_app(options).await?;
    let server = svc::Server::bind(([127, 0, 0, 1], 0)).await?;
    let address = server.local_addr();
    tokio::spawn(server.run(app, std::future::pending()));
    Ok(address)
}
