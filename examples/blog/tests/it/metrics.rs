//! The blog's metrics, as a real Prometheus sees them, and what `deploy/` makes of them.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use svc_tests::{client, eventually};

use super::{Blog, command};

const DASHBOARD: &str = include_str!("../../../../deploy/grafana/dashboards/svc.json");
const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");

/// The number of times that an operation is sent.
const TIMES: usize = 12;

/// A Prometheus that scrapes the blog; ended when the test ends.
struct Prometheus {
    child: Child,
    url: String,
}

impl Prometheus {
    fn start(folder: &Path, target: &str) -> Self {
        let config = format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
             rule_files: [{DEPLOY}/alerts.yml]\n\
             scrape_configs: [{{job_name: svc, static_configs: [{{targets: ['{target}']}}]}}]\n"
        );

        let file = folder.join("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let address = format!("127.0.0.1:{}", svc_embedded::free_port().unwrap());
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .args(["--log.level=error", "--enable-feature=exemplar-storage"])
            .stderr(Stdio::null())
            .spawn()
            .expect("Prometheus, of the package prometheus");

        Self {
            child,
            url: format!("http://{address}"),
        }
    }

    /// The samples that an expression gives.
    async fn query(&self, expression: &str) -> Result<Vec<Value>, String> {
        let request = client()
            .get(format!("{}/api/v1/query", self.url))
            .query(&[("query", expression)]);
        let answer = request
            .send()
            .await
            .map_err(|error| error.to_string())?
            .text()
            .await
            .unwrap();

        let answer: Value = serde_json::from_str(&answer).map_err(|_| answer)?;
        match answer["data"]["result"].as_array() {
            Some(samples) => Ok(samples.clone()),
            None => Err(format!("{expression}: {answer}")),
        }
    }

    /// Waits until an expression gives something, and returns the first value.
    async fn until_some(&self, expression: &str) -> String {
        eventually(async || match self.query(expression).await?.first() {
            Some(sample) => Ok(sample["value"][1].as_str().unwrap().to_owned()),
            None => Err(format!("nothing: {expression}")),
        })
        .await
    }

    /// Waits until a series has an exemplar, which names a trace.
    async fn until_exemplar(&self, series: &str) {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let (start, end) = ((now - 600).to_string(), (now + 600).to_string());
        eventually(async || {
            let query = [("query", series), ("start", &start), ("end", &end)];
            let request = client()
                .get(format!("{}/api/v1/query_exemplars", self.url))
                .query(&query);
            let answer = request
                .send()
                .await
                .map_err(|error| error.to_string())?
                .text()
                .await
                .unwrap();

            let told: Value = serde_json::from_str(&answer).map_err(|_| answer.clone())?;
            let trace = told["data"][0]["exemplars"][0]["labels"]["trace_id"]
                .as_str()
                .map(str::len);

            if trace == Some(32) {
                Ok(())
            } else {
                Err(answer)
            }
        })
        .await;
    }

    /// Waits until an expression gives one value.
    async fn until(&self, expression: &str, expected: usize) {
        eventually(async || {
            let found = self.until_some(expression).await;
            if found == expected.to_string() {
                Ok(())
            } else {
                Err(format!("{expression} is {found}, not {expected}"))
            }
        })
        .await;
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // One that has ended needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn prometheus_counts_what_was_sent_and_the_dashboard_shows_it() {
    let folder = tempfile::tempdir().unwrap();

    // Nobody takes the traces; series name them all the same.
    let traces = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let blog = Blog::start_with(
        command(folder.path())
            .env("SVC_METRICS_ENABLED", "true")
            .env(traces.0, traces.1),
    );

    let target = blog
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/graphql");
    let prometheus = Prometheus::start(folder.path(), target);
    let users = json!({ "query": "query users { users(limit: 3) { name } }" }).to_string();
    for _ in 0..TIMES {
        send(&blog, &users).await;
    }

    prometheus
        .until(
            r#"svc_graphql_queries_total{operation_name="users"}"#,
            TIMES,
        )
        .await;

    prometheus
        .until(
            r#"sum(svc_graphql_query_duration_seconds_count{operation_name="users"})"#,
            TIMES,
        )
        .await;

    prometheus
        .until(
            r#"sum(svc_errors_total{error_code="GRAPHQL_VALIDATION_FAILED"})"#,
            TIMES,
        )
        .await;

    prometheus
        .until(
            r#"svc_graphql_mutations_total{mutation_name="createPost"}"#,
            2 * TIMES,
        )
        .await;

    for expression in dashboard() {
        // Rates need series that have moved between two scrapes.
        eventually(async || {
            send(&blog, &users).await;
            let found = prometheus.query(&expression).await?;
            let is_number = |sample: &Value| sample["value"][1] != "NaN";
            if found.iter().any(is_number) {
                Ok(())
            } else {
                Err(format!("nothing: {expression}"))
            }
        })
        .await;
    }

    prometheus.until(r#"up{job="svc"}"#, 1).await;
    prometheus
        .until_exemplar(r#"svc_graphql_query_duration_seconds_bucket{operation_name="users"}"#)
        .await;
    let metadata = format!(
        "{}/api/v1/metadata?metric=svc_db_connections_total",
        prometheus.url
    );
    let metadata = client()
        .get(metadata)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();

    assert!(metadata.contains("\"gauge\""), "{metadata}");

    // Each series that an alert looks at is there; for a moment it is not, where a scrape is late.
    for series in names(&alerts()) {
        prometheus.until_some(&series).await;
    }
}

/// Sends one of each that moves series.
async fn send(blog: &Blog, users: &str) {
    let create = r#"{"query":"mutation create { createPost(input: {author: \"00000000-0000-0000-0000-000000000000\",
        title: \"t\", body: \"b\"}) { __typename } }"}"#;
    let answer = blog.post(create.replace('\n', " ")).await;
    assert!(answer.contains("CreatePostError"), "{answer}");
    let answer = blog.post(published(blog).await).await;
    assert!(answer.contains("CreatePostSuccess"), "{answer}");
    assert!(blog.post(users.to_owned()).await.contains("data"));

    assert!(
        blog.post(r#"{"query":"{ nothing }"}"#.to_owned())
            .await
            .contains("errors")
    );
}

/// A mutation that succeeds.
async fn published(blog: &Blog) -> String {
    let answer = blog
        .post(r#"{"query":"query one { users(limit: 1) { id } }"}"#.to_owned())
        .await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let author = &answer["data"]["users"][0]["id"];
    let document = format!(
        "mutation publish {{ createPost(input: {{author: {author}, title: \"t\", body: \"b\"}}) {{ __typename }} }}"
    );

    json!({ "query": document }).to_string()
}

/// The expressions of the dashboard, for all instances.
fn dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions = targets.map(|target| target["expr"].as_str().unwrap());

    expressions
        .map(|text| {
            text.replace("$__rate_interval", "1m")
                .replace("$instance", ".*")
        })
        .collect()
}

fn alerts() -> String {
    let file = Path::new(DEPLOY).join("alerts.yml");
    let output = Command::new("promtool")
        .args(["check", "rules"])
        .arg(&file)
        .output()
        .unwrap();

    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    std::fs::read_to_string(file).unwrap()
}

/// The names of series in a text.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    let mut names: Vec<_> = words
        .filter(|word| word.starts_with("svc_"))
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
