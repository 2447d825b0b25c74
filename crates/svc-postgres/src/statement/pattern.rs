//! Patterns written by clients, and their languages.

use std::collections::BTreeMap;

use super::{Param, Statement};

/// The language of a pattern. PostgreSQL parses the pattern when the statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternLanguage {
    /// A POSIX regular expression.
    Regex,
    /// A case-insensitive POSIX regular expression.
    CaselessRegex,
    /// An SQL/JSON path.
    JsonPath,
    /// A query of the extension `ltree`.
    Lquery,
    /// A text search query in the syntax of `to_tsquery`.
    TsQuery,
}

/// All languages, ordered by the frequency of their operators.
const ALL: [PatternLanguage; 5] = [
    PatternLanguage::Regex,
    PatternLanguage::CaselessRegex,
    PatternLanguage::JsonPath,
    PatternLanguage::Lquery,
    PatternLanguage::TsQuery,
];

impl PatternLanguage {
    /// A statement that parses patterns and applies them to trivial values.
    fn probe(self) -> &'static str {
        match self {
            Self::Regex => "SELECT '' ~ v FROM unnest($1) AS p(v)",
            Self::CaselessRegex => "SELECT '' ~* v FROM unnest($1) AS p(v)",
            Self::JsonPath => "SELECT 'null'::jsonb @? v::jsonpath FROM unnest($1) AS p(v)",
            Self::Lquery => "SELECT ''::ltree ~ v::lquery FROM unnest($1) AS p(v)",
            Self::TsQuery => "SELECT to_tsquery(v) FROM unnest($1) AS p(v)",
        }
    }

    /// A condition without columns that parses a pattern, and is true if PostgreSQL can.
    pub fn condition(self, placeholder: &str) -> String {
        match self {
            Self::Regex => format!("('' ~ {placeholder}::text) IS NOT NULL"),
            Self::CaselessRegex => format!("('' ~* {placeholder}::text) IS NOT NULL"),
            Self::JsonPath => format!("{placeholder}::jsonpath IS NOT NULL"),
            Self::Lquery => format!("{placeholder}::lquery IS NOT NULL"),
            // The same syntax as `to_tsquery`, which needs the dictionaries and so is evaluated
            // only when the statement runs.
            Self::TsQuery => format!("{placeholder}::tsquery IS NOT NULL"),
        }
    }

    /// Whether a valid pattern may fail when it is applied, in this PostgreSQL source file.
    fn fails_in(self, file: &str) -> bool {
        self == Self::JsonPath && file.starts_with("jsonpath")
    }

    /// The language whose patterns are parsed in a PostgreSQL source file.
    fn read_in(file: &str) -> Option<Self> {
        let files = [
            ("regexp", Self::Regex),
            ("jsonpath", Self::JsonPath),
            ("ltree_io", Self::Lquery),
            ("tsquery", Self::TsQuery),
        ];

        files
            .into_iter()
            .find(|(prefix, _)| file.starts_with(prefix))
            .map(|(_, language)| language)
    }
}

impl Statement {
    /// Statements that parse the patterns in isolation, one per language.
    pub(crate) fn pattern_probes(&self) -> impl Iterator<Item = (PatternLanguage, Self)> {
        ALL.into_iter().filter_map(|language| {
            let patterns = self.patterns(language);
            (!patterns.is_empty()).then(|| {
                (
                    language,
                    Self::new(language.probe(), vec![Param::Texts(patterns)]),
                )
            })
        })
    }

    /// Statements that parse the values of comparisons in isolation, one per cast type.
    pub(crate) fn value_probes(&self) -> impl Iterator<Item = Self> {
        self.probes(|param| match param {
            Param::Text(text) => std::slice::from_ref(text),
            Param::Texts(texts) => texts,
            // Patterns and cursors have their own probes.
            Param::Pattern(..) | Param::CursorKey(_) | Param::Int(_) | Param::Variable(_) => &[],
        })
    }

    /// Statements that parse the keys of cursors in isolation, one per cast type.
    pub(crate) fn cursor_probes(&self) -> impl Iterator<Item = Self> {
        self.probes(|param| match param {
            Param::CursorKey(text) => std::slice::from_ref(text),
            _ => &[],
        })
    }

    /// Statements that convert the arguments of calls in isolation, one per call.
    pub(crate) fn call_probes(&self) -> impl Iterator<Item = Self> {
        self.text
            .probes()
            .iter()
            .filter_map(|probe| probe.statement(&self.params))
    }

    fn probes(&self, values: impl Fn(&Param) -> &[String]) -> impl Iterator<Item = Self> {
        let mut by_cast: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (number, cast) in self.text.casts() {
            let values = self
                .params
                .get(number - 1)
                .map(&values)
                .filter(|values| !values.is_empty());
            if let Some(values) = values {
                by_cast.entry(cast).or_default().extend_from_slice(values);
            }
        }

        by_cast.into_iter().map(|(cast, texts)| {
            Self::new(
                format!("SELECT v::{cast} FROM unnest($1) AS p(v)"),
                vec![Param::Texts(texts)],
            )
        })
    }

    /// The language of a pattern that caused an error in this PostgreSQL source file. Hand-written
    /// SQL does not show which of its variables are patterns.
    pub(crate) fn pattern_failed_in(&self, file: &str) -> Option<PatternLanguage> {
        let mut known = self.params.iter().filter_map(|param| match param {
            Param::Pattern(language, _) => Some(*language),
            _ => None,
        });
        let known = known.find(|language| language.fails_in(file));
        known.or_else(|| PatternLanguage::read_in(file).filter(|_| self.has_variables()))
    }

    /// Whether it was written by hand, with variables from clients.
    pub(crate) fn has_variables(&self) -> bool {
        self.params
            .iter()
            .any(|param| matches!(param, Param::Variable(_)))
    }

    /// Whether one of its values has U+0000, as it is or as an escape of JSON.
    pub(crate) fn has_nul(&self) -> bool {
        let has_nul = |text: &str| text.contains('\0') || text.contains("\\u0000");
        self.params.iter().any(|param| match param {
            Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => has_nul(text),
            Param::Texts(texts) => texts.iter().any(|text| has_nul(text)),
            Param::Variable(json) => has_nul(&json.to_string()),
            Param::Int(_) => false,
        })
    }

    fn patterns(&self, language: PatternLanguage) -> Vec<String> {
        let of_language = self.params.iter().filter_map(|param| match param {
            Param::Pattern(known, text) if *known == language => Some(text.clone()),
            _ => None,
        });
        of_language.collect()
    }
}
