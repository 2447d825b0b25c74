//! Patterns that clients write, and the languages in which they write them.

use std::collections::BTreeMap;

use super::{Param, Statement};

/// The language of a pattern. PostgreSQL reads the pattern when the statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternLanguage {
    /// Of `LIKE`.
    Like,
    /// A POSIX regular expression.
    Regex,
    /// An SQL/JSON path.
    JsonPath,
    /// A query of the extension `ltree`.
    Lquery,
    /// A text search query in the syntax of `to_tsquery`.
    TsQuery,
}

/// All languages, those of the more frequent operators first.
const ALL: [PatternLanguage; 5] = [
    PatternLanguage::Like,
    PatternLanguage::Regex,
    PatternLanguage::JsonPath,
    PatternLanguage::Lquery,
    PatternLanguage::TsQuery,
];

impl PatternLanguage {
    /// A statement that reads patterns, and applies them to next to nothing.
    fn probe(self) -> &'static str {
        match self {
            Self::Like => "SELECT '' LIKE v FROM unnest($1) AS p(v)",
            Self::Regex => "SELECT '' ~ v FROM unnest($1) AS p(v)",
            Self::JsonPath => "SELECT 'null'::jsonb @? v::jsonpath FROM unnest($1) AS p(v)",
            Self::Lquery => "SELECT ''::ltree ~ v::lquery FROM unnest($1) AS p(v)",
            Self::TsQuery => "SELECT to_tsquery(v) FROM unnest($1) AS p(v)",
        }
    }

    /// Whether a pattern that can be read may fail when it is applied, in this source file of PostgreSQL.
    fn fails_in(self, file: &str) -> bool {
        match self {
            Self::Like => file.starts_with("like"),
            Self::JsonPath => file.starts_with("jsonpath"),
            Self::Regex | Self::Lquery | Self::TsQuery => false,
        }
    }

    /// The language whose patterns a source file of PostgreSQL reads.
    fn read_in(file: &str) -> Option<Self> {
        let files = [
            ("like", Self::Like),
            ("regexp", Self::Regex),
            ("jsonpath", Self::JsonPath),
            ("ltree_io", Self::Lquery),
            ("tsquery", Self::TsQuery),
        ];
        files.into_iter().find(|(prefix, _)| file.starts_with(prefix)).map(|(_, language)| language)
    }
}

impl Statement {
    /// Statements that read the patterns by themselves, one for each language.
    pub(crate) fn pattern_probes(&self) -> impl Iterator<Item = (PatternLanguage, Self)> {
        ALL.into_iter().filter_map(|language| {
            let patterns = self.patterns(language);
            (!patterns.is_empty()).then(|| (language, Self::new(language.probe(), vec![Param::Texts(patterns)])))
        })
    }

    /// Statements that read the values of comparisons by themselves, one for each type that they are cast to.
    pub(crate) fn value_probes(&self) -> impl Iterator<Item = Self> {
        let mut by_cast: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (number, cast) in self.text.casts() {
            match self.params.get(number - 1) {
                Some(Param::Text(text)) => by_cast.entry(cast).or_default().push(text.clone()),
                Some(Param::Texts(texts)) => by_cast.entry(cast).or_default().extend_from_slice(texts),
                // Patterns have probes of their own.
                Some(Param::Pattern(..) | Param::Int(_) | Param::Variable(_)) | None => {}
            }
        }
        by_cast.into_iter().map(|(cast, texts)| {
            Self::new(format!("SELECT v::{cast} FROM unnest($1) AS p(v)"), vec![Param::Texts(texts)])
        })
    }

    /// The language of a pattern among the values that made an error in this source file of PostgreSQL. SQL that is
    /// written by hand does not tell which of its variables are patterns.
    pub(crate) fn pattern_failed_in(&self, file: &str) -> Option<PatternLanguage> {
        let mut known = self.params.iter().filter_map(|param| match param {
            Param::Pattern(language, _) => Some(*language),
            _ => None,
        });
        let known = known.find(|language| language.fails_in(file));
        known.or_else(|| PatternLanguage::read_in(file).filter(|_| self.has_variables()))
    }

    /// Whether it was written by hand, with variables of clients.
    pub(crate) fn has_variables(&self) -> bool {
        self.params.iter().any(|param| matches!(param, Param::Variable(_)))
    }

    fn patterns(&self, language: PatternLanguage) -> Vec<String> {
        let of_language = self.params.iter().filter_map(|param| match param {
            Param::Pattern(known, text) if *known == language => Some(text.clone()),
            _ => None,
        });
        of_language.collect()
    }
}
