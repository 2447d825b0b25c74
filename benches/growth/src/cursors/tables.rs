//! The tables, and an index for each order.

use std::fmt::Write as _;

use anyhow::Result;
use testbed::psql;

use crate::Layout;

/// The number of books.
pub(super) const ROWS: u32 = 300_000;

/// Each order of a client, and the keys of its index.
pub(super) const ORDERS: [(&str, &str); 6] = [
    ("{score: ASC}", "score, id"),
    ("{score: DESC}", "score, id"),
    ("{rank: ASC}", "rank, id"),
    ("{rank: DESC}", "rank, id"),
    ("{level: ASC}, {score: DESC}", "level, score DESC, id DESC"),
    ("{rank: DESC}, {score: ASC}", "rank, score DESC, id DESC"),
];

impl Layout {
    /// Returns the table that has the books of the layout.
    fn table(self) -> &'static str {
        match self {
            Self::Columns => "tb_book",
            Self::Data | Self::Tv => "tv_book",
        }
    }

    /// Returns a key of an index in the layout's table.
    fn index_key(self, key: &str) -> String {
        let (name, direction) = key.split_once(' ').unwrap_or((key, ""));
        match (self, name) {
            (Self::Columns, _) | (_, "id") => key.to_owned(),
            _ => format!("(((data->'{name}') #>> '{{}}')::numeric) {direction}"),
        }
    }
}

/// Makes the tables: two shelves, three levels, one null among four ranks, no two equal scores, and
/// no order that the rows already have.
pub(super) fn seed(url: &str) -> Result<()> {
    let mut indexes = String::new();
    for layout in [Layout::Columns, Layout::Tv] {
        let table = layout.table();
        for (at, (_, keys)) in ORDERS.iter().enumerate() {
            // The reverse order has the same index.
            if ORDERS[..at].iter().any(|(_, others)| others == keys) {
                continue;
            }
            let keys: Vec<String> = keys.split(", ").map(|key| layout.index_key(key)).collect();
            let keys = keys.join(", ");
            write!(
                indexes,
                "CREATE INDEX ON {table} ({keys}); CREATE INDEX ON {table} (shelf_id, {keys});"
            )?;
        }
    }

    psql(
        url,
        &format!(
            "SET client_min_messages = warning;
             CREATE EXTENSION pg_stat_statements;
             CREATE TABLE tb_book (id int PRIMARY KEY, shelf_id int NOT NULL, score int NOT NULL, level int NOT NULL,
               rank int, note text NOT NULL);
             INSERT INTO tb_book SELECT n, n % 2 + 1, n::int8 * 7919 % 300007, n % 3,
               CASE WHEN n % 4 > 0 THEN n::int8 * 6131 % 300007 / 3 END, repeat(md5(n::text), 6)
               FROM generate_series(1, {ROWS}) AS n;
             CREATE TABLE tv_book AS SELECT id, shelf_id,
               jsonb_build_object('score', score, 'level', level, 'rank', rank, 'note', note) AS data FROM tb_book;
             ALTER TABLE tv_book ADD PRIMARY KEY (id);
             CREATE VIEW c_book AS SELECT * FROM tb_book;
             CREATE VIEW v_book AS SELECT * FROM tv_book;
             CREATE TABLE tb_shelf AS SELECT n AS id FROM generate_series(1, 2) AS n;
             CREATE VIEW c_shelf AS SELECT * FROM tb_shelf;
             CREATE VIEW v_shelf AS SELECT * FROM tb_shelf;
             CREATE VIEW tv_shelf AS SELECT * FROM tb_shelf;
             {indexes}"
        ),
    )?;

    // Not allowed beside other statements.
    for table in ["tb_book", "tv_book"] {
        psql(url, &format!("VACUUM (FREEZE, ANALYZE) {table}"))?;
    }
    Ok(())
}
