//! Conditions and sort keys, as written in plans.

use super::token::{Token, bare, depths, tokens};

/// A condition of a request on one column of a table, or on one expression of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) key: Key,
    pub(super) operator: String,
    /// Whether it compares with a value from another row rather than with a value of the request.
    pub(super) is_joined: bool,
}

/// The possible key of an index, as PostgreSQL prints it and without the table's alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) text: String,
    /// The column, if it is one.
    pub(super) column: Option<String>,
    /// Whether it is a column cast to text, which is the column itself if that is a `varchar`.
    pub(super) is_text_of_column: bool,
}

/// A sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SortKey {
    pub(super) key: Key,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

/// The operators with swapped sides.
const FLIPPED: [(&str, &str); 5] = [
    ("=", "="),
    ("<", ">"),
    (">", "<"),
    ("<=", ">="),
    (">=", "<="),
];

/// Words allowed in key expressions: functions and types with the same result in every session, as
/// required for an index.
const STABLE: [&str; 13] = [
    "lower",
    "upper",
    "text",
    "integer",
    "bigint",
    "smallint",
    "numeric",
    "boolean",
    "uuid",
    "double",
    "precision",
    "real",
    "jsonb",
];

/// The conditions on `alias` among the parts of an `AND` in a plan: each compares with a value of
/// the request or of another row.
pub(super) fn conditions(text: &str, alias: &str) -> Vec<Condition> {
    let tokens = tokens(text);
    conjuncts(&tokens)
        .into_iter()
        .filter_map(|conjunct| condition(conjunct, alias))
        .collect()
}

/// A sort key over columns of a table, and the table's alias.
pub(super) fn sort_key(text: &str) -> Option<(SortKey, String)> {
    let tokens = tokens(text);
    let (tokens, nulls) = match tokens.as_slice() {
        [rest @ .., Token::Word("NULLS"), Token::Word(end)] => (rest, Some(*end == "FIRST")),
        all => (all, None),
    };

    let (tokens, descending) = match tokens {
        [rest @ .., Token::Word("DESC")] => (rest, true),
        all => (all, false),
    };

    let alias = tokens.windows(2).find_map(|pair| match pair {
        [name, Token::Mark(".")] => name.name(),
        _ => None,
    })?;
    let key = key(tokens, &alias)?;

    // PostgreSQL sorts nulls after all values, and omits `NULLS` where that is so.
    Some((
        SortKey {
            key,
            descending,
            nulls_first: nulls.unwrap_or(descending),
        },
        alias,
    ))
}

fn conjuncts<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let tokens = bare(tokens);
    let ends = depths(tokens).zip(tokens).enumerate();
    let ends: Vec<usize> = ends
        .filter(|(_, (depth, token))| *depth == 0 && **token == Token::Word("AND"))
        .map(|(at, _)| at)
        .collect();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));

    starts
        .zip(ends.iter().copied().chain([tokens.len()]))
        .map(|(start, end)| &tokens[start..end])
        .collect()
}

fn condition(conjunct: &[Token<'_>], alias: &str) -> Option<Condition> {
    let tokens = bare(conjunct);
    let mut operators =
        depths(tokens)
            .zip(tokens)
            .enumerate()
            .filter_map(|(at, (depth, token))| match (depth, token) {
                (0, Token::Operator(operator)) => Some((at, *operator)),
                _ => None,
            });

    let ((at, operator), None) = (operators.next()?, operators.next()) else {
        return None;
    };

    let (left, right) = (&tokens[..at], &tokens[at + 1..]);
    if is_given(right, alias) {
        let is_joined = !right.iter().any(is_placeholder);
        return Some(Condition {
            key: key(left, alias)?,
            operator: operator.to_owned(),
            is_joined,
        });
    }

    let (_, flipped) = FLIPPED
        .into_iter()
        .find(|(known, _)| *known == operator && is_given(left, alias))?;
    let is_joined = !left.iter().any(is_placeholder);

    Some(Condition {
        key: key(right, alias)?,
        operator: flipped.to_owned(),
        is_joined,
    })
}

/// Whether a side of a comparison comes from elsewhere: from the request, or from rows of another
/// table.
fn is_given(side: &[Token<'_>], alias: &str) -> bool {
    let mut columns = side.windows(3).filter_map(|part| match part {
        [name, Token::Mark("."), Token::Word(_) | Token::Quoted(_)] => name.name(),
        _ => None,
    });
    let (own, others): (Vec<_>, Vec<_>) = columns.by_ref().partition(|name| name == alias);
    own.is_empty() && (side.iter().any(is_placeholder) || !others.is_empty())
}

fn is_placeholder(token: &Token<'_>) -> bool {
    matches!(token, Token::Word(word) if word.starts_with('$'))
}

/// The index key formed by a single column of `alias`, alone or in an expression.
fn key(tokens: &[Token<'_>], alias: &str) -> Option<Key> {
    let tokens = bare(tokens);
    let (mut text, mut columns, mut at) = (String::new(), Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        at += 1;

        match (token, tokens.get(at), tokens.get(at + 1)) {
            (name, Some(Token::Mark(".")), Some(Token::Word(column) | Token::Quoted(column))) => {
                if name.name().as_deref() != Some(alias) {
                    return None;
                }
                columns.push(*column);
                text.push_str(column);
                at += 2;
            }
            (Token::Word(word), ..) if STABLE.contains(word) => text.push_str(word),
            (Token::Text(quoted), ..) => text.push_str(quoted),
            (Token::Operator(operator @ ("->" | "->>" | "#>" | "#>>")), ..) => {
                text.extend([" ", *operator, " "]);
            }
            (Token::Mark(mark @ ("(" | ")" | "[" | "]" | "::")), ..) => text.push_str(mark),
            _ => return None,
        }
    }

    let [column] = columns.as_slice() else {
        return None;
    };

    let is_text_of_column = text == format!("({column})::text");
    let column = (text == *column || is_text_of_column).then(|| (*column).to_owned());

    Some(Key {
        text,
        column,
        is_text_of_column,
    })
}

#[cfg(test)]
mod tests;
