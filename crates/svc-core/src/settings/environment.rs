//! The environment as a whole: values that are not text, and unknown names.

use std::ffi::OsString;

use super::ConfigError;

/// The variables that are read but not in the table of settings: by the tool `svc`, by the embedded
/// database, by programs started by these, by tests of programs, and by the settings of tracing,
/// which are not in the table.
const OTHERS: [&str; 9] = [
    "SVC_DESCRIBE",
    "SVC_DESCRIBE_DATABASE",
    "SVC_EMBEDDED_TEST_IGNORES_SIGNALS",
    "SVC_EMBEDDED_TEST_ROOT",
    "SVC_PG_BIN",
    "SVC_PG_INITDB_CACHE",
    "SVC_SUPERVISED",
    "SVC_TEST_DATABASE_URL",
    "SVC_TRACING_SQL_COMMENTS",
];
/// The prefix of svc's variables.
const PREFIX: &str = "SVC_";
/// The minimum similarity, from 0 to 1, for treating a name as a typo.
const LIKENESS: f64 = 0.7;

/// Rejects a variable that is not text: otherwise another variable, or the default, would silently
/// be used instead.
///
/// # Errors
/// Returns a [`ConfigError`] with its name, but without its value.
pub fn check_text(names: &[&'static str]) -> Result<(), ConfigError> {
    let is_text =
        |name: &&&str| std::env::var_os(name).is_none_or(|value| value.to_str().is_some());
    match names.iter().find(|name| !is_text(name)) {
        Some(name) => Err(ConfigError::new(name, "***", "it must be text in UTF-8")),
        None => Ok(()),
    }
}

/// Returns a message for each unknown variable of svc, suggesting the one that may have been meant.
pub fn unknown(known: &[&'static str], set: impl Iterator<Item = OsString>) -> Vec<String> {
    let names = set.map(|name| name.to_string_lossy().into_owned());
    let mut unknown = names
        .filter(|name| {
            name.starts_with(PREFIX)
                && !known.contains(&name.as_str())
                && !OTHERS.contains(&name.as_str())
        })
        .map(|name| match nearest(&name, known) {
            Some(meant) => format!("{name} is not a setting of svc; did you mean {meant}?"),
            None => format!("{name} is not a setting of svc; docs/settings.md lists all of them"),
        })
        .collect::<Vec<_>>();

    // The environment has no fixed order, and the messages should be the same at each start.
    unknown.sort();

    unknown
}

fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    // The common prefix would make all names similar.
    let own = |name: &str| name.trim_start_matches(PREFIX).to_ascii_uppercase();
    let like = |known: &&'static str| {
        (
            strsim::normalized_damerau_levenshtein(&own(name), &own(known)),
            *known,
        )
    };

    let likest = known
        .iter()
        .map(like)
        .max_by(|one, other| one.0.total_cmp(&other.0))?;

    (likest.0 >= LIKENESS).then_some(likest.1)
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn misspelled_settings_are_named_with_a_suggestion() {
        let set = [
            "SVC_PROT",
            "SVC_PORT",
            "SVC_database_url",
            "SVC_SHOP_KEY",
            "PATH",
            "SVC_PG_BIN",
            "SVC_PG_INITDB_CACHE",
        ];

        let found = unknown(
            &["SVC_PORT", "SVC_DATABASE_URL"],
            set.into_iter().map(Into::into),
        );

        assert_eq!(
            found,
            [
                "SVC_PROT is not a setting of svc; did you mean SVC_PORT?",
                "SVC_SHOP_KEY is not a setting of svc; docs/settings.md lists all of them",
                "SVC_database_url is not a setting of svc; did you mean SVC_DATABASE_URL?",
            ]
        );
    }
}
