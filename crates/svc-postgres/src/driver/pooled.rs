//! Sessions behind a pooler: each transaction may run on a different server connection, without the
//! start-up options. So each transaction makes the settings itself, and nothing is assumed about
//! the session.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::DriverError;
use super::wire::Wire;
use crate::quote_literal;

/// The start-up option that distinguishes a session which received the options from one whose
/// pooler dropped them.
pub(super) const MARK: &str = "-c svc.start_up=received";

/// Reads the mark.
const MARKED: &str = "SELECT coalesce(current_setting('svc.start_up', true), '')";

/// The settings of sessions behind a pooler.
#[derive(Debug)]
pub(super) struct PooledSession {
    /// The statements after `BEGIN`.
    settings: String,
    /// The options that are not settings, and so cannot be applied later.
    left_out: Vec<String>,
    /// Distinguishes the texts of statements from those prepared before a view changed; 0 until one
    /// has.
    edition: AtomicU64,
}

impl PooledSession {
    /// Parses the settings from start-up options.
    pub(super) fn of(options: &str) -> Self {
        let mut settings = String::from("SELECT ");
        let (found, left_out) = parse(options);
        for (index, (name, value)) in found.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(
                settings,
                "{comma}set_config({}, {}, true)",
                quote_literal(&name),
                quote_literal(&value)
            );
        }

        Self {
            settings,
            left_out,
            edition: AtomicU64::new(0),
        }
    }

    /// The statements that start a transaction; with `replans`, PostgreSQL plans for the actual
    /// values.
    pub(super) fn begin(&self, begin: &str, replans: bool) -> String {
        let plans = if replans {
            "; SET LOCAL plan_cache_mode = force_custom_plan"
        } else {
            ""
        };
        format!("{begin}; {}{plans}", self.settings)
    }

    /// The text to prepare for a statement. A pooler prepares each text once on a server connection,
    /// for all of its clients.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.edition.load(Ordering::Relaxed) {
            0 => Cow::Borrowed(text),
            // On its own line, as the text may end with a comment.
            edition => Cow::Owned(format!("{text}\n/* {edition:x} */")),
        }
    }

    /// Makes the texts differ from all that were prepared before, also by other programs: PostgreSQL
    /// rejects those once the types of a view have changed.
    pub(super) fn renew_texts(&self) {
        let edition = RandomState::new().hash_one(()).max(1);
        self.edition.store(edition, Ordering::Relaxed);
    }

    /// Logs that a pooler does not pass on the start-up options.
    pub(super) fn note(&self) {
        let left_out = &self.left_out;
        tracing::info!(
            ?left_out,
            "a pooler does not forward start-up options, so each transaction starts with them"
        );
    }

    /// The settings for a transaction that has already started.
    #[cfg(feature = "sqlx")]
    pub(crate) fn settings(&self) -> &str {
        &self.settings
    }
}

/// Whether the server has received the start-up options of a connection.
pub(super) async fn has_options(client: &Client, wire: &mut Wire) -> Result<bool, DriverError> {
    let answer = wire.drive(client.simple_query(MARKED)).await?;
    Ok(answer.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("received"),
        _ => false,
    }))
}

impl DriverError {
    /// Whether a pooler rejected the connection because of its start-up options.
    pub(super) fn refuses_options(&self) -> bool {
        self.of_database()
            .is_some_and(|error| is_about_options(error.code().code(), error.message()))
    }
}

/// Whether an error is about start-up options. PgBouncer names the parameter; Amazon RDS Proxy
/// reports command-line options, or one option, as a feature that it does not support.
fn is_about_options(code: &str, message: &str) -> bool {
    let message = message.to_lowercase();
    let is_named = message.contains("startup parameter") || message.contains("option");
    matches!(code, "08P01" | "0A000") && is_named
}

/// Parses the settings in start-up options as PostgreSQL does: `-c name=value`, `-cname=value` or
/// `--name=value`, where a backslash escapes the next character. The words that are not settings
/// are returned separately.
fn parse(options: &str) -> (Vec<(String, String)>, Vec<String>) {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match (word.strip_prefix("--"), word.strip_prefix("-c")) {
            (Some(setting), _) => setting.to_owned(),
            (None, Some("")) => words.next().unwrap_or_default(),
            (None, Some(setting)) => setting.to_owned(),
            (None, None) => String::new(),
        };
        match setting.split_once('=') {
            // PostgreSQL also accepts dashes in place of the underscores of a name.
            Some((name, value)) => found.push((name.replace('-', "_"), value.to_owned())),
            None => left_out.push(word),
        }
    }

    (found, left_out)
}

fn words(options: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = options.chars();

    while let Some(sign) = signs.next() {
        match sign {
            sign if sign.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(signs.next()),
            sign => word.get_or_insert_default().push(sign),
        }
    }

    words.extend(word);

    words
}

#[cfg(test)]
mod tests {
    use super::{PooledSession, is_about_options};

    #[test]
    fn renewed_texts_differ_from_all_before() {
        let session = PooledSession::of("");
        assert_eq!(session.text("SELECT 1"), "SELECT 1");
        session.renew_texts();
        let first = session.text("SELECT 1 -- one").into_owned();
        assert!(first.starts_with("SELECT 1 -- one\n/* "), "{first}");
        session.renew_texts();
        assert_ne!(session.text("SELECT 1 -- one"), first);
    }

    #[test]
    fn refused_start_up_options_are_recognized() {
        for (code, message) in [
            ("08P01", "unsupported startup parameter: extra_float_digits"),
            (
                "08P01",
                "unsupported startup parameter in options: statement_timeout",
            ),
            (
                "0A000",
                "Feature not supported: RDS Proxy currently doesn’t support command-line options.",
            ),
        ] {
            assert!(is_about_options(code, message), "{message}");
        }

        for (code, message) in [
            ("08P01", "server login failed"),
            ("0A000", "unsupported frontend protocol 1.0"),
            ("22023", "invalid command-line argument for server process"),
            (
                "28P01",
                "password authentication failed for user \"option\"",
            ),
        ] {
            assert!(!is_about_options(code, message), "{message}");
        }
    }

    #[test]
    fn start_up_options_are_set_for_each_transaction() {
        for (options, settings) in [
            (
                "-c TimeZone=UTC",
                "SELECT set_config('TimeZone', 'UTC', true)",
            ),
            (
                r"-csearch_path=app,\ public --statement-timeout=5",
                "SELECT set_config('search_path', 'app, public', true), set_config('statement_timeout', '5', true)",
            ),
            (
                r"-c a.b=it's\\",
                r"SELECT set_config('a.b', E'it''s\\', true)",
            ),
        ] {
            let session = PooledSession::of(options);
            assert_eq!(
                session.begin("BEGIN", false),
                format!("BEGIN; {settings}"),
                "{options}"
            );
            assert!(
                session
                    .begin("BEGIN", true)
                    .ends_with("SET LOCAL plan_cache_mode = force_custom_plan")
            );
        }
    }
}
