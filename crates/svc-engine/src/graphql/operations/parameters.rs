//! The parameters that a statement names, and its first word.

use memchr::memchr2;

/// Returns whether each of `$1`, `$2`, … occurs in a statement outside of strings, quoted names and
/// comments. The length is the highest number.
pub(super) fn parameters(sql: &str) -> Vec<bool> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '\'' => quoted(&rest[1..], '\'', false),
            '"' => quoted(&rest[1..], '"', false),
            '-' if rest.starts_with("--") => line_comment(rest),
            '/' if rest.starts_with("/*") => comment(rest),
            '$' => dollar(rest, &mut found),
            _ if is_word(first) => {
                // A `$` inside of a word is a part of an identifier, not a parameter.
                let after = rest.trim_start_matches(|char| is_word(char) || char == '$');
                // `E'…'` has escapes.
                match after.strip_prefix('\'') {
                    Some(text) if matches!(&rest[..rest.len() - after.len()], "e" | "E") => {
                        quoted(text, '\'', true)
                    }
                    _ => after,
                }
            }
            _ => &rest[first.len_utf8()..],
        };
    }

    found
}

/// Returns a statement from its first word on, without the blanks, comments and empty statements
/// before it.
pub(super) fn from_first_word(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|char: char| char.is_whitespace() || char == ';');
        rest = if rest.starts_with("--") {
            line_comment(rest)
        } else if rest.starts_with("/*") {
            comment(rest)
        } else {
            return rest;
        };
    }
}

fn is_word(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// Returns the rest after a string or a quoted name. A doubled quote is treated as the start of
/// another one, which has the same effect.
fn quoted(text: &str, quote: char, escapes: bool) -> &str {
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        if char == quote {
            return &text[at + 1..];
        }
        if escapes && char == '\\' {
            chars.next();
        }
    }

    ""
}

/// Returns the rest after a comment up to the end of its line.
fn line_comment(text: &str) -> &str {
    memchr2(b'\n', b'\r', text.as_bytes()).map_or("", |end| &text[end..])
}

/// Returns the rest after a comment; comments nest.
fn comment(text: &str) -> &str {
    let mut depth = 0;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("/*") {
            (depth, rest) = (depth + 1, inner);
        } else if let Some(outer) = rest.strip_prefix("*/") {
            (depth, rest) = (depth - 1, outer);
            if depth == 0 {
                return rest;
            }
        } else {
            rest = rest
                .char_indices()
                .nth(1)
                .map_or("", |(next, _)| &rest[next..]);
        }
    }

    ""
}

/// Returns the rest after a parameter, or after a string between `$tag$`.
fn dollar<'a>(text: &'a str, found: &mut Vec<bool>) -> &'a str {
    let after = &text[1..];
    let digits = after.len()
        - after
            .trim_start_matches(|char: char| char.is_ascii_digit())
            .len();
    if digits > 0 {
        // PostgreSQL has at most 65,535 parameters; all higher numbers are equally wrong.
        let number = after[..digits]
            .parse::<usize>()
            .unwrap_or(usize::MAX)
            .min(usize::from(u16::MAX) + 1);
        if number > 0 {
            found.resize(found.len().max(number), false);
            found[number - 1] = true;
        }
        return &after[digits..];
    }

    let tag = after
        .find(|char| !is_word(char))
        .filter(|end| after[*end..].starts_with('$'));
    let Some(end) = tag else { return after };
    let (delimiter, body) = (&text[..end + 2], &after[end + 1..]);

    body.find(delimiter)
        .map_or("", |close| &body[close + delimiter.len()..])
}

#[cfg(test)]
mod tests {
    use super::{from_first_word, parameters};

    #[test]
    fn parameters_are_found_where_postgresql_finds_them() {
        for (sql, expected) in [
            ("SELECT 1", vec![]),
            ("SELECT $1, $3 + $1", vec![true, false, true]),
            ("SELECT '$1', \"$2\", $3::text", vec![false, false, true]),
            ("SELECT 'it''s $2' || $1", vec![true]),
            ("SELECT E'\\'$2' || $1", vec![true]),
            ("SELECT '\\', $1", vec![true]),
            ("SELECT some'$2', $1", vec![true]),
            ("SELECT $1 -- $2\n, $3", vec![true, false, true]),
            ("SELECT $1 -- $2\r, $3", vec![true, false, true]),
            ("SELECT /* $2 /* $4 */ $3 */ $1", vec![true]),
            ("SELECT $$ $2 $$, $a$ $3 $$ $a$, $1", vec![true]),
            ("SELECT a$2, _$3, é$4, $1", vec![true]),
            ("SELECT x[$1:$2] - -$3", vec![true, true, true]),
            ("SELECT '$1", vec![]),
            ("SELECT /* $1", vec![]),
            ("SELECT $tag$ $1", vec![]),
            ("SELECT $0, $", vec![]),
        ] {
            assert_eq!(parameters(sql), expected, "{sql}");
        }

        assert_eq!(parameters("SELECT $99999999999999999999").len(), 65_536);
    }

    #[test]
    fn statements_begin_after_blanks_comments_and_semicolons() {
        for sql in [
            "CALL p()",
            " \r\n\tCALL p()",
            "-- CALL a()\nCALL p()",
            "--\rCALL p()",
            "/* /* a */ -- */CALL p()",
            "; /**/ ;CALL p()",
        ] {
            assert_eq!(from_first_word(sql), "CALL p()", "{sql:?}");
        }

        for sql in ["", " ;", "-- CALL p()", "/* CALL p()", "/* /* */ CALL p()"] {
            assert_eq!(from_first_word(sql), "", "{sql:?}");
        }
    }
}
