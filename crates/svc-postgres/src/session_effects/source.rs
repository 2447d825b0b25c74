//! The sources of functions in SQL and PL/pgSQL: whether one may alter the session. A source that
//! cannot be interpreted counts as one that does.

use std::iter::Peekable;
use std::str::Chars;

/// Words that start a statement with lasting effects, run text as SQL, or name a function that does
/// either.
const EFFECTS: [&str; 18] = [
    "execute",
    "reset",
    "listen",
    "prepare",
    "load",
    "discard",
    "hold",
    "temp",
    "temporary",
    "pg_temp",
    "authorization",
    "set_config",
    "set_config_by_name",
    "set_limit",
    "ts_stat",
    "ts_rewrite",
    "import",
    "pg_settings",
];

/// Name prefixes of functions that do.
const EFFECT_FAMILIES: [&str; 10] = [
    "pg_advisory_lock",
    "pg_try_advisory_lock",
    "dblink",
    "query_to_xml",
    "cursor_to_xml",
    "table_to_xml",
    "schema_to_xml",
    "database_to_xml",
    "crosstab",
    "connectby",
];

/// Words that a statement may follow directly, so an `UPDATE` does not reach across them.
const BOUNDARIES: [&str; 6] = ["begin", "then", "else", "loop", "do", "for"];

/// The maximum number of words and signs between `UPDATE` and its `SET`.
const UPDATE_REACH: usize = 12;

/// Whether a function with this source may alter the session.
pub(super) fn may_alter(source: &str) -> bool {
    let tokens = tokens(source);
    names_effect(source)
        || hides_names(source)
        || tokens.windows(2).any(|pair| runs_block(&pair[0], &pair[1]))
        || tokens
            .iter()
            .enumerate()
            .any(|(at, token)| token == "set" && !is_passing(&tokens[..at], &tokens[at + 1..]))
}

/// Whether it contains a word for a lasting effect, even inside a text or a comment.
pub(super) fn names_effect(source: &str) -> bool {
    let lower = source.to_lowercase();
    lower.split(|sign: char| !is_word(sign)).any(|word| {
        EFFECTS.contains(&word)
            || EFFECT_FAMILIES
                .iter()
                .any(|family| word.starts_with(family))
    })
}

/// Whether it may contain names written with Unicode escapes (`U&`).
fn hides_names(source: &str) -> bool {
    source.to_lowercase().contains("u&")
}

/// Whether a `DO` starts a code block, unlike that of a rule or an upsert.
fn runs_block(word: &str, next: &str) -> bool {
    word == "do" && !["update", "nothing", "also", "instead"].contains(&next)
}

/// Whether the `SET` between these tokens belongs to an `UPDATE`, or lasts until the end of the
/// transaction only.
fn is_passing(before: &[String], after: &[String]) -> bool {
    let ends = |next: &String| ["local", "constraints", "transaction"].contains(&next.as_str());
    if after.first().is_some_and(ends) {
        // An application's own settings may have such a name before their dot.
        return after.get(1).is_none_or(|next| next != ".");
    }

    for (at, token) in before.iter().enumerate().rev().take(UPDATE_REACH) {
        if token == "update" {
            // A row lock is not an update.
            return !before[..at]
                .last()
                .is_some_and(|token| token == "for" || token == "key");
        }
        if token == ";" || BOUNDARIES.contains(&token.as_str()) {
            return false;
        }
    }

    false
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$'
}

/// The words and signs of a source in lower case, without comments. A quoted name becomes `"`, a
/// text `'`.
fn tokens(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut signs = source.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '-' if signs.next_if_eq(&'-').is_some() => skip_line(&mut signs),
            '/' if signs.next_if_eq(&'*').is_some() => skip_comment(&mut signs),
            '\'' => {
                let is_escaped = found.last().is_some_and(|word: &String| word == "e");
                skip_text(&mut signs, is_escaped);
                found.push("'".to_owned());
            }
            '"' => {
                skip_past(&mut signs, '"');
                found.push("\"".to_owned());
            }
            // `$1` is a parameter, and does not start a dollar-quoted text.
            '$' if !signs.peek().is_some_and(char::is_ascii_digit) => {
                skip_dollars(&mut signs);
                found.push("'".to_owned());
            }
            _ if is_word(sign) => {
                let mut word = sign.to_lowercase().to_string();
                while let Some(sign) = signs.next_if(|sign| is_word(*sign)) {
                    word.extend(sign.to_lowercase());
                }
                found.push(word);
            }
            _ if sign.is_whitespace() => {}
            _ => found.push(sign.to_string()),
        }
    }

    found
}

