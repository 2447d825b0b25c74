//! SQL scripts, split into their statements.
//!
//! The lexical rules are PostgreSQL's:
//! <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>.

/// The maximum nesting of a script that is parsed: parsers recurse on each level.
pub(crate) const DEEPEST: usize = 200;

/// The first words of statements that start or end a transaction.
const TRANSACTIONS: [&str; 6] = ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT"];

/// A statement of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Statement<'a> {
    /// Its text, starting at its first word and without the semicolon.
    pub(crate) text: &'a str,
    /// The line on which it starts, counted from 1.
    pub(crate) line: usize,
}

impl Statement<'_> {
    /// Its first words in upper case, without the comments between them.
    pub(crate) fn words(&self, count: usize) -> Vec<String> {
        let mut words = Vec::new();
        let mut rest = self.text;
        while words.len() < count {
            rest = skip_blank(rest);
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            if end == 0 {
                break;
            }
            words.push(rest[..end].to_ascii_uppercase());
            rest = &rest[end..];
        }

        words
    }

    /// Its command, if it starts or ends a transaction.
    pub(crate) fn transaction_command(&self) -> Option<String> {
        let words = self.words(2);
        let first = words.first()?;
        if TRANSACTIONS.contains(&first.as_str()) {
            return Some(first.clone());
        }

        // `PREPARE` alone names a statement.
        (words == ["PREPARE", "TRANSACTION"]).then(|| words.join(" "))
    }
}

/// The statements of a script, in order.
pub(crate) fn statements(script: &str) -> Vec<Statement<'_>> {
    let mut statements = Vec::new();
    let mut start = start_of(script, 0);
    let mut at = start;

    // Bodies of functions in standard SQL contain semicolons.
    let mut depth = 0_usize;

    while at < script.len() {
        let rest = &script[at..];
        let word = word(script, at);
        if word.is_empty() {
            if rest.starts_with(';') && depth == 0 {
                push(&mut statements, script, start, at);
                start = start_of(script, at + 1);
                at = start;
                continue;
            }
            at += token(rest);
            continue;
        }

        // `CREATE FUNCTION … BEGIN ATOMIC … END`; the `CASE` expressions inside of it also end with
        // `END`.
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        if is("atomic") && is_create(&script[start..]) || depth > 0 && is("case") {
            depth += 1;
        } else if depth > 0 && is("end") {
            depth -= 1;
        }

        at += word.len();

        // `E'…'` interprets backslashes, unlike other strings.
        if is("e") && script[at..].starts_with('\'') {
            at += quoted(&script[at..], '\'', true);
        }
    }

    push(&mut statements, script, start, script.len());

    statements
}

/// The maximum nesting of parentheses and brackets in a script.
pub(crate) fn depth(script: &str) -> usize {
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    while at < script.len() {
        match script.as_bytes()[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
        at += word(script, at).len().max(token(&script[at..]));
    }

    deepest
}

/// Whether a statement is a `CREATE`.
fn is_create(text: &str) -> bool {
    Statement { text, line: 0 }
        .words(1)
        .first()
        .is_some_and(|first| first == "CREATE")
}

fn push<'a>(statements: &mut Vec<Statement<'a>>, script: &'a str, start: usize, end: usize) {
    let text = script.get(start..end).unwrap_or_default().trim_end();
    if !text.is_empty() {
        statements.push(Statement {
            text,
            line: script[..start].matches('\n').count() + 1,
        });
    }
}

/// The start of the next statement: after whitespace and comments.
fn start_of(script: &str, at: usize) -> usize {
    script.len() - skip_blank(&script[at..]).len()
}

/// A text without its leading whitespace and comments.
pub(super) fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let length = comment(text);
        if length == 0 {
            return text;
        }
        text = &text[length..];
    }
}

/// The word at a position, such as a keyword or a name; empty if there is none.
pub(super) fn word(script: &str, at: usize) -> &str {
    let rest = &script[at..];
    let first = |c: char| c.is_alphabetic() || c == '_' || !c.is_ascii();
    if !rest.starts_with(first) {
        return "";
    }

    // A dollar inside of a name does not start a dollar-quoted text.
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()));
    &rest[..end.unwrap_or(rest.len())]
}

