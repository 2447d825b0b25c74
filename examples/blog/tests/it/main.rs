//! The real program, run as the README says: on a PostgreSQL of its own.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod explain;
mod live;
mod me;
mod metrics;
mod operations;
mod policy;
mod publishing;
mod rate_limits;
mod response_cache;
mod security_log;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const README: &str = include_str!("../../../../README.md");

/// The running program; ended when the test ends.
struct Blog {
    child: Child,
    url: String,
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blog"));
    command
        .current_dir(folder)
        .env("SVC_PORT", "0")
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");

    // The first requests wait for the set-up, however slow the machine is.
    command
        .env("SVC_DATABASE_POOL_TIMEOUT", "120")
        .env("SVC_REQUEST_TIMEOUT", "300");

    command
}

impl Blog {
    /// Starts the program and waits for the line with its address.
    fn start(folder: &Path) -> Self {
        Self::start_with(&mut command(folder))
    }

    fn start_with(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = Vec::new();
        let url = loop {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("the program ended: {seen:#?}"))
                .unwrap();
            if let Some(url) = line.strip_prefix("serving ") {
                break url.to_owned();
            }
            seen.push(line);
        };

        // The pipe is read on, so that the program never waits for it.
        std::thread::spawn(move || lines.for_each(drop));

        Self { child, url }
    }

    async fn post(&self, body: String) -> String {
        let request = svc_tests::client()
            .post(&self.url)
            .header("content-type", "application/json");
        request
            .body(body)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
    }

    /// Sends SIGTERM and gives the exit code.
    fn terminate(mut self) -> Option<i32> {
        Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Blog {
    fn drop(&mut self) {
        // A program that has ended needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The part of the README between two marks.
fn quoted<'a>(from: &str, to: &str) -> &'a str {
    let start = README.find(from).unwrap() + from.len();
    &README[start..start + README[start..].find(to).unwrap()]
}

#[tokio::test]
async fn the_program_answers_as_in_the_readme_and_stops_on_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let blog = Blog::start(folder.path());
    let answer = blog.post(quoted("-d '", "'\n").to_owned()).await;

    assert_eq!(answer, quoted("```json\n", "\n```"));

    let nested = r#"{"query":"{ posts(limit: 1, orderBy: [{createdAt: DESC}]) { author { name } comments(limit: 1) { author { name } } }
        feed(first: 1, orderBy: [{commentCount: DESC}]) { nodes { author { postCount } lastComment { post { title } author { name } } } totalCount }
        entries(limit: 1, orderBy: [{createdAt: DESC}]) { ... on Comment { post { author { name } } } }
        userStatistics { groups(by: [ROLE], orderBy: [{count: DESC}], limit: 1) { key { role } count } } }"}"#;
    let answer: serde_json::Value =
        serde_json::from_str(&blog.post(nested.replace('\n', " ")).await).unwrap();
    let data = &answer["data"];
    assert!(data["posts"][0]["author"]["name"].is_string(), "{answer}");
    assert!(data["posts"][0]["comments"].is_array(), "{answer}");
    assert_eq!(data["feed"]["totalCount"], 2000, "{answer}");
    assert!(
        data["feed"]["nodes"][0]["lastComment"]["author"]["name"].is_string(),
        "{answer}"
    );
    assert!(
        data["entries"][0]["post"]["author"]["name"].is_string(),
        "{answer}"
    );
    assert_eq!(
        data["userStatistics"]["groups"],
        serde_json::json!([{"key": {"role": "AUTHOR"}, "count": 240}])
    );
    assert_eq!(blog.terminate(), Some(0));

    let again = Blog::start(folder.path());
    let counted = again
        .post(r#"{"query":"{ users(limit: 3) { id } }"}"#.to_owned())
        .await;

    assert_eq!(
        counted.matches("\"id\"").count(),
        3,
        "the second start finds its data: {counted}"
    );
}

#[test]
fn a_bad_setting_ends_the_program_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path())
        .env("SVC_PORT", "http")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");

    assert!(
        error.contains("SVC_PORT is \"http\"; it must be a port from 0 to 65535"),
        "{error}"
    );
}
