//! Combines statements that differ only in their values into one.

use std::fmt::Write as _;

use super::{Oid, Param, Statement, StatementText};

/// The type of the last column: `int8`.
const NUMBER: Oid = 20;

impl Statement {
    /// The statement that runs this one for each of several lists of values, reading at most one
    /// row each. Its last column is the number of the list, counting from 1. `None` if the values
    /// do not have the same form.
    ///
    /// All values are passed as text arrays, and a text is cast as the placeholder of a text would
    /// be. So each list reads the same as on its own.
    pub fn for_each(&self, lists: &[&[Param]]) -> Option<Self> {
        let params = (0..self.params.len()).map(|at| Some(Param::Texts(texts(lists, at)?)));
        let params = params.collect::<Option<Vec<_>>>()?;
        let types = self
            .text
            .types()
            .map(|types| types.iter().copied().chain([NUMBER]).collect());
        let text = StatementText::new(self.sql_for_each(), types, Vec::new());

        Some(Self {
            replan: self.replan,
            ..Self::new(text, params)
        })
    }

    fn sql_for_each(&self) -> String {
        let mut sql = String::with_capacity(self.text.len() + 256);
        sql.push_str("SELECT each_row.*, each_list.n FROM unnest(");
        let list = |form: fn(usize) -> String| {
            (1..=self.params.len())
                .map(form)
                .collect::<Vec<_>>()
                .join(", ")
        };

        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "{}) WITH ORDINALITY AS each_list(",
            list(|number| format!("${number}"))
        );

        let _ = write!(
            sql,
            "{}, n) CROSS JOIN LATERAL (",
            list(|number| format!("v{number}"))
        );

        replace_placeholders(&self.text, &mut sql, |sql, number| {
            let cast = self
                .params
                .get(number.wrapping_sub(1))
                .and_then(cast)
                .unwrap_or_default();
            let _ = write!(sql, "each_list.v{number}{cast}");
        });

        sql.push_str(") AS each_row");

        sql
    }
}

/// The values of a placeholder as texts; `None` if they do not have the same form.
fn texts(lists: &[&[Param]], at: usize) -> Option<Vec<String>> {
    let form = cast(lists.first()?.get(at)?)?;
    let text = |list: &&[Param]| {
        let param = list.get(at).filter(|param| cast(param) == Some(form))?;
        Some(match param {
            Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => text.clone(),
            Param::Texts(texts) => array(texts),
            Param::Int(number) => number.to_string(),
            Param::Variable(_) => return None,
        })
    };

    lists.iter().map(text).collect()
}

/// The cast from text to the type that a value is bound as; `None` if PostgreSQL infers that type.
fn cast(param: &Param) -> Option<&'static str> {
    match param {
        Param::Text(_) | Param::Pattern(..) | Param::CursorKey(_) => Some(""),
        Param::Texts(_) => Some("::text[]"),
        Param::Int(_) => Some("::int8"),
        Param::Variable(_) => None,
    }
}

/// The text form of an array for PostgreSQL.
fn array(texts: &[String]) -> String {
    let items: Vec<_> = texts
        .iter()
        .map(|text| format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")))
        .collect();
    format!("{{{}}}", items.join(","))
}

/// Copies SQL with its placeholders replaced. Quoted names and texts contain none.
fn replace_placeholders(sql: &str, out: &mut String, mut replace: impl FnMut(&mut String, usize)) {
    let (mut quote, mut copied) = (None, 0);
    for (at, byte) in sql.bytes().enumerate() {
        match (quote, byte) {
            (None, b'$') => {
                let digits = sql[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
                if let Ok(number) = sql[at + 1..=at + digits].parse() {
                    out.push_str(&sql[copied..at]);
                    replace(out, number);
                    copied = at + 1 + digits;
                }
            }
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }

    out.push_str(&sql[copied..]);
}

#[cfg(test)]
mod tests {
    use super::super::{Param, Statement};

    fn text(text: &str) -> Param {
        Param::Text(text.to_owned())
    }

    #[test]
    fn values_go_as_arrays_and_placeholders_become_columns() {
        let list = |id: &str, tags: &[&str], limit| {
            vec![
                text(id),
                Param::Texts(tags.iter().map(|tag| (*tag).to_owned()).collect()),
                Param::Int(limit),
            ]
        };

        let sql = r#"SELECT t."a$1", '$2 it''s' FROM "v" AS t WHERE t."id" = $1::int4 AND t."b" = ANY($2::text[]) LIMIT $3"#;
        let lists = [list("1", &["a\"b", "\\"], 5), list("2", &[], 7)];
        let statement = Statement::new(sql, lists[0].clone())
            .for_each(&[&lists[0], &lists[1]])
            .unwrap();
        let expected = concat!(
            "SELECT each_row.*, each_list.n FROM unnest($1, $2, $3) WITH ORDINALITY AS each_list(v1, v2, v3, n) ",
            r#"CROSS JOIN LATERAL (SELECT t."a$1", '$2 it''s' FROM "v" AS t WHERE t."id" = each_list.v1::int4 "#,
            r#"AND t."b" = ANY(each_list.v2::text[]::text[]) LIMIT each_list.v3::int8) AS each_row"#,
        );

        assert_eq!(&*statement.text, expected);
        let texts = |texts: [&str; 2]| Param::Texts(texts.map(str::to_owned).into());

        assert_eq!(
            statement.params,
            [
                texts(["1", "2"]),
                texts([r#"{"a\"b","\\"}"#, "{}"]),
                texts(["5", "7"])
            ]
        );
    }

    #[test]
    fn different_kinds_of_values_are_not_combined() {
        let statement = Statement::new("SELECT $1", vec![text("a")]);
        assert_eq!(statement.for_each(&[&[text("a")], &[Param::Int(1)]]), None);
        assert_eq!(statement.for_each(&[&[text("a")], &[]]), None);
        assert_eq!(statement.for_each(&[]), None);
    }
}
