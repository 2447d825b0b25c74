//! The figures with their bounds.

use std::time::Duration;

/// The head of a table of figures.
pub(crate) const HEAD: &str = "| | measured | bound |\n|---|---:|---:|";

/// Prints figures, and keeps those that are beyond their bounds.
#[derive(Debug, Default)]
pub(crate) struct Claims(Vec<String>);

impl Claims {
    /// A time, and the most that it may be.
    pub(crate) fn time(&mut self, name: &str, time: Duration, most: Option<Duration>) {
        let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
        let bound = most.map_or_else(|| "–".to_owned(), |most| format!("< {}", shown(most)));
        self.say(
            name,
            &shown(time),
            &bound,
            most.is_some_and(|most| time >= most),
        );
    }

    /// A rate, and the least that it may be.
    pub(crate) fn rate(&mut self, name: &str, rate: f64, least: Option<f64>) {
        let bound = least.map_or_else(|| "–".to_owned(), |least| format!("≥ {least:.0}"));
        self.say(
            name,
            &format!("{rate:.0}"),
            &bound,
            least.is_some_and(|least| rate < least),
        );
    }

    /// A number of what must not be.
    pub(crate) fn count(&mut self, name: &str, count: usize) {
        self.say(name, &count.to_string(), "0", count > 0);
    }

    /// The figures that are beyond their bounds.
    pub(crate) fn failed(self) -> Vec<String> {
        self.0
    }

    fn say(&mut self, name: &str, figure: &str, bound: &str, is_beyond: bool) {
        println!("| {name} | {figure} | {bound} |");
        if is_beyond {
            self.0.push(format!("{name}: {figure}, bound {bound}"));
        }
    }
}
