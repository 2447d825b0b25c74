//! The places that are known not to keep the rules yet: a list that may only shrink.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

const FILE: &str = "xtask/src/tidy/known.txt";

/// The list, and what of it was found again.
#[derive(Debug)]
pub(crate) struct Known {
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Text(String),
    Circle {
        folder: String,
        parts: Vec<String>,
        found: Vec<Vec<String>>,
    },
    Count {
        rule: String,
        place: String,
        known: usize,
        found: usize,
    },
}

impl Known {
    pub(crate) fn read() -> Result<Self> {
        Self::parse(&std::fs::read_to_string(FILE).with_context(|| format!("cannot read {FILE}"))?)
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(|line| {
            Line::parse(line).with_context(|| format!("cannot read `{line}` of {FILE}"))
        });
        Ok(Self {
            lines: lines.collect::<Result<_>>()?,
        })
    }

    /// Whether a circle lies within a known one.
    pub(crate) fn circle(&mut self, folder: &str, parts: &[String]) -> bool {
        for line in &mut self.lines {
            if let Line::Circle {
                folder: known_folder,
                parts: known,
                found,
            } = line
                && known_folder == folder
                && parts.iter().all(|part| known.contains(part))
            {
                found.push(parts.to_vec());
                return true;
            }
        }

        false
    }

    /// The places with more than is known, and how much is known of each.
    pub(crate) fn exceeded(
        &mut self,
        rule: &str,
        counts: &BTreeMap<String, usize>,
    ) -> BTreeMap<String, usize> {
        let mut allowed: BTreeMap<&String, usize> = counts.keys().map(|place| (place, 0)).collect();
        for line in &mut self.lines {
            if let Line::Count {
                rule: known_rule,
                place,
                known,
                found,
            } = line
                && known_rule == rule
                && let Some((place, count)) = counts.get_key_value(place)
            {
                *found = *count;
                allowed.insert(place, *known);
            }
        }

        allowed.retain(|place, known| counts[*place] > *known);

        allowed
            .into_iter()
            .map(|(place, known)| (place.clone(), known))
            .collect()
    }

    /// The lines of the list that say more than was found; with `shrink` the list is written anew
    /// instead.
    pub(crate) fn finish(&self, shrink: bool) -> Result<Vec<String>> {
        let left: Vec<Vec<String>> = self.lines.iter().map(Line::left).collect();
        if shrink {
            let text: String = left
                .concat()
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            std::fs::write(Path::new(FILE), text)
                .with_context(|| format!("cannot write {FILE}"))?;
            return Ok(Vec::new());
        }

        let changed = self
            .lines
            .iter()
            .zip(left)
            .filter(|(line, left)| left.as_slice() != [line.to_string()]);

        let message = |(line, left): (&Line, Vec<String>)| {
            let left = if left.is_empty() {
                "nothing".to_owned()
            } else {
                left.join(", ")
            };
            format!("{FILE}: of `{line}` is left: {left}; run `cargo xtask tidy --shrink`")
        };

        Ok(changed.map(message).collect())
    }
}

impl Line {
    fn parse(line: &str) -> Result<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(rule) = words.next().filter(|first| !first.starts_with('#')) else {
            return Ok(Self::Text(line.to_owned()));
        };

        let place = words.next().context("a place is missing")?;
        if rule == "circle" {
            let folder = place
                .strip_suffix(':')
                .context("a colon after the folder is missing")?
                .to_owned();
            return Ok(Self::Circle {
                folder,
                parts: words.collect(),
                found: Vec::new(),
            });
        }

        let known = words.next().context("a count is missing")?.parse()?;
        if words.next().is_some() {
            bail!("words after the count");
        }

        Ok(Self::Count {
            rule,
            place,
            known,
            found: 0,
        })
    }

    /// The lines that say what was found, which is no more than is known.
    fn left(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::Circle { folder, found, .. } => found
                .iter()
                .map(|parts| format!("circle {folder}: {}", parts.join(" ")))
                .collect(),
            Self::Count { found: 0, .. } => Vec::new(),
            Self::Count {
                rule,
                place,
                known,
                found,
            } => vec![format!("{rule} {place} {}", found.min(known))],
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Circle { folder, parts, .. } => write!(f, "circle {folder}: {}", parts.join(" ")),
            Self::Count {
                rule, place, known, ..
            } => write!(f, "{rule} {place} {known}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Known;

    #[test]
    fn counts_may_neither_grow_nor_stay_too_high() {
        let mut known =
            Known::parse("# A comment.\nrule a 2\nrule b 2\nrule c 2\nrule d 2").unwrap();
        let counts = [("a", 1), ("b", 2), ("c", 3), ("e", 1)]
            .map(|(place, count)| (place.to_owned(), count));
        let exceeded = known.exceeded("rule", &BTreeMap::from(counts));

        assert_eq!(
            exceeded,
            BTreeMap::from([("c".to_owned(), 2), ("e".to_owned(), 0)])
        );
        let stale = known.finish(false).unwrap();
        assert_eq!(stale.len(), 2, "{stale:?}");
        assert!(
            stale[0].contains("of `rule a 2` is left: rule a 1;"),
            "{stale:?}"
        );

        assert!(
            stale[1].contains("of `rule d 2` is left: nothing;"),
            "{stale:?}"
        );
    }
}
