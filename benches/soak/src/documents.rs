//! Documents that differ.

use serde_json::json;
use testbed::Request;

/// The fields of a user that can be selected.
const FIELDS: [&str; 8] = [
    "id",
    "identifier",
    "name",
    "email",
    "bio",
    "city",
    "score",
    "createdAt",
];

/// Requests that take turns.
pub(crate) struct Documents {
    pub(crate) name: String,
    pub(crate) requests: Vec<Request>,
    /// Bytes that memory may gain when each is sent once; `None` where they are sent over and over.
    pub(crate) room: Option<u64>,
}

/// The capacity of the cache of documents, by default.
const CACHE: u64 = 64 << 20;

/// The smallest good request.
pub(crate) fn probe() -> Request {
    Request::new("{ users(limit: 1) { id } }", &json!({}))
}

impl Documents {
    /// Documents that select different fields in different ways: each is a plan and a statement of
    /// its own.
    pub(crate) fn whole(count: usize) -> Self {
        Self {
            name: format!("{count} documents and statements"),
            requests: (0..count).map(whole).collect(),
            room: None,
        }
    }

    /// Documents that differ in an alias only, so many that the cache of documents cannot hold
    /// them.
    pub(crate) fn short(count: usize) -> Self {
        let short =
            |number| Request::new(&format!("{{a{number}:users(limit:1){{id}}}}"), &json!({}));
        Self {
            name: format!("{count} short documents"),
            requests: (0..count).map(short).collect(),
            room: None,
        }
    }
}

impl Documents {
    /// Documents that spread other subsets of fragments below each alias, and have another plan for
    /// each combination of their conditions. They are sent in one combination each.
    pub(crate) fn combined(count: usize) -> Self {
        let name = format!("{count} documents of 33 subsets of 7 fragments");
        Self {
            name,
            requests: (0..count).map(combined).collect(),
            room: Some(CACHE),
        }
    }
}

fn combined(number: usize) -> Request {
    let subset = |alias: usize| {
        let spreads = (0..7)
            .filter(|bit| (127 - alias) >> bit & 1 == 1)
            .map(|bit| format!("...f{bit} "));
        format!(
            "a{alias}: posts(limit: 1) {{ {} }} ",
            spreads.collect::<String>()
        )
    };
    let user = "id identifier name email bio city score createdAt";
    let fragment = |bit: usize| {
        let condition = format!("@include(if: $v{})", bit % 5);
        let comments = format!("comments(limit: 1) {{ id body createdAt author {{ {user} }} }}");
        format!(
            "fragment f{bit} on Post {{ id title createdAt author {condition} {{ {user} }} {comments} }} "
        )
    };
    let document = format!(
        "query Combined{number}($v0: Boolean!, $v1: Boolean!, $v2: Boolean!, $v3: Boolean!, $v4: Boolean!) {{ {} }} {}",
        (0..33).map(subset).collect::<String>(),
        (0..7).map(fragment).collect::<String>()
    );
    let variables = (0..5).map(|bit| (format!("v{bit}"), json!(number >> bit & 1 == 1)));
    Request::new(
        &document,
        &variables.collect::<serde_json::Map<_, _>>().into(),
    )
}

fn whole(number: usize) -> Request {
    let sets = (1 << FIELDS.len()) - 1;
    let (set, ways) = (1 + number % sets, number / sets);
    let chosen = FIELDS
        .iter()
        .enumerate()
        .filter(|(bit, _)| set >> bit & 1 == 1)
        .map(|(_, name)| *name);
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
