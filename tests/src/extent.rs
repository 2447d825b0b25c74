//! The number of cases of tests that have fewer of them in every run.

/// The variable that `cargo xtask test long` sets.
const LONG: &str = "SVC_TEST_LONG";

/// Returns the seed that the variable `name` gives, or `usual`.
///
/// # Panics
/// If the variable is no number.
#[must_use]
pub fn seed(name: &str, usual: u64) -> u64 {
    number(name).unwrap_or(usual)
}

/// Returns the number of cases that the variable `name` gives. Without it, this is `long` in the
/// long suite and `usual` in every other run.
///
/// # Panics
/// If the variable is no number.
#[must_use]
pub fn cases(name: &str, usual: u64, long: u64) -> u64 {
    number(name).unwrap_or(if is_long() { long } else { usual })
}

fn is_long() -> bool {
    std::env::var_os(LONG).is_some()
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
    )
}
