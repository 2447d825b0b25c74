//! The kinds of values that settings have: parsing from the environment, and display.

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{ConfigError, MAX_TIMEOUT, Variables};

/// Parses and displays settings of type `T`.
pub trait Kind<T: Debug> {
    /// Parses a text.
    ///
    /// # Errors
    /// Returns the requirement as a sentence that starts with "it must be".
    fn parse(&self, text: &str) -> Result<T, String>;

    /// The allowed values of the variable, for the book.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "a test makes the page of the book")
    )]
    fn allowed(&self) -> String;

    /// Returns a value in the form that the variable uses, for the book.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "a test makes the page of the book")
    )]
    fn shown(&self, value: &T) -> String;

    /// Returns a value in the form that `Debug` shows.
    fn debugged(&self, value: &T) -> String {
        format!("{value:?}")
    }

    /// Reads the first of the variables that is set.
    ///
    /// # Errors
    /// Fails if the value cannot be used.
    fn read(
        &self,
        variables: &Variables<'_>,
        names: &[&'static str],
    ) -> Result<Option<T>, ConfigError> {
        let Some((name, text)) = variables.first(names) else {
            return Ok(None);
        };
        self.parse(&text)
            .map(Some)
            .map_err(|allowed| ConfigError::new(name, text, &allowed))
    }
}

