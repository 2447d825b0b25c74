//! The requests whose allocations are recorded.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use svc::ResponseCache;
use svc::auth::SignedTokenProvider;
use svc_tests::TestDatabase;
use svc_tests::raw::PATIENCE;
use tokio::runtime::{Builder, Runtime};

use crate::blog;
use crate::client::{Client, Subscriber, post};
use crate::measure::{Counted, measure};
use crate::service::{Service, discard_log};

const USER: &str =
    "query Q1($id: UUID!) { user(id: $id) { id identifier name email bio city score createdAt } }";
const USERS: &str = "query Q3($limit: Int!) { users(orderBy: [{ name: ASC }], limit: $limit) { id name score createdAt } }";
const POSTS: &str = "query Q4($limit: Int!) { posts(orderBy: [{ createdAt: DESC }], limit: $limit) { \
                     id title author { id name } \
                     comments(orderBy: [{ createdAt: ASC }], limit: 3) { id body author { name } } } }";
const CREATE_COMMENT: &str = "mutation Q7($postId: UUID!, $authorId: UUID!, $body: String!) { \
                              createComment(postId: $postId, authorId: $authorId, body: $body) { \
                              id body author { name } } }";
const KEPT_USER: &str = "query Kept($id: UUID!) { keptUser(id: $id) { id identifier name email bio city score createdAt } }";
const POST_CHANGED: &str = "subscription { postChanged { id title } }";

/// `md5('user1')` as a UUID.
const FIRST_USER: &str = "24c9e15e-52af-c47c-225b-757e7bee1f9d";
/// `md5('post1')` as a UUID.
const FIRST_POST: &str = "bea404ee-b42e-d203-9eda-3253b6b79819";

const SECRET: &[u8] = b"a secret of the tests, of more than 32 bytes";

/// A request with a text that its response contains.
struct Request {
    name: &'static str,
    document: &'static str,
    variables: Value,
    expected: &'static str,
}

/// Counts the allocations of each request. The names are those of the record.
pub(crate) fn count_all() -> Vec<Counted> {
    // Before the harness sets up the log.
    discard_log();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let database = runtime.block_on(TestDatabase::new(&blog::sql()));

    let mut counted = statements(&database);
    counted.push(cached_response(&database));
    counted.push(verified_token(&database));
    counted.push(event(&database, &runtime));
    counted
}

/// The requests that run a statement, from the fewest rows to a write.
fn statements(database: &TestDatabase) -> Vec<Counted> {
    let requests = [
        Request {
            name: "a row by its id",
            document: USER,
            variables: json!({ "id": FIRST_USER }),
            expected: "User 001",
        },
        Request {
            name: "a hundred rows",
            document: USERS,
            variables: json!({ "limit": 100 }),
            expected: "User 100",
        },
        Request {
            name: "posts with authors and comments",
            document: POSTS,
            variables: json!({ "limit": 10 }),
            expected: "Comment 59",
        },
        Request {
            name: "a mutation through a database function",
            document: CREATE_COMMENT,
            variables: json!({ "postId": FIRST_POST, "authorId": FIRST_USER, "body": "Some words." }),
            expected: "Some words.",
        },
    ];

    let url = database.direct_url();
    let service = Service::start(move || blog::options(url));
    let mut client = Client::connect(service.address());
    requests
        .iter()
        .map(|request| request.count(&service, &mut client, ""))
        .collect()
}

/// A row that is in the response cache.
fn cached_response(database: &TestDatabase) -> Counted {
    let url = database.direct_url();
    let service = Service::start(move || blog::options(url).response_cache(ResponseCache::new()));
    let mut client = Client::connect(service.address());

    // Nothing is cached before the service listens to changes.
    let (tick, start) = (post("{ tick }", &json!({}), ""), Instant::now());
    while client.send(&tick) != client.send(&tick) {
        assert!(start.elapsed() < PATIENCE, "no response is cached");
        thread::sleep(Duration::from_millis(10));
    }

    let request = Request {
        name: "a cached response",
        document: KEPT_USER,
        variables: json!({ "id": FIRST_USER }),
        expected: "User 001",
    };
    request.count(&service, &mut client, "")
}

/// A row for a user whose token was verified before.
fn verified_token(database: &TestDatabase) -> Counted {
    let url = database.direct_url();
    let service = Service::start(move || {
        let provider = SignedTokenProvider::with_secret(SECRET).expect("a secret");
        blog::options(url).auth_provider(provider)
    });
    let mut client = Client::connect(service.address());

    let request = Request {
        name: "a row by its id, with a token",
        document: USER,
        variables: json!({ "id": FIRST_USER }),
        expected: "User 001",
    };
    let header = format!("authorization: Bearer {}\r\n", token());
    request.count(&service, &mut client, &header)
}

/// A row that has changed, for the only subscriber.
fn event(database: &TestDatabase, runtime: &Runtime) -> Counted {
    let url = database.direct_url();
    let service = Service::start(move || blog::options(url));
    let pool = runtime.block_on(database.pool());

    let mut number = 0;
    let mut rename = || {
        number += 1;
        let title = format!("Title {number:04}");
        let update = sqlx::query("UPDATE tb_post SET title = $1 WHERE pk_post = 1").bind(&title);
        let updated = runtime.block_on(update.execute(&pool));
        updated.expect("an update");
        title
    };
    let mut subscriber = subscribed(&service, &mut rename);
    let counted = measure("an event of a subscription", service.counter(), || {
        let title = rename();
        assert!(subscriber.receives(&title, PATIENCE), "no event: {title}");
    });

    runtime.block_on(pool.close());
    counted
}

/// Subscribes until an event comes. A subscription fails while the service does not listen yet, and
/// misses the changes before its start.
fn subscribed(service: &Service, rename: &mut impl FnMut() -> String) -> Subscriber {
    let start = Instant::now();
    loop {
        let mut subscriber = Subscriber::open(service.address(), POST_CHANGED);
        for _ in 0..5 {
            if subscriber.receives(&rename(), Duration::from_millis(500)) {
                return subscriber;
            }
        }
        assert!(start.elapsed() < PATIENCE, "no event comes");
    }
}

/// Returns a token that is valid for an hour.
fn token() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a date after 1970")
        .as_secs();
    let claims = json!({ "sub": FIRST_USER, "iat": now, "exp": now + 3600, "roles": ["editor"] });

    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET);
    let signature = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

impl Request {
    /// Counts the allocations of the request with further headers.
    fn count(&self, service: &Service, client: &mut Client, headers: &str) -> Counted {
        let request = post(self.document, &self.variables, headers);
        measure(self.name, service.counter(), || {
            let body = client.send(&request);
            assert!(body.contains(self.expected), "{body}");
        })
    }
}
