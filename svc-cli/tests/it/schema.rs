//! `svc schema diff`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use crate::support::Place;

const OLD: &str = r#"
type Query { users(role: Role, first: Int = 10): [User!]! node(id: ID!): Node search(where: UserWhere): [Found!] }
interface Node { id: ID! }
type User implements Node { id: ID! name: String! email: String nick: String! posts: [Post!]! }
type Post implements Node { id: ID! title: String! }
enum Role { ADMIN READER }
union Found = User | Post
input UserWhere { name: String role: Role! = READER }
directive @shout(loud: Boolean) on FIELD
scalar Day
"#;

/// Pairs of a replacement in the schema, and the line that tells it.
const CHANGES: [(&str, &str, &str); 26] = [
    ("scalar Day", "", "breaking   Day: the type is removed"),
    (
        "scalar Day",
        "enum Day { MONDAY }",
        "breaking   Day: it changed from a scalar to an enum",
    ),
    (
        " email: String ",
        " ",
        "breaking   User.email: the field is removed",
    ),
    (
        "nick: String!",
        "nick: String",
        "breaking   User.nick: its type changed from String! to String",
    ),
    (
        "email: String ",
        "email: String! ",
        "safe       User.email: its type changed from String to String!",
    ),
    (
        "posts: [Post!]!",
        "posts: [Post]!",
        "breaking   User.posts: its type changed from [Post!]! to [Post]!",
    ),
    (
        "type Post implements Node {",
        "type Post {",
        "breaking   Post: it no longer implements Node",
    ),
    (
        "enum Role { ADMIN READER }",
        "enum Role { READER }",
        "breaking   Role.ADMIN: the value is removed",
    ),
    (
        "enum Role { ADMIN READER }",
        "enum Role { ADMIN READER GUEST }",
        "dangerous  Role.GUEST: a value is added",
    ),
    (
        "union Found = User | Post",
        "union Found = User",
        "breaking   Found: Post is no longer a member",
    ),
    (
        "scalar Day",
        "scalar Day type Tag { a: Int } extend union Found = Tag",
        "dangerous  Found: Tag is a new member",
    ),
    (
        "role: Role, ",
        "",
        "breaking   Query.users(role:): the argument is removed",
    ),
    (
        "role: Role,",
        "role: Role!,",
        "breaking   Query.users(role:): its type changed from Role to Role!",
    ),
    (
        "role: Role,",
        "role: Role, age: Int!,",
        "breaking   Query.users(age:): a required argument is added",
    ),
    (
        "role: Role,",
        "role: Role, age: Int,",
        "dangerous  Query.users(age:): an optional argument is added",
    ),
    (
        "node(id: ID!)",
        "node(id: ID)",
        "safe       Query.node(id:): its type changed from ID! to ID",
    ),
    (
        "first: Int = 10",
        "first: Int = 20",
        "dangerous  Query.users(first:): its default changed from 10 to 20",
    ),
    (
        "first: Int = 10",
        "first: Int",
        "dangerous  Query.users(first:): its default, 10, is removed",
    ),
    (
        "role: Role! = READER }",
        "role: Role! }",
        "breaking   UserWhere.role: its default is removed, so it is now",
    ),
    (
        "{ name: String role",
        "{ name: String age: Int! role",
        "breaking   UserWhere.age: a required field is added",
    ),
    (
        "{ name: String role",
        "{ name: String age: Int role",
        "dangerous  UserWhere.age: an optional field is added",
    ),
    (
        "input UserWhere {",
        "input UserWhere { ",
        "the schemas are the same",
    ),
    (
        "directive @shout(loud: Boolean) on FIELD",
        "",
        "breaking   @shout: the directive is removed",
    ),
    (
        "@shout(loud: Boolean) on FIELD",
        "@shout(loud: Boolean) on QUERY",
        "breaking   @shout: it is no longer allowed on FIELD",
    ),
    (
        "@shout(loud: Boolean)",
        "@shout",
        "breaking   @shout(loud:): the argument is removed",
    ),
    (
        "title: String!",
        "title: String! @deprecated(reason: \"x\")",
        "safe       Post.title: it is deprecated",
    ),
];

