//! The default log, for programs that set up none.

mod json;

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

use json::JsonLines;
use svc_telemetry::LogFormat;

/// h2 logs a warning for each malformed frame, so a client could flood the log.
const DEFAULT: &str = "info,h2=error";

/// Whether the lines on standard error are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Formats a text that is written to standard error outside the log like the log's lines.
pub(super) fn in_form(text: String) -> String {
    if IS_JSON.load(Ordering::Relaxed) {
        json::serving(&text)
    } else {
        text
    }
}

/// Logs to standard error in this format, unless the program already has a subscriber.
pub(super) fn init(format: LogFormat) {
    let (filter, wrong) = filter(std::env::var(EnvFilter::DEFAULT_ENV).ok());
    let colors = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // A write error cannot be reported if standard error is full or closed, and trying to
        // report it aborts the program.
        .log_internal_errors(false);

    // An error means that there is a subscriber already; it stays.
    match format {
        LogFormat::Json => {
            let begun = lines
                .with_ansi(false)
                .event_format(JsonLines)
                .finish()
                .try_init();
            IS_JSON.fetch_or(begun.is_ok(), Ordering::Relaxed);
        }
        _ => drop(lines.with_ansi(colors).finish().try_init()),
    }

    if let Some(wrong) = wrong {
        tracing::warn!(
            "RUST_LOG is not a valid filter ({wrong}), so `{DEFAULT}` is used; a valid one is `info,svc=debug`"
        );
    }
}

/// Parses the variable's filter; the second value describes its error.
fn filter(variable: Option<String>) -> (EnvFilter, Option<String>) {
    let text = variable.filter(|text| !text.trim().is_empty());
    let Some(text) = text else {
        return (EnvFilter::new(DEFAULT), None);
    };

    match (EnvFilter::try_new(&text), slip(&text)) {
        (Ok(filter), None) => (filter, None),
        (Ok(_), Some(slip)) => (EnvFilter::new(DEFAULT), Some(slip)),
        (Err(error), _) => (EnvFilter::new(DEFAULT), Some(error.to_string())),
    }
}

/// Finds a word that is a misspelled level. The filter would take it for a module name and show
/// nothing else.
fn slip(text: &str) -> Option<String> {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.contains(['=', '[', ':', '_']));

    words.map(str::to_ascii_lowercase).find_map(|word| {
        let distance = |level: &&str| strsim::damerau_levenshtein(level, &word);
        let nearest = LEVELS.into_iter().min_by_key(distance)?;
        (distance(&nearest) == 1).then(|| format!("did you mean `{nearest}` by `{word}`?"))
    })
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn misspelled_filters_get_a_suggestion() {
        let wrong = |text: &str| filter(Some(text.to_owned())).1;
        assert_eq!(
            wrong("inof").as_deref(),
            Some("did you mean `info` by `inof`?")
        );
        assert_eq!(
            wrong("svc=debug,DEBG").as_deref(),
            Some("did you mean `debug` by `debg`?")
        );
        assert!(wrong("svc=loud=3").is_some());

        for right in [
            "",
            "info",
            "WARN,svc=debug",
            "shop",
            "my_crate=trace,off",
            "svc[request]=debug",
        ] {
            assert_eq!(wrong(right), None, "{right}");
        }
    }
}
