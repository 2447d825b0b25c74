//! The table: forty columns of five kinds in turns, so that any multiple of five fields has the
//! same mixture.

use std::fmt::Write as _;

use anyhow::Result;
use testbed::{Database, Request};

use crate::Layout;

/// Rows of the table, and the largest page.
pub(crate) const ROWS: u32 = 10_000;
/// Fields of a row, besides its `id`.
pub(crate) const FIELDS: usize = 40;
/// The database that holds it.
pub(crate) const DATABASE: &str = "growth";

/// The kinds of fields: the name, the column's type, and the value in row `i` as SQL, where `{n}`
/// is the field's number.
const KINDS: [(&str, &str, &str); 5] = [
    (
        "text",
        "text",
        "left(md5(i || 't{n}'), 16) || ' \"' || i || '\"'",
    ),
    ("int", "int", "(i * 7919 + {n}) % 1000003"),
    (
        "time",
        "timestamptz",
        "timestamptz '2024-01-01 00:00:00+00' + (i + {n}) * interval '61 seconds'",
    ),
    ("float", "float8", "(i * 31 + {n}) / 7.0"),
    ("bool", "bool", "(i + {n}) % 3 = 0"),
];

impl Layout {
    /// Returns the view that the layout's server reads.
    fn source(self) -> &'static str {
        match self {
            Self::Columns => "c_wide",
            Self::Data => "v_wide",
            Self::Tv => "tv_wide",
        }
    }
}

/// The names of the fields, with their kinds.
fn fields() -> impl Iterator<Item = (String, usize, (&'static str, &'static str))> {
    (0..FIELDS).map(|index| {
        let ((name, column, value), number) = (KINDS[index % KINDS.len()], index / KINDS.len() + 1);
        (format!("{name}_{number}"), number, (column, value))
    })
}

/// Makes the database anew.
pub(crate) fn seed(database: &Database) -> Result<()> {
    database.run(
        "postgres",
        &format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"),
    )?;
    database.run("postgres", &format!("CREATE DATABASE {DATABASE}"))?;
    let (mut columns, mut values, mut object) = (String::new(), String::new(), String::new());
    for (name, number, (column, value)) in fields() {
        write!(columns, ", {name} {column} NOT NULL")?;
        write!(values, ", {}", value.replace("{n}", &number.to_string()))?;
        write!(object, ", '{name}', {name}")?;
    }
    // Ids rise with the rows, so that a page in the order of `id` lies together, whatever its size.
    let id = "lpad(to_hex(i), 32, '0')::uuid";
    database.run(
        DATABASE,
        &format!(
            "SET client_min_messages = warning; SET timezone = 'UTC';
             CREATE TABLE tb_wide (id uuid PRIMARY KEY{columns});
             INSERT INTO tb_wide SELECT {id}{values} FROM generate_series(1, {ROWS}) AS i ORDER BY i;
             CREATE VIEW {} AS SELECT * FROM tb_wide;
             CREATE VIEW {} AS SELECT id, jsonb_build_object('id', id{object}) AS data FROM tb_wide;
             CREATE TABLE {} AS SELECT * FROM v_wide ORDER BY id;
             ALTER TABLE tv_wide ADD PRIMARY KEY (id);",
            Layout::Columns.source(),
            Layout::Data.source(),
            Layout::Tv.source(),
        ),
    )?;
    // Not allowed beside other statements.
    database.run(DATABASE, "VACUUM (FREEZE, ANALYZE) tb_wide")?;
    database.run(DATABASE, "VACUUM (FREEZE, ANALYZE) tv_wide")?;
    Ok(())
}

/// Asks for the first fields of the first rows.
pub(crate) fn request(rows: u32, count: usize) -> Request {
    let names: Vec<String> = fields().take(count).map(|(name, ..)| name).collect();
    let document = format!(
        "query Wide($rows: Int!) {{ wide(limit: $rows) {{ {} }} }}",
        names.join(" ")
    );
    Request::new(&document, &serde_json::json!({ "rows": rows }))
}
