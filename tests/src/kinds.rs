//! The three kinds of views over one table.

use serde_json::Value;

use crate::App;

/// The SQL of the three kinds of views over the table `tb_{name}`: `c_{name}` with columns, `d_{name}` with `data` only,
/// and the table `tv_{name}`, which has some `columns` beside `data`.
pub fn three_views(name: &str, columns: &str) -> String {
    format!(
        "CREATE VIEW c_{name} AS SELECT *, '{{}}'::jsonb AS data FROM tb_{name};
         CREATE VIEW d_{name} AS SELECT to_jsonb(t) AS data FROM tb_{name} t;
         CREATE TABLE tv_{name} AS SELECT {columns}, to_jsonb(t) AS data FROM tb_{name} t;"
    )
}

impl App {
    /// Asks the root fields `columns`, `data` and `table` the same, and returns the one answer that they must have.
    pub async fn same(&self, arguments: &str, selection: &str) -> Value {
        let mut answers = Vec::new();
        for root in ["columns", "data", "table"] {
            answers.push((root, self.query(&format!("{{ answer: {root}{arguments} {selection} }}")).await));
        }
        for (root, answer) in &answers[1..] {
            let text = &answers[0].1.text;
            assert_eq!(answer.text, *text, "`{root}` answers other bytes than `columns` for {arguments} {selection}");
        }
        answers[0].1.data()["answer"].clone()
    }
}
