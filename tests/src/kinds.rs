//! The three kinds of views over one table.

use std::fmt::Debug;

use serde_json::Value;
use svc::AppOptions;

use crate::{App, without_error_ids};

/// The names of the three kinds.
const KINDS: [&str; 3] = ["columns", "data", "table"];

/// The SQL of the three kinds of views over the table `tb_{name}`: `c_{name}` with columns,
/// `d_{name}` with `data` only, and the table `tv_{name}`, which has some `columns` beside `data`.
pub fn three_views(name: &str, columns: &str) -> String {
    format!(
        "CREATE VIEW c_{name} AS SELECT *, '{{}}'::jsonb AS data FROM tb_{name};
         CREATE VIEW d_{name} AS SELECT to_jsonb(t) AS data FROM tb_{name} t;
         CREATE TABLE tv_{name} AS SELECT {columns}, to_jsonb(t) AS data FROM tb_{name} t;"
    )
}

/// The one text with which all three kinds answer a question, without the identifiers of its
/// errors.
pub async fn agreed<K: Copy + Debug>(
    question: &str,
    kinds: [K; 3],
    mut ask: impl AsyncFnMut(K) -> String,
) -> String {
    let [first, others @ ..] = kinds;
    let expected = without_error_ids(&ask(first).await);
    for kind in others {
        assert_eq!(
            without_error_ids(&ask(kind).await),
            expected,
            "{kind:?} answers other bytes than {first:?} to {question}"
        );
    }
    expected
}

/// The data of the one answer with which all three kinds answer a query, of which none fails.
pub async fn agreed_data<K: Copy + Debug>(
    query: &str,
    kinds: [K; 3],
    ask: impl AsyncFnMut(K) -> String,
) -> Value {
    let mut answer: Value =
        serde_json::from_str(&agreed(query, kinds, ask).await).expect("an answer is JSON");
    assert_eq!(answer.get("errors"), None, "{query}: {answer:#}");
    answer["data"].take()
}

/// The ids of the rows of `answer` in such data.
pub fn ids(data: &Value) -> Vec<i64> {
    let rows = data["answer"].as_array().expect("a list");
    rows.iter()
        .map(|row| row["id"].as_i64().expect("an id"))
        .collect()
}

/// A service over each of the three kinds of views.
#[derive(Debug)]
pub struct Kinds([App; 3]);

impl Kinds {
    /// Serves the options of the kinds `columns`, `data` and `table`.
    pub async fn serve(options: impl Fn(&'static str) -> AppOptions) -> Self {
        let [columns, data, table] = KINDS.map(options);
        Self([
            App::serve(columns).await,
            App::serve(data).await,
            App::serve(table).await,
        ])
    }

    /// Asks all of them the same, and returns the data of the one answer that they must have.
    pub async fn same(&self, query: &str) -> Value {
        self.same_by(query, async |app: &App| app.query(query).await.text)
            .await
    }

    /// The same, with another way to ask.
    pub async fn same_by(&self, query: &str, ask: impl AsyncFn(&App) -> String) -> Value {
        agreed_data(query, KINDS, async |kind| ask(self.of(kind)).await).await
    }

    /// The ids of the rows of the one answer that all of them have to a root field.
    pub async fn ids(&self, field: &str) -> Vec<i64> {
        ids(&self.same(&format!("{{ answer: {field} {{ id }} }}")).await)
    }

    /// Each kind with its service.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &App)> {
        KINDS.into_iter().zip(&self.0)
    }

    fn of(&self, kind: &str) -> &App {
        let found = self.each().find(|(known, _)| *known == kind);
        found.expect("a kind").1
    }
}

impl App {
    /// Asks the root fields `columns`, `data` and `table` the same, and returns the one answer that
    /// they must have.
    pub async fn same(&self, arguments: &str, selection: &str) -> Value {
        let question = format!("{arguments} {selection}");
        let ask = async |root| {
            self.query(&format!("{{ answer: {root}{question} }}"))
                .await
                .text
        };
        agreed_data(&question, ["columns", "data", "table"], ask).await["answer"].take()
    }
}
