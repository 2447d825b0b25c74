//! Tests of the table of settings against the environment and the book.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::SvcConfig;
use svc_engine::Limits;

fn read(variables: &[(&str, &str)]) -> Result<Limits, String> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Limits::from_variables(get).map_err(|error| error.to_string())
}

#[test]
fn the_default_page_is_at_most_the_maximum() {
    assert_eq!(
        read(&[("SVC_LIMIT_MAX_PAGE", "10")]).map(|limits| limits.default_page),
        Ok(10)
    );
    let error = read(&[
        ("SVC_LIMIT_MAX_PAGE", "10"),
        ("SVC_LIMIT_DEFAULT_PAGE", "11"),
    ])
    .unwrap_err();

    assert_eq!(
        error,
        "SVC_LIMIT_DEFAULT_PAGE is \"11\"; it must be at most SVC_LIMIT_MAX_PAGE, which is 10"
    );
    let error = read(&[("SVC_LIMIT_DEPTH", "-1")]).unwrap_err();

    assert_eq!(
        error,
        "SVC_LIMIT_DEPTH is \"-1\"; it must be a number of levels from 0 to 4294967295"
    );
}

/// If two fields read the same variable, neither could be set alone.
#[test]
fn every_variable_sets_one_field() {
    let rows = SvcConfig::rows("");
    let mut seen = HashSet::new();
    for row in &rows {
        assert!(
            row.variables.iter().all(|name| seen.insert(*name)),
            "{row:?}"
        );
    }

    let nothing = format!("{:?}", SvcConfig::from_variables(|_| None).unwrap());
    assert_eq!(nothing, format!("{:?}", SvcConfig::default()));

    for row in rows
        .iter()
        .filter(|row| row.allowed.contains(" from ") && !row.allowed.contains("port"))
    {
        let (start, end) = row
            .allowed
            .split(" from ")
            .nth(1)
            .unwrap()
            .split_once(" to ")
            .unwrap();

        let end = end.split(';').next().unwrap();
        let other = if row.default == start { end } else { start };
        let set =
            SvcConfig::from_variables(|name| (name == row.variables[0]).then(|| other.to_owned()));

        assert_ne!(format!("{:?}", set.unwrap()), nothing, "{row:?}");
    }
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");

/// The page of the book, which is generated from the table. `SVC_WRITE_BOOK=1` writes it.
#[test]
fn the_page_of_the_book_has_every_setting() {
    let mut page = String::from(
        "# Settings\n\nEvery setting, with the environment variable that `AppOptions::from_env` and \
         `SvcConfig::from_env` read. An invalid value stops the program with an error that names the variable and its \
         valid values. The log names variables that are set but have no effect: unknown names, settings of a part that \
         the program does not use, and settings that the program overrides. \
         [Serving](serving.md#settings) explains this further.\n\nThis page is generated from the source by a test.\n",
    );

    let mut group = None;
    for row in SvcConfig::rows("") {
        let own = row.field.split_once('.').map(|(group, _)| group.to_owned());
        if group.as_ref() != Some(&own) {
            let title = own
                .as_deref()
                .map_or_else(|| "The service".to_owned(), |own| format!("`{own}`"));
            let head = "| Variable | Field of `SvcConfig` | Default | Values | Meaning |\n|---|---|---|---|---|";
            write!(page, "\n## {title}\n\n{head}\n").unwrap();
            group = Some(own);
        }

        let variables: Vec<_> = row
            .variables
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();

        let variables = variables.join(", or else ");
        let (field, default, allowed, doc) = (&row.field, &row.default, &row.allowed, &row.doc);

        writeln!(
            page,
            "| {variables} | `{field}` | {default} | {allowed} | {doc} |"
        )
        .unwrap();
    }

    if std::env::var_os("SVC_WRITE_BOOK").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }

    let known = std::fs::read_to_string(PAGE).unwrap_or_default();

    assert_eq!(
        known, page,
        "run `SVC_WRITE_BOOK=1 cargo test -p svc --lib settings`"
    );
}