#[test]
fn each_kind_of_change_is_reported_with_its_severity() {
    let place = Place::new();
    place.write("old.graphql", OLD);
    for (from, to, line) in CHANGES {
        let new = OLD.replace(from, to);
        assert!(new != OLD, "{from}");
        place.write("new.graphql", &new);
        let said = place.svc(&["schema", "diff", "old.graphql", "new.graphql"]);
        assert!(
            said.out.contains(line),
            "{from} -> {to}\n{}{}",
            said.out,
            said.err
        );
        let breaks = line.starts_with("breaking");
        assert_eq!(said.code, Some(i32::from(breaks)), "{line}");
        assert_eq!(
            said.err.contains("hint: deprecate the old parts"),
            breaks,
            "{}",
            said.err
        );
        let dangerous = place.svc(&[
            "schema",
            "diff",
            "old.graphql",
            "new.graphql",
            "--fail-on",
            "dangerous",
        ]);
        assert_eq!(
            dangerous.code,
            Some(i32::from(
                !line.starts_with("safe") && !line.starts_with("the ")
            )),
            "{line}"
        );
        assert_eq!(
            place
                .svc(&[
                    "schema",
                    "diff",
                    "old.graphql",
                    "new.graphql",
                    "--fail-on",
                    "never"
                ])
                .code,
            Some(0)
        );
    }
}