/// Any text.
pub struct Text;
/// A secret, which is never shown, with a description of the allowed values.
pub struct Secret(pub &'static str);
/// A path.
pub struct Path;
/// True or false.
pub struct Flag;
/// True or false, or unset if the value is decided elsewhere; the words describe the default.
pub struct Whether(
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "a test makes the page of the book")
    )]
    pub &'static str,
);
/// A number in a range, with its unit.
pub struct Count(pub RangeInclusive<u64>, pub &'static str);
/// A time in whole seconds.
pub struct Seconds(pub RangeInclusive<u64>);
/// A time in whole milliseconds.
pub struct Milliseconds(pub RangeInclusive<u64>);
/// A value parsed by [`FromStr`], with a description of the allowed values.
pub struct Parsed(pub &'static str);
/// An optional value.
pub struct Maybe<K>(pub K);
/// A value that is decided elsewhere unless it is set, with a description of the default.
pub struct Otherwise<K>(pub K, pub &'static str);
/// A time that 0 disables.
pub struct OrNever<K>(K);

/// Creates a kind of times that 0 disables.
pub fn or_never<K>(kind: K) -> OrNever<K> {
    OrNever(kind)
}

impl Kind<String> for Text {
    fn parse(&self, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
    fn allowed(&self) -> String {
        "text".to_owned()
    }
    fn shown(&self, value: &String) -> String {
        value.clone()
    }
}

impl Kind<Option<String>> for Secret {
    fn parse(&self, text: &str) -> Result<Option<String>, String> {
        Ok(Some(text.to_owned()))
    }
    fn allowed(&self) -> String {
        self.0.to_owned()
    }
    fn shown(&self, value: &Option<String>) -> String {
        value.as_ref().map_or("none", |_| "***").to_owned()
    }
    fn debugged(&self, value: &Option<String>) -> String {
        format!("{:?}", value.as_ref().map(|_| "***"))
    }
    fn read(
        &self,
        variables: &Variables<'_>,
        names: &[&'static str],
    ) -> Result<Option<Option<String>>, ConfigError> {
        // `parse` is not called, because its error would quote the secret.
        Ok(variables.first(names).map(|(_, text)| Some(text)))
    }
}

impl Kind<PathBuf> for Path {
    fn parse(&self, text: &str) -> Result<PathBuf, String> {
        Ok(text.into())
    }
    fn allowed(&self) -> String {
        "a path".to_owned()
    }
    fn shown(&self, value: &PathBuf) -> String {
        value.display().to_string()
    }
}

impl Kind<bool> for Flag {
    fn parse(&self, text: &str) -> Result<bool, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err("it must be true or false".to_owned()),
        }
    }
    fn allowed(&self) -> String {
        "true or false".to_owned()
    }
    fn shown(&self, value: &bool) -> String {
        value.to_string()
    }
}

impl Kind<Option<bool>> for Whether {
    fn parse(&self, text: &str) -> Result<Option<bool>, String> {
        Flag.parse(text).map(Some)
    }
    fn allowed(&self) -> String {
        Flag.allowed()
    }
    fn shown(&self, value: &Option<bool>) -> String {
        value.map_or_else(|| self.0.to_owned(), |value| value.to_string())
    }
}

impl<T: TryFrom<u64> + Display + Debug> Kind<T> for Count {
    fn parse(&self, text: &str) -> Result<T, String> {
        let allowed = || {
            format!(
                "it must be a number of {} from {} to {}",
                self.1,
                self.0.start(),
                self.0.end()
            )
        };

        let number = text
            .parse::<u64>()
            .ok()
            .filter(|number| self.0.contains(number))
            .ok_or_else(allowed)?;

        T::try_from(number).map_err(|_| allowed())
    }
    fn allowed(&self) -> String {
        format!("{} from {} to {}", self.1, self.0.start(), self.0.end())
    }
    fn shown(&self, value: &T) -> String {
        value.to_string()
    }
}

impl Kind<Duration> for Seconds {
    fn parse(&self, text: &str) -> Result<Duration, String> {
        Count(self.0.clone(), "seconds")
            .parse(text)
            .map(Duration::from_secs)
    }
    fn allowed(&self) -> String {
        <Count as Kind<u64>>::allowed(&Count(self.0.clone(), "seconds"))
    }
    fn shown(&self, value: &Duration) -> String {
        value.as_secs().to_string()
    }
}

impl Kind<Duration> for Milliseconds {
    fn parse(&self, text: &str) -> Result<Duration, String> {
        Count(self.0.clone(), "milliseconds")
            .parse(text)
            .map(Duration::from_millis)
    }
    fn allowed(&self) -> String {
        <Count as Kind<u64>>::allowed(&Count(self.0.clone(), "milliseconds"))
    }
    fn shown(&self, value: &Duration) -> String {
        value.as_millis().to_string()
    }
}

impl<T: FromStr + Display + Debug> Kind<T> for Parsed {
    fn parse(&self, text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("it must be {}", self.0))
    }
    fn allowed(&self) -> String {
        self.0.to_owned()
    }
    fn shown(&self, value: &T) -> String {
        value.to_string()
    }
}

impl<T: Debug, K: Kind<T>> Kind<Option<T>> for Maybe<K> {
    fn parse(&self, text: &str) -> Result<Option<T>, String> {
        self.0.parse(text).map(Some)
    }
    fn allowed(&self) -> String {
        self.0.allowed()
    }
    fn shown(&self, value: &Option<T>) -> String {
        value
            .as_ref()
            .map_or_else(|| "none".to_owned(), |value| self.0.shown(value))
    }
    fn debugged(&self, value: &Option<T>) -> String {
        value.as_ref().map_or_else(
            || "None".to_owned(),
            |value| format!("Some({})", self.0.debugged(value)),
        )
    }
}

impl<T: Debug, K: Kind<T>> Kind<Option<T>> for Otherwise<K> {
    fn parse(&self, text: &str) -> Result<Option<T>, String> {
        self.0.parse(text).map(Some)
    }
    fn allowed(&self) -> String {
        self.0.allowed()
    }
    fn shown(&self, value: &Option<T>) -> String {
        value
            .as_ref()
            .map_or_else(|| self.1.to_owned(), |value| self.0.shown(value))
    }
}

impl<K: Kind<Duration>> Kind<Option<Duration>> for OrNever<K> {
    fn parse(&self, text: &str) -> Result<Option<Duration>, String> {
        let time = self.0.parse(text)?;

        // The sum of an `Instant` and a larger time could overflow, which panics.
        Ok((!time.is_zero()).then(|| time.min(MAX_TIMEOUT)))
    }
    fn allowed(&self) -> String {
        format!("{}; 0 disables it", self.0.allowed())
    }
    fn shown(&self, value: &Option<Duration>) -> String {
        self.0.shown(&value.unwrap_or_default())
    }
}
