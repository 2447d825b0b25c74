//! The SQL commands that end a transaction.

/// The savepoint at the beginning of a part of a transaction (`driver/transaction/parts.rs`).
const PART: &str = "svc_part";

/// Whether a statement ends its transaction, or a part of a transaction that it belongs to. A
/// statement that is sent with values is a single command, and PostgreSQL rejects such a command
/// inside functions and blocks of code, so only the first words count.
pub(super) fn ends_transaction(sql: &str) -> bool {
    let mut words = Words(sql);
    let Some(first) = words.next() else {
        return false;
    };

    let is = |word: &str| first.eq_ignore_ascii_case(word);
    if is("commit") || is("end") || is("abort") {
        true
    } else if is("prepare") {
        words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("transaction"))
    } else if is("rollback") {
        // `ROLLBACK TO` only returns to a savepoint.
        let next = words.find(|word| {
            !word.eq_ignore_ascii_case("work") && !word.eq_ignore_ascii_case("transaction")
        });
        let returns = next.is_some_and(|word| word.eq_ignore_ascii_case("to"));
        !returns || names_part(sql)
    } else if is("savepoint") || is("release") {
        names_part(sql)
    } else {
        false
    }
}

/// Whether a command on savepoints names that of a part, in quotes or not.
fn names_part(sql: &str) -> bool {
    sql.to_ascii_lowercase().contains(PART)
}

/// The words of SQL up to the first sign that belongs to none.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0 = start(self.0);
        let end = self
            .0
            .find(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// Skips white space, comments, and the ends of empty statements.
fn start(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ';');
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.find(['\n', '\r']).map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = after_comment(comment);
        } else {
            return rest;
        }
    }
}

/// Skips the rest of a comment, which may contain others.
fn after_comment(mut rest: &str) -> &str {
    let mut depth = 1;
    while depth > 0 {
        let Some(at) = rest.find(['*', '/']) else {
            return "";
        };
        rest = &rest[at..];

        let (change, length) = match rest.get(..2) {
            Some("*/") => (-1, 2),
            Some("/*") => (1, 2),
            _ => (0, 1),
        };
        depth += change;
        rest = &rest[length..];
    }

    rest
}

#[cfg(test)]
mod tests {
    use super::ends_transaction;

    #[test]
    fn commands_that_end_a_transaction_are_recognized() {
        for sql in [
            "COMMIT",
            " commit and chain",
            "END;",
            "abort work",
            "ROLLBACK",
            "rollback transaction and no chain",
            "-- now\nCOMMIT",
            "/* one /* two */ */ ; Rollback",
            "PREPARE TRANSACTION 'x'",
            "SAVEPOINT svc_part",
            "RELEASE SVC_PART",
            "ROLLBACK TO SAVEPOINT \"svc_part\"",
        ] {
            assert!(ends_transaction(sql), "{sql}");
        }
    }

    #[test]
    fn other_commands_do_not_end_a_transaction() {
        for sql in [
            "",
            "-- COMMIT",
            "/* COMMIT",
            "SAVEPOINT a",
            "ROLLBACK TO a",
            "rollback work to savepoint a",
            "RELEASE SAVEPOINT a",
            "PREPARE plan AS SELECT 1",
            "SELECT 'COMMIT'",
            "INSERT INTO commit VALUES ($1)",
            "INSERT INTO svc_part VALUES ($1)",
            "commits",
        ] {
            assert!(!ends_transaction(sql), "{sql}");
        }
    }
}