#[test]
fn broken_registered_operations_are_reported() {
    let place = Place::new();
    place.write("old.graphql", OLD);
    let new = OLD
        .replace(" email: String ", " ")
        .replace("enum Role { ADMIN READER }", "enum Role { READER }");
    place.write("new.graphql", &new);
    place.write("operations/names.graphql", "query Names { users { name } }");
    let diff = [
        "schema",
        "diff",
        "old.graphql",
        "new.graphql",
        "--operations",
    ];
    let unharmed = place.svc(&[&diff[..], &["operations"]].concat());
    assert_eq!(unharmed.code, Some(0), "{}{}", unharmed.out, unharmed.err);
    assert!(
        unharmed.out.contains("2 breaking") && !unharmed.out.contains("operation "),
        "{}",
        unharmed.out
    );

    place.write(
        "operations/app/mail.graphql",
        "query Mail { users { ...m } } fragment m on User { email }",
    );
    place.write(
        "operations/app/admins.graphql",
        "query Admins($w: UserWhere) { search(where: $w) { __typename } }",
    );
    let said = place.svc(&[&diff[..], &["operations"]].concat());
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(
        said.out
            .contains("operation Mail (operations/app/mail.graphql) breaks:\n  invalid: "),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("operation Admins"),
        "a variable may hold the value that is gone: {}",
        said.out
    );
    assert!(!said.out.contains("operation Names"), "{}", said.out);
    assert!(
        said.err.contains("can break registered operations"),
        "{}",
        said.err
    );

    let manifest = r#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
        {"id": "1", "name": "Mail", "type": "query", "clientName": "phone", "body": "query Mail { users { email } }"}]}"#;
    place.write("manifest.json", manifest);
    let said = place.svc(&[&diff[..], &["manifest.json", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(report["breaking"], 2, "{report}");
    assert_eq!(report["operations"][0]["client"], "phone", "{report}");
    assert_eq!(
        report["operations"][0]["changes"][0]["kind"], "FIELD_REMOVED",
        "{report}"
    );
    place.write("manifest.json", r#"{"4f": "{ users { email } }"}"#);
    assert!(
        place
            .svc(&[&diff[..], &["manifest.json"]].concat())
            .out
            .contains("operation 4f (manifest.json) breaks")
    );
    place.write("manifest.json", "[]");
    let words = place.svc(&[&diff[..], &["manifest.json"]].concat()).bad();
    assert!(words.contains("is not a manifest of operations"), "{words}");
}

#[test]
fn revisions_of_git_are_read() {
    let place = Place::new();
    place.write("schema.graphql", OLD);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments);
        assert!(
            git.current_dir(place.path("."))
                .output()
                .expect("git")
                .status
                .success(),
            "{arguments:?}"
        );
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    place.write("schema.graphql", &OLD.replace(" email: String ", " "));
    for old in ["HEAD", "HEAD:schema.graphql", "HEAD:./schema.graphql"] {
        let said = place.svc(&["schema", "diff", old, "schema.graphql"]);
        assert!(
            said.out.starts_with("breaking   User.email"),
            "{old}: {}{}",
            said.out,
            said.err
        );
    }
    for place_of_none in [
        "nope",
        "nope:schema.graphql",
        "--output=x",
        "HEAD:nope.graphql",
    ] {
        let said = place.svc(&["schema", "diff", "--", place_of_none, "schema.graphql"]);
        assert!(
            said.bad()
                .contains("is neither a file nor a revision of git"),
            "{place_of_none}"
        );
    }
    place.write("bad.graphql", "type Query { a: Nope }");
    let words = place
        .svc(&["schema", "diff", "bad.graphql", "schema.graphql"])
        .bad();
    assert!(
        words.contains("the schema of bad.graphql is not valid") && words.contains("Nope"),
        "{words}"
    );
}

#[test]
fn a_schema_is_read_from_a_running_service() {
    // The smallest answer with each kind of type; the reference implementation's wire form.
    let string = r#"{"kind":"SCALAR","name":"String","ofType":null}"#;
    let field = |name: &str| {
        format!(
            r#"{{"name":"{name}","description":"It's \"quoted\".","isDeprecated":false,"deprecationReason":null,"type":{string},
            "args":[{{"name":"a","description":null,"defaultValue":"[1, 2]","type":{{"kind":"LIST","name":null,"ofType":
            {{"kind":"SCALAR","name":"Int","ofType":null}}}}}}]}}"#
        )
    };
    let none = r#""interfaces":[],"possibleTypes":null,"enumValues":null,"inputFields":null,"fields":null"#;
    let answer = format!(
        r#"{{"data":{{"__schema":{{"queryType":{{"name":"Query"}},"mutationType":null,"subscriptionType":null,"directives":[],
        "types":[{{"kind":"OBJECT","name":"Query","description":null,"interfaces":[],"possibleTypes":null,"enumValues":null,
        "inputFields":null,"fields":[{}]}},{{"kind":"SCALAR","name":"String","description":null,{none}}},
        {{"kind":"SCALAR","name":"Int","description":null,{none}}}]}}}}}}"#,
        field("hello")
    );
    let refusal =
        r#"{"errors":[{"message":"Cannot query field \"isOneOf\" on type \"__Type\"."}]}"#
            .to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!(
        "http://{}/graphql",
        listener.local_addr().expect("its address")
    );
    let server = std::thread::spawn(move || {
        // An older service refuses the newer parts of introspection first.
        for answer in [refusal, answer] {
            let (mut client, _) = listener.accept().expect("a client");
            let mut request = [0; 8192];
            let length = client.read(&mut request).expect("a request");
            assert!(String::from_utf8_lossy(&request[..length]).contains("x-key: 7"));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length:";
            write!(client, "{head} {}\r\n\r\n{answer}", answer.len()).expect("an answer");
        }
    });
    let place = Place::new();
    place.write(
        "new.graphql",
        "type Query { \"It's \\\"quoted\\\".\" hello(a: [Int] = [1, 2]): String! }",
    );
    let said = place.svc(&[
        "schema",
        "diff",
        &url,
        "new.graphql",
        "--header",
        "x-key: 7",
    ]);
    assert!(
        said.out
            .starts_with("safe       Query.hello: its type changed from String to String!\n"),
        "{}{}",
        said.out,
        said.err
    );
    server.join().expect("both requests");
    let words = place
        .svc(&[
            "schema",
            "diff",
            "http://127.0.0.1:1/graphql",
            "new.graphql",
        ])
        .bad();
    assert!(words.contains("does not respond"), "{words}");
    let words = place
        .svc(&["schema", "diff", &url, "new.graphql", "--header", "secret"])
        .bad();
    assert!(
        !words.contains("secret\n") && words.contains("write it as --header"),
        "{words}"
    );
}
