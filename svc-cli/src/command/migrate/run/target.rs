//! The objects that a statement changes, by their names in it.

use postgres_protocol::escape::escape_identifier;

use crate::database::{Statement, Token, tokens};

/// The kind of object changed by a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A table or a view.
    Relation,
    Routine,
    Type,
}

/// The objects that a statement creates, alters or drops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    /// Whether the statement drops them.
    pub(super) is_drop: bool,
    /// Each as an optional schema and a name.
    pub(super) names: Vec<(Option<String>, String)>,
}

/// Words between a command and the name.
const BETWEEN: [&str; 15] = [
    "or",
    "replace",
    "if",
    "exists",
    "not",
    "only",
    "temp",
    "temporary",
    "recursive",
    "materialized",
    "view",
    "table",
    "foreign",
    "unlogged",
    "concurrently",
];

/// The objects of a statement; `None` for other statements.
pub(super) fn of(statement: &Statement<'_>) -> Option<Target> {
    let tokens: Vec<Token> = tokens(statement.text).collect();
    let command = tokens.first()?;
    if !["create", "alter", "drop"]
        .iter()
        .any(|word| command.is(word))
    {
        return None;
    }

    // Later words may be about another object, such as `EXECUTE FUNCTION` in a `CREATE TRIGGER`.
    let head = tokens.iter().take(6);
    let kind_of = |token: &Token| match token {
        Token::Word(word) => match word.as_str() {
            "table" | "view" => Some(Kind::Relation),
            "function" | "procedure" | "routine" | "aggregate" => Some(Kind::Routine),
            "type" | "domain" => Some(Kind::Type),
            _ => None,
        },
        _ => None,
    };

    let (at, kind) = head
        .enumerate()
        .skip(1)
        .find_map(|(at, token)| Some((at, kind_of(token)?)))?;
    let is_drop = command.is("drop");
    let names = names(&tokens[at + 1..], is_drop);

    (!names.is_empty()).then_some(Target {
        kind,
        is_drop,
        names,
    })
}

/// The statement that drops the policy or trigger created by a statement, since these have no
/// `OR REPLACE`.
pub(super) fn drop_of_part(statement: &Statement<'_>) -> Option<String> {
    let tokens: Vec<Token> = tokens(statement.text).collect();
    let at = tokens
        .iter()
        .take(4)
        .position(|token| token.is("policy") || token.is("trigger"))?;
    if !tokens.first()?.is("create") {
        return None;
    }

    let kind = if tokens[at].is("policy") {
        "POLICY"
    } else {
        "TRIGGER"
    };

    let name = escape_identifier(&name_at(&tokens, at + 1)?);

    // A column named `on` must be quoted, so the first bare `on` precedes the table.
    let on = tokens.iter().position(|token| token.is("on"))?;
    let (schema, table) = names(&tokens[on + 1..], false).pop()?;
    let schema = schema
        .map(|schema| format!("{}.", escape_identifier(&schema)))
        .unwrap_or_default();

    Some(format!(
        "DROP {kind} IF EXISTS {name} ON {schema}{}",
        escape_identifier(&table)
    ))
}

/// The names at the start of the tokens after the command: several if the statement drops them.
fn names(tokens: &[Token], several: bool) -> Vec<(Option<String>, String)> {
    let is_between = |token: &&Token| BETWEEN.iter().any(|word| token.is(word));
    let mut at = tokens.iter().take_while(is_between).count();
    let mut names = Vec::new();

    while let Some(first) = name_at(tokens, at) {
        at += 1;
        let second = (tokens.get(at) == Some(&Token::Symbol('.')))
            .then(|| name_at(tokens, at + 1))
            .flatten();
        names.push(match second {
            Some(name) => {
                at += 2;
                (Some(first), name)
            }
            None => (None, first),
        });

        // Functions in a DROP have their parameters, whose commas do not separate names.
        at = past_parentheses(tokens, at);
        if !several || tokens.get(at) != Some(&Token::Symbol(',')) {
            break;
        }

        at += 1;
    }

    names
}

fn name_at(tokens: &[Token], at: usize) -> Option<String> {
    match tokens.get(at)? {
        Token::Word(name) | Token::Quoted(name) => Some(name.clone()),
        Token::Symbol(_) => None,
    }
}

/// The position after the parameters of a function, if there are any.
fn past_parentheses(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Symbol('(') => depth += 1,
            Token::Symbol(')') if depth == 1 => return at + 1,
            Token::Symbol(')') => depth = depth.saturating_sub(1),
            _ if depth == 0 => return at,
            _ => {}
        }
    }

    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_name_what_they_change() {
        for (text, kind, is_drop, names) in [
            (
                "ALTER TABLE IF EXISTS ONLY app.tb_a ALTER x TYPE int",
                Kind::Relation,
                false,
                vec!["app.tb_a"],
            ),
            (
                "create or replace view \"V\" as select 1",
                Kind::Relation,
                false,
                vec!["V"],
            ),
            (
                "CREATE MATERIALIZED VIEW IF NOT EXISTS mv AS SELECT 1",
                Kind::Relation,
                false,
                vec!["mv"],
            ),
            (
                "DROP MATERIALIZED VIEW IF EXISTS a, app.b CASCADE",
                Kind::Relation,
                true,
                vec!["a", "app.b"],
            ),
            (
                "DROP FUNCTION f(int, text), app.g",
                Kind::Routine,
                true,
                vec!["f", "app.g"],
            ),
            (
                "CREATE OR REPLACE FUNCTION app.f(a int) RETURNS int",
                Kind::Routine,
                false,
                vec!["app.f"],
            ),
            (
                "ALTER TYPE status ADD VALUE 'x'",
                Kind::Type,
                false,
                vec!["status"],
            ),
        ] {
            let found = of(&Statement { text, line: 1 }).expect(text);
            let shown: Vec<String> = found
                .names
                .iter()
                .map(|(schema, name)| {
                    schema
                        .iter()
                        .map(|schema| format!("{schema}."))
                        .collect::<String>()
                        + name
                })
                .collect();
            assert_eq!(
                (found.kind, found.is_drop, shown),
                (
                    kind,
                    is_drop,
                    names.iter().map(ToString::to_string).collect()
                )
            );
        }

        let part = |text| drop_of_part(&Statement { text, line: 1 });
        let policy = part("CREATE POLICY own ON app.tb_a USING (true)");
        assert_eq!(
            policy.as_deref(),
            Some("DROP POLICY IF EXISTS \"own\" ON \"app\".\"tb_a\"")
        );
        let trigger = part(
            "CREATE CONSTRAINT TRIGGER \"T\" AFTER INSERT OR UPDATE OF x ON tb_a FOR EACH ROW EXECUTE FUNCTION f()",
        );
        assert_eq!(
            trigger.as_deref(),
            Some("DROP TRIGGER IF EXISTS \"T\" ON \"tb_a\"")
        );
        assert_eq!(part("CREATE TABLE tb_a (x int)"), None);

        assert_eq!(
            of(&Statement {
                text: "UPDATE a SET x = 1",
                line: 1
            }),
            None
        );
    }
}
