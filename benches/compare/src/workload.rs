//! The workloads of the side-by-side benchmark, and the check that two servers answer them alike.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use testbed::{Client, Database, Request};

use crate::places::Places;

/// The target whose requests are sent.
const TARGET: &str = "svc-columns";
/// The number of requests whose answers are compared.
const SAMPLES: usize = 15;
/// The workload that makes comments.
const WRITES: &str = "Q7";
/// The letters of an answer that are shown.
const SHOWN: usize = 300;

/// Requests with random variables, which are the same in each run.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) requests: Vec<Request>,
}

/// The comparison of two servers' answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Alike,
    /// A server has none, for this reason.
    Missing(String),
    /// They differ, in this way.
    Different(String),
}

/// The workloads with these names, with the requests of the work tree.
///
/// # Errors
/// There is no workload of a name.
pub(crate) fn read(places: &Places, names: &[String]) -> Result<Vec<Workload>> {
    let status = Command::new("python3")
        .arg(places.project.join("benches/side_by_side/bench.py"))
        .args(["--requests-only", "--targets", TARGET, "--workloads"])
        .arg(names.join(","))
        .status()
        .context("cannot start python3")?;
    ensure!(status.success(), "bench.py has no requests ({status})");

    let read_one = |name: &String| -> Result<Workload> {
        let path = places.bench.join(format!("requests/{TARGET}.{name}"));
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Workload {
            name: name.clone(),
            requests: requests(&text)?,
        })
    };
    names.iter().map(read_one).collect()
}

/// The requests of a file that bench.py has written: one a line, a path and a body.
fn requests(text: &str) -> Result<Vec<Request>> {
    let request = |line: &str| -> Result<Request> {
        let (path, body) = line
            .split_once('\t')
            .context("a request without a tab between path and body")?;
        Ok(Request::post(path, body))
    };
    text.lines().map(request).collect()
}

impl Workload {
    /// Compares the answers of two servers to some of the requests.
    ///
    /// # Errors
    /// An answer is not JSON, or PostgreSQL fails.
    pub(crate) fn check(
        &self,
        names: [&str; 2],
        clients: &mut [Client; 2],
        database: &Database,
    ) -> Result<Answers> {
        let answers = self.compare(names, clients)?;
        self.clean(database)?;
        Ok(answers)
    }

    fn compare(&self, names: [&str; 2], clients: &mut [Client; 2]) -> Result<Answers> {
        for request in self.requests.iter().take(SAMPLES) {
            let mut data = [Value::Null, Value::Null];
            for ((client, name), data) in clients.iter_mut().zip(names).zip(&mut data) {
                match client.send(request) {
                    Ok(answer) => *data = contents(answer)?,
                    Err(error) => return Ok(Answers::Missing(format!("{name}: {error:#}"))),
                }
            }

            let [first, second] = &data;
            if first != second {
                let difference = format!("{} / {}", shortened(first), shortened(second));
                return Ok(Answers::Different(difference));
            }
        }
        Ok(Answers::Alike)
    }

    /// Deletes the comments that it has made, so that every load finds the same table.
    ///
    /// # Errors
    /// PostgreSQL fails.
    pub(crate) fn clean(&self, database: &Database) -> Result<()> {
        if self.name == WRITES {
            let made = "DELETE FROM tb_comment WHERE pk_comment > 200000";
            database.run("bench", made)?;
            database.run("bench", "VACUUM ANALYZE tb_comment")?;
        }
        Ok(())
    }
}

/// The data of an answer, without the identifier that is new each time.
fn contents(answer: &[u8]) -> Result<Value> {
    let mut answer: Value = serde_json::from_slice(answer).context("an answer is not JSON")?;
    let mut data = answer.get_mut("data").map(Value::take).unwrap_or_default();
    let comment = data.get_mut("createComment").and_then(Value::as_object_mut);
    if let Some(comment) = comment {
        comment.remove("id");
    }
    Ok(data)
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testbed::Request;

    use super::{contents, requests};

    #[test]
    fn a_line_is_a_path_and_a_body() {
        let read = requests("/graphql\t{\"query\": \"{ a }\"}\n/graphql\t{}\n").unwrap();

        assert_eq!(
            read,
            [
                Request::post("/graphql", "{\"query\": \"{ a }\"}"),
                Request::post("/graphql", "{}"),
            ]
        );
        assert!(requests("/graphql").is_err());
    }

    #[test]
    fn the_identifier_of_a_new_comment_is_not_compared() {
        let answer = br#"{"data":{"createComment":{"id":"1","body":"a"}}}"#;
        assert_eq!(
            contents(answer).unwrap(),
            json!({ "createComment": { "body": "a" } })
        );

        let answer = br#"{"data":{"user":{"id":"1"}}}"#;
        assert_eq!(contents(answer).unwrap(), json!({ "user": { "id": "1" } }));

        assert!(contents(b"<html>").is_err());
    }
}
