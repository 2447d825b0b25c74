//! Documents that differ.

use serde_json::json;
use testbed::Request;

/// What can be selected of a user.
const FIELDS: [&str; 8] = ["id", "identifier", "name", "email", "bio", "city", "score", "createdAt"];

/// Requests that take turns.
pub(crate) struct Documents {
    pub(crate) name: String,
    pub(crate) requests: Vec<Request>,
}

/// The smallest good request.
pub(crate) fn probe() -> Request {
    Request::new("{ users(limit: 1) { id } }", &json!({}))
}

impl Documents {
    /// Documents that select different fields in different ways: each is a plan and a statement of its own.
    pub(crate) fn whole(count: usize) -> Self {
        Self { name: format!("{count} documents and statements"), requests: (0..count).map(whole).collect() }
    }

    /// Documents that differ in an alias only, so many that the cache of documents cannot hold them.
    pub(crate) fn short(count: usize) -> Self {
        let short = |number| Request::new(&format!("{{a{number}:users(limit:1){{id}}}}"), &json!({}));
        Self { name: format!("{count} short documents"), requests: (0..count).map(short).collect() }
    }
}

fn whole(number: usize) -> Request {
    let sets = (1 << FIELDS.len()) - 1;
    let (set, ways) = (1 + number % sets, number / sets);
    let chosen = FIELDS.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, name)| *name);
    let way = match ways % 4 {
        0 => "limit: $limit",
        1 => "limit: $limit, orderBy: [{ name: ASC }]",
        2 => "limit: $limit, orderBy: [{ createdAt: DESC }]",
        _ => "limit: $limit, where: { name: { contains: \"Ada\" } }",
    };
    let document = format!(
        "query Rotating{number}($limit: Int!) {{ found{ways}: users({way}) {{ {} }} }}",
        chosen.collect::<Vec<_>>().join(" ")
    );
    Request::new(&document, &json!({ "limit": 3 }))
}