/// Skips the rest of a line comment, which a carriage return ends too.
fn skip_line(signs: &mut Peekable<Chars<'_>>) {
    signs.find(|sign| matches!(sign, '\n' | '\r'));
}

fn skip_past(signs: &mut Peekable<Chars<'_>>, end: char) {
    signs.find(|sign| *sign == end);
}

/// Skips the rest of a block comment, which may contain nested ones.
fn skip_comment(signs: &mut Peekable<Chars<'_>>) {
    let mut depth = 1;
    while depth > 0 {
        match signs.next() {
            Some('*') if signs.next_if_eq(&'/').is_some() => depth -= 1,
            Some('/') if signs.next_if_eq(&'*').is_some() => depth += 1,
            Some(_) => {}
            None => return,
        }
    }
}

/// Skips the rest of a text. A doubled quote starts another text, which has the same effect.
fn skip_text(signs: &mut Peekable<Chars<'_>>, is_escaped: bool) {
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if is_escaped => drop(signs.next()),
            '\'' if is_escaped && signs.next_if_eq(&'\'').is_some() => {}
            '\'' => return,
            _ => {}
        }
    }
}

/// Skips the rest of a dollar-quoted text.
fn skip_dollars(signs: &mut Peekable<Chars<'_>>) {
    let mut tag = String::from("$");
    while let Some(sign) = signs.next_if(|sign| sign.is_alphanumeric() || *sign == '_') {
        tag.push(sign);
    }

    if signs.next_if_eq(&'$').is_none() {
        return;
    }

    tag.push('$');
    let mut read = String::new();

    for sign in signs.by_ref() {
        read.push(sign);
        if read.ends_with(&tag) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_alter;

    #[test]
    fn updates_and_transaction_settings_do_not_alter_the_session() {
        for source in [
            "INSERT INTO tb_post (title) VALUES ($1) RETURNING id",
            "UPDATE tb_post SET title = $1 WHERE id = $2",
            "BEGIN UPDATE ONLY app.\"tb post\" AS p SET title = 'x'; RETURN 1; END",
            "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET n = excluded.n",
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n",
            "BEGIN SET LOCAL statement_timeout = 5; SET CONSTRAINTS ALL DEFERRED; END",
            "BEGIN -- SET ROLE admin\n /* SET x = /* 1 */ 2; */ RAISE NOTICE 'SET ROLE admin'; END",
            "BEGIN x := E'it\\'s; SET ROLE a'; y := 'it''s; SET ROLE a'; z := $q$; SET ROLE a$q$; END",
            "SELECT pg_advisory_xact_lock(1)",
        ] {
            assert!(!may_alter(source), "{source}");
        }
    }

    #[test]
    fn sources_that_alter_the_session_are_found() {
        for source in [
            "SET ROLE admin",
            "BEGIN SET search_path = other; END",
            "BEGIN /* update */ SET x = 1; END",
            "BEGIN FOR r IN SELECT * FROM t FOR UPDATE LOOP SET x = 1; END LOOP; END",
            "SELECT 1 FROM t FOR NO KEY UPDATE \n SET x = 1",
            "BEGIN x := '--'; SET ROLE admin; END",
            "BEGIN x := 'a\\'; SET ROLE admin; -- '\n END",
            "BEGIN UPDATE t SET n = 1; SET ROLE admin; END",
            "SELECT set_config('app.user_id', 'x', false)",
            "SELECT pg_catalog.Set_Config('app.user_id', 'x', false)",
            "SELECT pg_try_advisory_lock_shared(1)",
            "BEGIN EXECUTE format('SET ROLE %I', 'a'); END",
            "CREATE TEMP TABLE t AS SELECT 1",
            "SELECT 1 INTO TEMPORARY t",
            "CREATE TABLE pg_temp.t (n int)",
            "LISTEN events",
            "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
            "RESET ALL",
            "SELECT dblink_connect('x')",
            "UPDATE pg_settings SET setting = 'other' WHERE name = 'search_path'",
            "BEGIN DO $x$ BEGIN SET work_mem = '77MB'; END $x$; END",
            "BEGIN DO 'BEGIN SET work_mem = 7; END'; END",
            "SELECT U&\"set\\005fconfig\"('a.b', 'c', false)",
            "BEGIN SET local.leak = 'x'; END",
            "BEGIN SET transaction.leak = 'x'; END",
            "BEGIN -- update\r SET ROLE admin; END",
            "SELECT ts_rewrite('a'::tsquery, 'SELECT 1')",
        ] {
            assert!(may_alter(source), "{source}");
        }
    }
}
