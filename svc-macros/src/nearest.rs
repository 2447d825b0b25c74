//! Suggests the intended name for a misspelled one.

/// The minimum similarity, from 0 to 1, for a suggestion.
const LIKENESS: f64 = 0.6;

/// Returns the most similar name, or `None` if no name is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let like = |known: &'a str| (strsim::normalized_damerau_levenshtein(&name, known), known);
    let likest = known
        .into_iter()
        .map(like)
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likest.0 >= LIKENESS).then_some(likest.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn misspelled_names_get_a_suggestion_and_other_words_do_not() {
        let keys = ["sql_source", "name", "implements", "stored"];
        let found = [
            "sql_sorce",
            "storred",
            "nme",
            "Name",
            "source",
            "implement",
            "default",
            "key",
            "",
        ];

        let meant = found.map(|name| nearest(name, keys));
        let expected = [
            Some("sql_source"),
            Some("stored"),
            Some("name"),
            Some("name"),
            Some("sql_source"),
            Some("implements"),
            None,
            None,
            None,
        ];

        assert_eq!(meant, expected);
    }
}
