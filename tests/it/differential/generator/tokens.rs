//! Documents as tokens: split, joined with odd white space, and damaged.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

/// The tokens of a document; comments and commas are left out.
pub(in crate::differential) fn split(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' if rest.starts_with("\"\"\"") => {
                rest[3..].find("\"\"\"").map_or(rest.len(), |end| end + 6)
            }
            '"' => string(rest),
            '.' if rest.starts_with("...") => 3,
            '_' | '0'..='9' | 'a'..='z' | 'A'..='Z' | '-' => word(rest),
            other => other.len_utf8(),
        };
        let (token, tail) = rest.split_at(length);
        if !matches!(first, '#' | ',' | '\u{FEFF}') && !first.is_whitespace() {
            tokens.push(token);
        }
        rest = tail;
    }
    tokens
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (index, char) in text.char_indices().skip(1) {
        match char {
            '"' if !escaped => return index + 1,
            '\n' => return index,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn word(text: &str) -> usize {
    let number = text.starts_with(|char: char| char == '-' || char.is_ascii_digit());
    let inside = |char: char| {
        char == '_'
            || char == '-'
            || char.is_ascii_alphanumeric()
            || (number && matches!(char, '.' | '+'))
    };
    text.find(|char| !inside(char)).unwrap_or(text.len()).max(1)
}

/// Joins tokens with what the language ignores.
pub(in crate::differential) fn join(random: &mut StdRng, tokens: &[String]) -> String {
    const IGNORED: [&str; 8] = [
        "\n",
        "\r\n",
        "\t",
        "  ",
        " # é🦀 {\n",
        "\r",
        "\n\n#\n",
        " \u{FEFF} ",
    ];
    let plain = random.random_bool(0.4);
    let mut text = String::new();
    for token in tokens {
        let odd = !plain && random.random_bool(0.12);
        text.push_str(if odd {
            IGNORED.choose(random).unwrap()
        } else {
            " "
        });
        text.push_str(token);
    }
    text
}

/// Damages a document: tokens are lost, doubled, moved, replaced.
pub(in crate::differential) fn damage(random: &mut StdRng, text: &str) -> String {
    const OTHERS: [&str; 32] = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        "!",
        "=",
        "@",
        "$",
        "...",
        "&",
        "|",
        "on",
        "fragment",
        "query",
        "mutation",
        "subscription",
        "null",
        "true",
        "id",
        "__typename",
        "$a",
        "1",
        "1.5",
        "\"s\"",
        "\"\"\"b\"\"\"",
        "type",
        "@skip",
        ",",
        "name",
    ];
    let mut tokens = split(text);
    for _ in 0..random.random_range(1..=2) {
        if tokens.len() < 3 {
            break;
        }
        let at = random.random_range(0..tokens.len());
        let other = random.random_range(0..tokens.len());
        match random.random_range(0..6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => tokens.swap(at, other),
            3 => tokens[at] = tokens[other],
            4 => tokens[at] = OTHERS.choose(random).unwrap(),
            _ => tokens.insert(at, OTHERS.choose(random).unwrap()),
        }
    }
    tokens.join(" ")
}
