//! Series as they are scraped.

use std::collections::BTreeMap;

use svc_tests::App;

/// The samples of one scrape, by name and labels as they are written.
#[derive(Debug)]
pub(super) struct Series(pub(super) BTreeMap<String, f64>);

impl Series {
    /// Scrapes an application.
    pub(super) async fn of(app: &App) -> Self {
        Self::read(&app.get("/metrics").await.text)
    }

    /// Reads the text of a scrape.
    pub(super) fn read(text: &str) -> Self {
        let samples = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let (series, value) = line
                    .rsplit_once(' ')
                    .unwrap_or_else(|| panic!("no sample: {line}"));
                (
                    series.to_owned(),
                    value
                        .parse()
                        .unwrap_or_else(|_| panic!("no number: {line}")),
                )
            });
        Self(samples.collect())
    }

    /// The value of a series; 0 where it has not begun.
    pub(super) fn value(&self, series: &str) -> f64 {
        self.0.get(series).copied().unwrap_or_default()
    }

    /// The sum of all series of a name.
    pub(super) fn sum(&self, name: &str) -> f64 {
        self.0
            .iter()
            .filter(|(series, _)| series.split('{').next() == Some(name))
            .map(|(_, value)| value)
            .sum()
    }

    /// Asserts the values of series.
    pub(super) fn assert(&self, expected: &[(&str, f64)]) {
        let wrong = expected
            .iter()
            .filter(|(series, value)| self.value(series) != *value);
        let wrong: Vec<_> = wrong
            .map(|(series, value)| format!("{series} is {}, not {value}", self.value(series)))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{:#?}", self.0);
    }
}
