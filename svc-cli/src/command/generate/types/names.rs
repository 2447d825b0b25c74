//! Names for Rust and GraphQL, derived from names in the database.

use std::collections::HashSet;

use crate::program::snake_case;

/// Keywords of Rust, written as `r#type` in fields.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized",
    "use", "virtual", "where", "while",
];

/// Keywords that do not allow this form.
const STRICT: [&str; 4] = ["self", "super", "crate", "_"];

/// Names that the schema or the file uses already.
const TAKEN: [&str; 35] = [
    "Query",
    "Mutation",
    "Subscription",
    "Int",
    "Float",
    "String",
    "Boolean",
    "ID",
    "BigInt",
    "UUID",
    "Uuid",
    "DateTime",
    "Date",
    "Time",
    "Decimal",
    "JSON",
    "Utc",
    "NaiveDate",
    "NaiveTime",
    "Option",
    "Some",
    "None",
    "Vec",
    "Box",
    "Result",
    "Ok",
    "Err",
    "Self",
    "One",
    "Many",
    "PageInfo",
    "AppOptions",
    "Error",
    "Context",
    "Connection",
];

/// Names, each used once.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Returns the first of these names that is free, or the last one with a number.
    pub(super) fn choose<'a>(&mut self, wanted: impl IntoIterator<Item = &'a str>) -> String {
        let mut last = "";
        for name in wanted {
            if self.taken.insert(key(name)) {
                return name.to_owned();
            }
            last = name;
        }

        let numbered = (2..)
            .map(|number| format!("{last}_{number}"))
            .find(|name| self.taken.insert(key(name)));

        numbered.unwrap_or_else(|| last.to_owned())
    }

    /// Whether a name is free.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(&key(name))
    }
}

/// Names that differ only in case and `_` can be the same in camel case.
fn key(name: &str) -> String {
    name.replace('_', "").to_ascii_lowercase()
}

/// The name of a type: `Album` for `albums` and `v_album`.
pub(super) fn type_name(source: &str) -> String {
    let words = snake(without_prefix(source));
    let mut name: String = singular(&words).split('_').map(capitalised).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name = format!("T{name}");
    }

    // Types generated for a type have its name and one of these suffixes.
    let is_taken = TAKEN.contains(&name.as_str());
    if is_taken
        || ["Where", "OrderBy", "Connection", "Aggregate"]
            .iter()
            .any(|end| name.ends_with(end))
    {
        name.push_str("Row");
    }

    name
}

/// A source without the prefix for its kind: `v_`, `tv_` or `tb_`.
fn without_prefix(source: &str) -> &str {
    let prefixes = ["v_", "tv_", "tb_"];
    prefixes
        .iter()
        .find_map(|prefix| source.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(source)
}

/// A name in lower-case words separated by `_`.
pub(super) fn snake(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let words = snake_case(&plain);
    let words: Vec<&str> = words.split('_').filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// A name for a field or a function.
pub(super) fn identifier(words: &str) -> String {
    match words {
        "" => "column".to_owned(),
        _ if STRICT.contains(&words) => format!("{words}_"),
        _ if words.starts_with(|c: char| c.is_ascii_digit()) => format!("n{words}"),
        _ => words.to_owned(),
    }
}

/// An identifier in Rust syntax.
pub(super) fn raw(identifier: &str) -> String {
    if KEYWORDS.contains(&identifier) {
        format!("r#{identifier}")
    } else {
        identifier.to_owned()
    }
}

pub(super) fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + letters.as_str()
    })
}

/// The singular of the last word, by common rules of English.
pub(super) fn singular(words: &str) -> String {
    let end = |end: &str, by: &str| {
        words
            .strip_suffix(end)
            .filter(|stem| !stem.is_empty())
            .map(|stem| format!("{stem}{by}"))
    };

    if ["ss", "us", "is", "news", "series", "species"]
        .iter()
        .any(|end| words.ends_with(end))
    {
        return words.to_owned();
    }

    let by_rule = end("ies", "y")
        .or_else(|| end("sses", "ss"))
        .or_else(|| end("shes", "sh"))
        .or_else(|| end("ches", "ch"))
        .or_else(|| end("xes", "x"))
        .or_else(|| end("uses", "us"));

    by_rule
        .or_else(|| end("s", ""))
        .unwrap_or_else(|| words.to_owned())
}

/// The plural of the last word.
pub(super) fn plural(words: &str) -> String {
    let stem = words
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "sh", "ch", "x"]
            .iter()
            .any(|end| words.ends_with(end)) =>
        {
            format!("{words}es")
        }
        None => format!("{words}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_singular_names() {
        for (source, name) in [
            ("albums", "Album"),
            ("v_blog_post", "BlogPost"),
            ("tb_categories", "Category"),
            ("invoice_items", "InvoiceItem"),
            ("addresses", "Address"),
            ("status", "Status"),
            ("playlist_track", "PlaylistTrack"),
            ("InvoiceLine", "InvoiceLine"),
            ("2fa", "T2fa"),
            ("queries", "QueryRow"),
            ("pages", "Page"),
            ("some where", "SomeWhereRow"),
            ("ü", "T"),
        ] {
            assert_eq!(type_name(source), name, "{source}");
            assert_eq!(singular(&plural("album")), "album");
        }

        for word in ["box", "category", "day", "bus", "class"] {
            assert_eq!(singular(&plural(word)), word);
        }
    }

    #[test]
    fn identifiers_are_those_of_rust() {
        let field = |name: &str| raw(&identifier(&snake(name)));
        assert_eq!(field("InvoiceDate"), "invoice_date");
        assert_eq!(field("type"), "r#type");
        assert_eq!(field("self"), "self_");
        assert_eq!(field("1st"), "n1st");
        assert_eq!(field("é"), "column");
        assert_eq!(field("__a b"), "a_b");
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::default();
        assert_eq!(names.choose(["artist"]), "artist");
        assert_eq!(names.choose(["artist", "artist_row"]), "artist_row");
        assert_eq!(names.choose(["artistRow"]), "artistRow_2");
    }
}