/// The length of the first token of a text: a comment, a string, a quoted name, a number or one
/// character.
pub(super) fn token(text: &str) -> usize {
    let comment = comment(text);
    if comment > 0 {
        return comment;
    }

    match text.chars().next() {
        Some('\'') => quoted(text, '\'', false),
        Some('"') => quoted(text, '"', false),
        Some('$') => dollar_quoted(text),
        // A number may contain letters, such as `1e5` and `0xff`, which are not words.
        Some(digit) if digit.is_ascii_digit() => text
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(text.len()),
        Some(other) => other.len_utf8(),
        None => 0,
    }
}

/// The length of a leading comment; 0 without one. Comments in `/* … */` may be nested.
fn comment(text: &str) -> usize {
    if text.starts_with("--") {
        return text.find('\n').map_or(text.len(), |end| end + 1);
    }

    if !text.starts_with("/*") {
        return 0;
    }

    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }

    text.len()
}

/// The length of a leading quoted text. A doubled quote is treated as two adjacent quoted texts,
/// with the same result here.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        if c == '\\' && escapes {
            characters.next();
        } else if c == quote {
            // With escapes, the part after a doubled quote has escapes too.
            if escapes && text[at + 1..].starts_with(quote) {
                characters.next();
                continue;
            }
            return at + 1;
        }
    }

    text.len()
}

/// The length of a leading dollar-quoted text; 1 if the dollar does not start one.
fn dollar_quoted(text: &str) -> usize {
    let Some(end) = text[1..].find('$').map(|end| end + 2) else {
        return 1;
    };

    let tag = &text[1..end - 1];
    let is_tag = tag.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !tag.starts_with(|c: char| c.is_ascii_digit());
    if !is_tag {
        return 1;
    }

    text[end..]
        .find(&text[..end])
        .map_or(text.len(), |close| end + close + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<&str> {
        statements(script)
            .into_iter()
            .map(|statement| statement.text)
            .collect()
    }

    #[test]
    fn semicolons_end_statements() {
        assert_eq!(texts("SELECT 1; SELECT 2\n;\n;"), ["SELECT 1", "SELECT 2"]);
        assert_eq!(
            texts(" -- only a comment;\n/* ; /* ; */ */"),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn quotes_and_comments_hold_semicolons() {
        for script in [
            "SELECT ';', E'\\';', \"a;b\"",
            "SELECT 'it''s; fine'",
            "SELECT E'it''s \\'; fine'",
            "DO $$ BEGIN; END $$",
            "DO $a$ $$ ; $b$ ; $a$",
            "SELECT a$1, $1 -- ;\n, 2",
            "SELECT 1 /* ; /* ; */ ; */ + 1",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 2; END",
            "SELECT é$1$, 'ü;'",
        ] {
            assert_eq!(
                texts(&format!("{script}; SELECT 2")),
                [script, "SELECT 2"],
                "{script}"
            );
        }
    }

    #[test]
    fn statements_know_their_lines() {
        let script = "-- first\n\nSELECT 1;\nSELECT\n 2; -- third\n SELECT 3";
        let lines: Vec<_> = statements(script)
            .into_iter()
            .map(|statement| statement.line)
            .collect();
        assert_eq!(lines, [3, 4, 6]);
    }

    #[test]
    fn words_skip_comments() {
        let statement = Statement {
            text: "create /* x */ Unique -- y\n index CONCURRENTLY a",
            line: 1,
        };
        assert_eq!(
            statement.words(4),
            ["CREATE", "UNIQUE", "INDEX", "CONCURRENTLY"]
        );
    }

    #[test]
    fn commands_that_end_a_transaction_are_found_behind_comments() {
        let command = |text| Statement { text, line: 1 }.transaction_command();
        for (text, name) in [
            ("commit", "COMMIT"),
            ("End", "END"),
            ("ROLLBACK PREPARED 'x'", "ROLLBACK"),
            (
                "/* x */ prepare -- y\n transaction 'x'",
                "PREPARE TRANSACTION",
            ),
        ] {
            assert_eq!(command(text).as_deref(), Some(name), "{text}");
        }

        for text in [
            "PREPARE transaction_ AS SELECT 1",
            "PREPARE x AS SELECT 1",
            "SELECT 1",
            "DO $$ BEGIN COMMIT; END $$",
        ] {
            assert_eq!(command(text), None, "{text}");
        }
    }

    #[test]
    fn unterminated_text_is_one_statement() {
        for script in ["SELECT 'a; b", "DO $$ a; b", "/* a; b", "SELECT \"a; b"] {
            assert!(texts(script).len() <= 1, "{script}");
        }
    }
}
