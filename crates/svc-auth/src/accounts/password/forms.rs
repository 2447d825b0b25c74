//! The forms in which passwords are compared with words.

/// Repetitions of fewer characters than this are refused.
const MIN_UNIT: usize = 4;

/// A password in the forms that are compared: case, signs, digits at both ends and repetitions
/// hardly make it harder to guess.
pub(super) struct Forms {
    /// The text in lower case.
    lower: String,
    /// Only its letters and digits.
    plain: String,
    /// The same without the digits at both ends.
    inner: String,
}

impl Forms {
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let plain = without_signs(&lower);
        let inner = without_signs(lower.trim_matches(|c: char| !c.is_alphabetic()));

        Self {
            lower,
            plain,
            inner,
        }
    }

    /// Whether a condition holds for a form, or for the text that the form repeats.
    pub(super) fn any(&self, condition: impl Fn(&str) -> bool) -> bool {
        [&self.plain, &self.inner]
            .into_iter()
            .filter(|form| !form.is_empty())
            .any(|form| condition(form) || condition(unit_of(form)))
    }

    /// Whether it is the same as a word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let word = Self::of(word);
        self.any(|form| form == word.plain || form == word.inner)
    }

    /// Whether it repeats the same few characters.
    pub(super) fn repeats_few_characters(&self) -> bool {
        [&self.lower, &self.plain].into_iter().any(|form| {
            let unit = unit_of(form);
            unit.len() < form.len() && unit.chars().count() < MIN_UNIT
        })
    }
}

fn without_signs(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the shortest text that results in this one if it is repeated.
fn unit_of(text: &str) -> &str {
    let bytes = text.as_bytes();
    (1..=bytes.len() / 2)
        .filter(|length| bytes.len().is_multiple_of(*length))
        .filter(|length| bytes.chunks(*length).all(|chunk| bytes.starts_with(chunk)))
        .find_map(|length| text.get(..length))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::unit_of;

    #[test]
    fn the_unit_of_a_text_is_its_shortest_repeated_part() {
        for (text, unit) in [
            ("", ""),
            ("a", "a"),
            ("aaaa", "a"),
            ("abcabc", "abc"),
            ("abcab", "abcab"),
            ("éé", "é"),
            ("123412341234", "1234"),
        ] {
            assert_eq!(unit_of(text), unit, "{text}");
        }
    }
}
