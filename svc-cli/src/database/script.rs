//! SQL scripts, split into their statements.

use squawk_lexer::TokenKind;

use super::lexer::{Lexeme, lexemes};

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
        lexemes(self.text)
            .take_while(|lexeme| lexeme.kind == TokenKind::Ident)
            .take(count)
            .map(|lexeme| lexeme.text.to_ascii_uppercase())
            .collect()
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
    let mut start: Option<Lexeme<'_>> = None;

    // Bodies of functions in standard SQL contain semicolons.
    let mut depth = 0_usize;

    for lexeme in lexemes(script) {
        if lexeme.kind == TokenKind::Semi && depth == 0 {
            statements.extend(
                start
                    .take()
                    .map(|first| statement(script, first, lexeme.at)),
            );
            continue;
        }

        // `CREATE FUNCTION … BEGIN ATOMIC … END`; the `CASE` expressions inside of it also end with
        // `END`.
        let first = *start.get_or_insert(lexeme);
        if lexeme.is("atomic") && first.is("create") || depth > 0 && lexeme.is("case") {
            depth += 1;
        } else if depth > 0 && lexeme.is("end") {
            depth -= 1;
        }
    }

    statements.extend(start.map(|first| statement(script, first, script.len())));

    statements
}

/// The statement that starts with a token and ends at a position.
fn statement<'a>(script: &'a str, first: Lexeme<'a>, end: usize) -> Statement<'a> {
    Statement {
        text: script[first.at..end].trim_end(),
        line: script[..first.at].matches('\n').count() + 1,
    }
}

/// The maximum nesting of parentheses and brackets in a script.
pub(crate) fn depth(script: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for lexeme in lexemes(script) {
        match lexeme.kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => depth += 1,
            TokenKind::CloseParen | TokenKind::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }

    deepest
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
