//! Normalizes statements, so that the text sent by svc and the text in `pg_stat_statements` are
//! equal.

/// The placeholder for every constant and parameter.
const VALUE: char = '$';

/// The keywords that PostgreSQL reads as constants.
const CONSTANTS: [&str; 3] = ["true", "false", "null"];

/// Returns the text with one placeholder for each constant and parameter, and for each list of
/// them. PostgreSQL replaces constants by further parameters, and since version 18 a list of them
/// by its first element and a comment, so both texts become equal.
pub(super) fn normalized(sql: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(sql.len()), sql.trim());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => end_of_quoted(rest, '\''),
            // Digits within an identifier are not a constant.
            '"' => end_of_quoted(rest, '"'),
            '$' => 1 + digits(&rest[1..]),
            '0'..='9' => number(rest),
            _ if is_word(first) => rest
                .find(|char| !is_word(char) && !char.is_ascii_digit())
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };

        let (token, after) = rest.split_at(length);
        if rest.starts_with("/*") {
            // PostgreSQL adds a blank before the comment, as in `$1 /*, ... */`.
            out.truncate(out.trim_end().len());
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
            continue;
        }

        if token.len() == 1 && is_word(first) && after.starts_with('\'') {
            // `E'…'` and similar forms are one constant.
            rest = after;
            continue;
        }

        let is_value = matches!(first, '\'' | '$' | '0'..='9')
            || CONSTANTS
                .iter()
                .any(|constant| token.eq_ignore_ascii_case(constant));
        if is_value {
            push_value(&mut out);
        } else {
            out.push_str(token);
        }

        rest = after;
    }

    out
}

/// Appends a value, unless it continues a list of values.
fn push_value(out: &mut String) {
    let before = out.trim_end();
    match before
        .strip_suffix(',')
        .filter(|list| list.ends_with(VALUE))
    {
        Some(list) => out.truncate(list.len()),
        None => out.push(VALUE),
    }
}

fn is_word(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

fn digits(text: &str) -> usize {
    text.find(|char: char| !char.is_ascii_digit())
        .unwrap_or(text.len())
}

fn number(text: &str) -> usize {
    let whole = digits(text);
    match text[whole..].strip_prefix('.') {
        Some(fraction) => whole + 1 + digits(fraction),
        None => whole,
    }
}

/// Returns the number of bytes up to the closing quote; a doubled quote does not close.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + char.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn sent_and_stored_statements_are_normalized_alike() {
        let sent = r#"SELECT t."n1" FROM v t WHERE t.a = $1 AND b <> 'it''s' AND c IS NULL AND d LIKE E'%' LIMIT 128.5"#;
        let kept = r#"SELECT t."n1" FROM v t WHERE t.a = $1 AND b <> $2 AND c IS NULL AND d LIKE $3 LIMIT $4"#;
        assert_eq!(normalized(sent), normalized(kept));
        let (sent, kept) = (
            "a IN ('x', 'y',1) AND b = 2",
            "a IN ($1 /*, ... */) AND b = $2",
        );
        assert_eq!(normalized(sent), normalized(kept));
        assert_eq!(
            normalized(r#"SELECT "a""1", x1, true"#),
            r#"SELECT "a""1", x1, $"#
        );

        assert_eq!(normalized("'open"), "$");
    }
}
