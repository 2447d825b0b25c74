//! The parameter values given by the URL and the environment.

use std::path::PathBuf;
use std::time::Duration;

use ahash::{HashMap, HashMapExt as _};

use super::parameter::{self, Kind, PARAMETERS, Parameter};
use super::url::{BadUrl, MISPLACED, Split};

/// Reads an environment variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The values of the parameters. An empty value counts as none, as in libpq.
pub(super) struct Given {
    values: HashMap<&'static str, Value>,
    /// The start-up options of the environment. The URL's options are added to them rather than
    /// replacing them, as sqlx applies them itself.
    options: String,
    /// `options[name]=value`.
    settings: Vec<(String, String)>,
    home: Option<PathBuf>,
}

struct Value {
    text: String,
    /// The environment variable that it comes from.
    variable: Option<&'static str>,
}

impl Given {
    pub(super) fn new(split: Split, variable: Variable<'_>) -> Result<Self, BadUrl> {
        let home = variable("HOME")
            .filter(|home| !home.is_empty())
            .map(PathBuf::from);
        let mut given = Self {
            values: HashMap::new(),
            options: String::new(),
            settings: Vec::new(),
            home,
        };

        for parameter in PARAMETERS {
            if let Some((name, text)) = parameter
                .variable
                .and_then(|name| Some((name, variable(name)?)))
            {
                given.put(parameter, text, Some(name))?;
            }
        }

        given.options = given
            .values
            .remove("options")
            .map(|value| value.text)
            .unwrap_or_default();

        for (name, text) in split.pairs {
            if let Some(setting) = name
                .strip_prefix("options[")
                .and_then(|name| name.strip_suffix(']'))
            {
                given.settings.push((setting.to_owned(), text));
                continue;
            }

            match parameter::find(&name) {
                Some(parameter) => given.put(parameter, text, None)?,
                // The unknown name may be part of a password, so the message does not quote it.
                None if split.is_doubtful => return Err(BadUrl::new(MISPLACED)),
                None => {
                    let (name, known) = (svc_core::exact_json::shorten(&name), parameter::names());
                    return Err(BadUrl::new(format!(
                        "its parameter `{name}` is not known; known are {known}"
                    )));
                }
            }
        }

        Ok(given)
    }

    fn put(
        &mut self,
        parameter: &Parameter,
        text: String,
        variable: Option<&'static str>,
    ) -> Result<(), BadUrl> {
        let name = parameter.name;
        if text.is_empty() {
            self.values.remove(name);
            return Ok(());
        }

        let shown = shown(name, variable);
        match parameter.kind {
            Kind::Known => {
                self.values.insert(name, Value { text, variable });
                Ok(())
            }
            Kind::Only(values, _) if values.contains(&text.to_ascii_lowercase().as_str()) => Ok(()),
            Kind::Only(values, why) => Err(BadUrl::new(format!(
                "{shown} must be {}, or be left out: {why}",
                values.join(" or ")
            ))),
            Kind::Refused(why) => Err(BadUrl::new(format!("{shown} is not supported: {why}"))),
        }
    }

    pub(super) fn text(&self, name: &'static str) -> Option<&str> {
        self.values.get(name).map(|value| value.text.as_str())
    }

    /// The parts of a comma-separated list.
    pub(super) fn list(&self, name: &'static str) -> Vec<&str> {
        self.text(name)
            .map(|text| text.split(',').collect())
            .unwrap_or_default()
    }

    pub(super) fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, BadUrl> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };

        let found = choices
            .iter()
            .find(|(choice, _)| *choice == text)
            .map(|(_, value)| *value);
        let names = || {
            choices
                .iter()
                .map(|(choice, _)| *choice)
                .collect::<Vec<_>>()
                .join(", ")
        };

        found
            .map(Some)
            .ok_or_else(|| self.refuse(name, &format!("must be one of {}", names())))
    }

    /// A whole number.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<i32>, BadUrl> {
        let parse = |text: &str| {
            text.trim()
                .parse()
                .map_err(|_| self.refuse(name, "must be a whole number"))
        };
        self.text(name).map(parse).transpose()
    }

    /// A duration; zero or less means none.
    pub(super) fn time(
        &self,
        name: &'static str,
        unit: Duration,
    ) -> Result<Option<Duration>, BadUrl> {
        Ok(self
            .number(name)?
            .map(|count| unit * u32::try_from(count).unwrap_or(0)))
    }

    /// A file in the user's PostgreSQL directory, if it exists.
    pub(super) fn default_file(&self, name: &str) -> Option<PathBuf> {
        self.home
            .as_ref()
            .map(|home| home.join(".postgresql").join(name))
            .filter(|file| file.exists())
    }

    pub(super) fn home(&self) -> Option<&PathBuf> {
        self.home.as_ref()
    }

    /// The start-up options: from the environment, then from `options`, then from the individual
    /// settings.
    pub(super) fn options(&self) -> String {
        let given = [
            self.options.as_str(),
            self.text("options").unwrap_or_default(),
        ];
        let mut options = given.join(" ").trim().to_owned();
        for (name, value) in &self.settings {
            super::push_setting(&mut options, name, value);
        }

        options
    }

    /// The error for a parameter, without its value.
    pub(super) fn refuse(&self, name: &'static str, why: &str) -> BadUrl {
        let variable = self.values.get(name).and_then(|value| value.variable);
        BadUrl::new(format!("{} {why}", shown(name, variable)))
    }
}

fn shown(name: &str, variable: Option<&str>) -> String {
    variable.map_or_else(
        || format!("its parameter `{name}`"),
        |variable| format!("the variable {variable}"),
    )
}
