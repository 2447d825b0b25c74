//! The English of comments and pages: nouns and plain verbs, where question words and "those that"
//! read as translated.
//!
//! The bounds are a little above the highest rates in axum, tower-http, sqlx, ripgrep and uv.
//! Single sentences are free.

use crate::tidy::TextFile;
use crate::tidy::source::is_of_tests;

/// The texts that are counted together.
const PARTS: [&str; 10] = [
    "crates/svc-auth/src",
    "crates/svc-core/src",
    "crates/svc-embedded/src",
    "crates/svc-engine/src",
    "crates/svc-postgres/src",
    "crates/svc-telemetry/src",
    "docs",
    "svc-cli/src",
    "svc-macros/src",
    "svc/src",
];

const QUESTIONS: &[&str] = &["what", "who", "whoever", "whatever"];
const AFTER_THOSE: &[&str] = &[
    "that", "who", "which", "of", "with", "without", "below", "above", "for", "in", "on",
];
const BEFORE_WHICH: &[&str] = &["of", "in", "for", "from", "to", "by", "with"];
const TALK: &[&str] = &[
    "ask", "asks", "asked", "tell", "tells", "told", "know", "knows", "known",
];
const POSTURES: &[&str] = &["stand", "stands", "lie", "lies", "lay"];
const VAGUE: &[&str] = &["nobody", "somebody", "anew", "thereby", "wherever"];
const OWNERS: &[&str] = &["its", "their", "his", "your", "my"];

/// A habit, and the most that there may be of it per 1,000 words.
struct Habit {
    name: &'static str,
    bound: f64,
    /// Whether it begins with the first of these words.
    begins: fn(&[&str]) -> bool,
}

const HABITS: [Habit; 7] = [
    Habit {
        name: "clauses with `what` or `who` in place of a noun",
        bound: 1.5,
        begins: |words| words.len() > 1 && QUESTIONS.contains(&words[0]),
    },
    Habit {
        name: "`those that`, `those of`",
        bound: 0.3,
        begins: |words| words.len() > 1 && words[0] == "those" && AFTER_THOSE.contains(&words[1]),
    },
    Habit {
        name: "`of which`, `by which`",
        bound: 0.8,
        begins: |words| words.len() > 1 && BEFORE_WHICH.contains(&words[0]) && words[1] == "which",
    },
    Habit {
        name: "`asks`, `tells`, `knows`",
        bound: 1.5,
        begins: |words| TALK.contains(&words[0]),
    },
    Habit {
        name: "`stands`, `lies`",
        bound: 0.3,
        begins: |words| POSTURES.contains(&words[0]),
    },
    Habit {
        name: "`nobody`, `anew`, `wherever`",
        bound: 0.4,
        begins: |words| VAGUE.contains(&words[0]),
    },
    Habit {
        name: "`of its own`",
        bound: 0.4,
        begins: |words| {
            words.len() > 2 && words[0] == "of" && OWNERS.contains(&words[1]) && words[2] == "own"
        },
    },
];

/// The habits that a part has more of than it may, each with some of its places.
pub(crate) fn check(files: &[TextFile]) -> Vec<String> {
    PARTS
        .iter()
        .flat_map(|part| exceeded(part, files))
        .collect()
}

fn exceeded(part: &str, files: &[TextFile]) -> Vec<String> {
    let mut total = 0;
    let mut places: [Vec<String>; HABITS.len()] = Default::default();

    for file in files
        .iter()
        .filter(|file| file.path.starts_with(part) && !is_of_tests(&file.path))
    {
        for (number, line) in prose(file) {
            let line = line.to_lowercase();
            let words: Vec<&str> = line
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect();
            total += words.len();

            for start in 0..words.len() {
                for (habit, places) in HABITS.iter().zip(&mut places) {
                    if (habit.begins)(&words[start..]) {
                        places.push(format!("    {}:{number}", file.path.display()));
                    }
                }
            }
        }
    }

    let mut messages = Vec::new();
    for (habit, places) in HABITS.iter().zip(places) {
        let rate = places.len() as f64 * 1_000.0
            / f64::from(u32::try_from(total.max(1)).unwrap_or(u32::MAX));
        if rate > habit.bound {
            let some = places.into_iter().take(10).collect::<Vec<_>>().join("\n");
            let (name, bound) = (habit.name, habit.bound);
            messages.push(format!(
                "{part}: {rate:.1} of 1,000 words begin {name}, more than {bound}; for instance\n{some}"
            ));
        }
    }

    messages
}

/// The lines of comments or of a page outside code, each with its number.
fn prose(file: &TextFile) -> Vec<(usize, String)> {
    let is_page = file.extension() == "md";
    if !is_page && file.extension() != "rs" {
        return Vec::new();
    }

    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let text = if is_page { Some(line) } else { comment(line) };
        let Some(text) = text else {
            is_code = false;
            continue;
        };
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((index + 1, without_spans(text)));
        }
    }

    lines
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text))
}

/// The text with each code span as one word.
fn without_spans(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(index, part)| if index % 2 == 0 { part } else { " x " })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::check;
    use crate::tidy::TextFile;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&[TextFile {
            path: PathBuf::from(path),
            text: text.to_owned(),
        }])
    }

    #[test]
    fn habits_beyond_their_bounds_are_reported_with_locations() {
        let messages = found(
            "svc/src/a.rs",
            "/// What is kept for those that ask.\nfn f() {}\n",
        );
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(
            messages[0].starts_with("svc/src: 142.9 of 1,000 words begin clauses with `what`"),
            "{messages:?}"
        );
        assert!(messages[0].ends_with("    svc/src/a.rs:1"), "{messages:?}");

        assert_eq!(
            found("docs/a.md", "Somebody has a key of its own.\n").len(),
            2
        );
    }

    #[test]
    fn code_and_tests_are_left_out() {
        assert_eq!(
            found(
                "svc/src/a.rs",
                "/// ```\n/// what is it\n/// ```\n/// Calls `what it` is.\n"
            ),
            [""; 0]
        );

        assert_eq!(found("svc/src/a/tests.rs", "/// What it is.\n"), [""; 0]);
        assert_eq!(found("xtask/src/a.rs", "/// What it is.\n"), [""; 0]);
    }
}
