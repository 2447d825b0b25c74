//! Full text search in the configuration `simple`.

/// Each word with its positions.
struct Document<'a>(Vec<(&'a str, Vec<usize>)>);

impl<'a> Document<'a> {
    fn of(vector: &'a str) -> Self {
        let words = vector.split_whitespace().map(|word| {
            let (word, places) = word.split_once(':').expect("a word with its positions");
            (
                word.trim_matches('\''),
                places
                    .split(',')
                    .map(|place| place.parse().expect("a position"))
                    .collect(),
            )
        });
        Self(words.collect())
    }

    fn places(&self, word: &str) -> &[usize] {
        self.0
            .iter()
            .find(|(known, _)| *known == word)
            .map_or(&[], |(_, places)| places)
    }

    fn has(&self, word: &str) -> bool {
        !self.places(word).is_empty()
    }

    fn has_row(&self, words: &[&str]) -> bool {
        self.places(words[0]).iter().any(|first| {
            words
                .iter()
                .enumerate()
                .all(|(offset, word)| self.places(word).contains(&(first + offset)))
        })
    }

    /// A word, `-word` or `!word`.
    fn term(&self, term: &str) -> bool {
        term.strip_prefix(['-', '!'])
            .map_or_else(|| self.has(term), |word| !self.has(word))
    }
}

/// The queries that the generator makes.
pub(super) fn holds(operator: &str, vector: &str, query: &str) -> bool {
    let document = Document::of(vector);
    let words: Vec<&str> = query.split_whitespace().collect();
    match operator {
        "plain_query" => words.iter().all(|word| document.has(word)),
        "phrase_query" => document.has_row(&words),
        "websearch_query" => match query.split_once('"') {
            Some((before, phrase)) => {
                let phrase: Vec<&str> = phrase.trim_matches('"').split_whitespace().collect();
                before.split_whitespace().all(|term| document.term(term))
                    && document.has_row(&phrase)
            }
            None => query
                .split(" or ")
                .any(|all| all.split_whitespace().all(|term| document.term(term))),
        },
        _ => match query.split_once(" <-> ") {
            Some((first, second)) => document.has_row(&[first, second]),
            None => query
                .split(" | ")
                .any(|all| all.split(" & ").all(|term| document.term(term))),
        },
    }
}
