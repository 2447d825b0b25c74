//! The sources of a schema: files, services, and git revisions.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::introspection;
use crate::database;
use crate::failure::{Failure, Result};

/// The file to read if only a revision is given.
const USUAL_FILE: &str = "schema.graphql";

/// The maximum time for a service's response.
const PATIENCE: Duration = Duration::from_secs(30);

/// The schema of a place, in the schema definition language. If this place is only a revision, the
/// other place may name its file.
pub(super) fn read(place: &str, other: &str, headers: &[String]) -> Result<String> {
    if place == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(Failure::io("read standard input"))?;
        return Ok(text);
    }

    if place.starts_with("http://") || place.starts_with("https://") {
        return database::block_on(ask(place, headers));
    }

    // A file takes precedence over a revision of its name, which can be written with a path.
    if Path::new(place).is_file() {
        return fs::read_to_string(place).map_err(Failure::io(format!("read {place}")));
    }

    // With `./`, git looks for the path from the current folder on, not from the root of the
    // repository.
    let (revision, path) = match place.split_once(':') {
        Some((revision, path)) => (revision, path.to_owned()),
        None if Path::new(other).is_file() && Path::new(other).is_relative() => {
            (place, format!("./{other}"))
        }
        None => (place, format!("./{USUAL_FILE}")),
    };

    of_revision(revision, &path, place)
}

fn of_revision(revision: &str, path: &str, place: &str) -> Result<String> {
    // A name starting with a dash would be parsed as an option.
    let arguments = ["show", "--end-of-options", &format!("{revision}:{path}")];
    let output = Command::new("git")
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let output = output
        .map_err(|error| Failure::new(format!("cannot run git: {error}")).hint("install git"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let failure = Failure::new(format!(
            "{place} is neither a file nor a revision of git: {}",
            words.trim()
        ));
        return Err(
            failure.hint("a schema is a file, a URL, or REVISION:PATH such as main:schema.graphql")
        );
    }

    String::from_utf8(output.stdout).map_err(|_| Failure::new(format!("{place} is not UTF-8 text")))
}

/// Requests the schema of a service. If it does not support the newer parts of introspection,
/// retries without them.
async fn ask(url: &str, headers: &[String]) -> Result<String> {
    // Without an installed provider, reqwest cannot choose a cryptography implementation;
    // installing a second one is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .default_headers(read_headers(headers)?)
        .build();
    let client = client.map_err(|error| Failure::new(format!("cannot make requests: {error}")))?;
    let mut last = None;
    for query in introspection::queries() {
        match introspection::read(&send(&client, url, &query).await?) {
            Ok(sdl) => return Ok(sdl),
            Err(error) => last = Some(error),
        }
    }

    Err(Failure::new(format!(
        "{url} does not expose its schema: {}",
        last.unwrap_or_default()
    ))
    .hint("SVC_INTROSPECTION=true allows introspection; or compare files: svc generate schema"))
}

async fn send(client: &reqwest::Client, url: &str, query: &str) -> Result<Vec<u8>> {
    let failed = |error: reqwest::Error| {
        let mut text = error.without_url().to_string();
        text.retain(|c| c != '\n');
        Failure::new(format!("{url} does not respond: {text}"))
            .hint("is it the GraphQL endpoint, with /graphql?")
    };

    let request = client
        .post(url)
        .header("accept", "application/json")
        .json(&serde_json::json!({ "query": query }));
    let answer = request.send().await.map_err(failed)?;
    Ok(answer.bytes().await.map_err(failed)?.to_vec())
}

fn read_headers(given: &[String]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for header in given {
        let parts = header.split_once(':').and_then(|(name, value)| {
            let name = HeaderName::try_from(name.trim()).ok()?;
            let mut value = HeaderValue::try_from(value.trim()).ok()?;
            // Debug output then omits the value.
            value.set_sensitive(true);
            Some((name, value))
        });

        // Its value may be a secret, so it is not printed.
        let (name, value) = parts.ok_or_else(|| {
            Failure::new("a --header is not valid")
                .hint("write it as --header 'Authorization: Bearer TOKEN'")
        })?;

        headers.append(name, value);
    }

    Ok(headers)
}
