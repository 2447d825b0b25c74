//! Explanations of the execution of each root field, sent beside the response in development.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{Response, limit_text};
use crate::graphql::plan::{Plan, PlanField};
use svc_postgres::{Database, Explained, Recorded, Recorder, Session};

/// The execution path of a root field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// Its selection was compiled to SQL.
    Planned,
    /// A database function was called.
    Called,
    /// Rows of a table were written.
    Written,
    /// A resolver of the program ran.
    Resolved,
    /// The response was cached.
    Cached,
    /// The SQL of a registered operation ran.
    ByStatement,
}

/// The explanation of an operation, by the keys of its root fields.
#[derive(Debug)]
pub(crate) struct Explanation(IndexMap<String, ExplainedField>);

/// The explanation of a root field.
#[derive(Debug)]
pub(crate) struct ExplainedField {
    coordinate: String,
    recorder: Arc<Recorder>,
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone, Copy)]
struct State {
    way: Option<Way>,
    gate: Duration,
    total: Duration,
}

/// Measures the time of a root field in the gate, until it is dropped.
pub(crate) struct GateTime<'a>(&'a ExplainedField, Instant);

impl Explanation {
    /// The explanation of an operation that has not run yet. Fields that need no gate are not
    /// explained.
    pub(in crate::graphql) fn of(plan: &Plan) -> Self {
        let fields = plan
            .root
            .fields
            .iter()
            .filter(|field| field.root().is_some());

        let field = |field: &PlanField| ExplainedField {
            coordinate: field.coordinate.to_string(),
            recorder: Arc::default(),
            state: Mutex::default(),
        };

        Self(
            fields
                .map(|planned| (planned.key.to_string(), field(planned)))
                .collect(),
        )
    }

    /// The explanation of a root field. Cold, so that the check for an explanation is inlined.
    #[cold]
    pub(in crate::graphql) fn field(&self, field: &PlanField) -> Option<&ExplainedField> {
        field.root()?;
        self.0.get(&*field.key)
    }

    /// Records that all root fields are executed together on this path. Returns the first field,
    /// which represents all of them.
    pub(in crate::graphql) fn together(&self, way: Way) -> Option<&ExplainedField> {
        self.0.values().for_each(|field| field.takes(way));
        self.0.values().next()
    }

    /// Adds the explanation to the response. For this, PostgreSQL plans the reads once more.
    pub(in crate::graphql) async fn beside(
        &self,
        response: Response,
        database: &Database,
        session: &Session,
    ) -> Response {
        let recorded: Vec<_> = self
            .0
            .values()
            .map(|field| field.recorder.statements())
            .collect();

        let statements: Vec<_> = recorded
            .iter()
            .flat_map(|(statements, _)| statements)
            .collect();
        let mut explained = database.explain(session, &statements).await.into_iter();
        let mut entries = Vec::with_capacity(self.0.len());
        for ((key, field), (statements, unrecorded)) in self.0.iter().zip(&recorded) {
            let about = statements.iter().zip(explained.by_ref());
            entries.push(field.shown(key, about, *unrecorded));
        }

        response.with_extension("explain", &Value::from(entries))
    }
}

impl ExplainedField {
    /// Runs the field and records its statements.
    pub(in crate::graphql) async fn around<F: Future>(&self, run: F) -> F::Output {
        let began = Instant::now();
        let output = self.recorder.clone().around(run).await;
        self.state().total += began.elapsed();
        output
    }

    /// Records the execution path of the field.
    pub(in crate::graphql) fn takes(&self, way: Way) {
        self.state().way = Some(way);
    }

    /// Starts measuring the gate's decision about the field.
    pub(in crate::graphql) fn gate(&self) -> GateTime<'_> {
        GateTime(self, Instant::now())
    }

    fn shown<'a>(
        &self,
        key: &str,
        statements: impl Iterator<Item = (&'a Recorded, Explained)>,
        unrecorded: usize,
    ) -> Value {
        let State { way, gate, total } = *self.state();
        let sql = self.recorder.elapsed();
        let (mut shown, mut hints) = (Vec::new(), IndexMap::new());

        for (recorded, explained) in statements {
            shown.push(statement(
                recorded,
                explained.plan.map_err(|failure| failure.to_string()),
            ));
            hints.extend(
                explained
                    .hints
                    .into_iter()
                    .map(|hint| (hint.sql, hint.message)),
            );
        }

        let hints: Vec<_> = hints
            .iter()
            .map(|(sql, message)| json!({ "message": message, "sql": sql }))
            .collect();
        let mut entry = json!({
            "path": [key],
            "field": self.coordinate,
            "way": way.map(Way::as_str),
            "milliseconds": {
                "gate": milliseconds(gate),
                "sql": milliseconds(sql),
                "completion": milliseconds(total.saturating_sub(gate).saturating_sub(sql)),
                "total": milliseconds(total.max(gate)),
            },
            "statements": shown,
            "hints": hints,
        });

        if unrecorded > 0 {
            entry["unshownStatements"] = unrecorded.into();
        }

        entry
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GateTime<'_> {
    fn drop(&mut self) {
        self.0.state().gate += self.1.elapsed();
    }
}

impl Way {
    fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Called => "called",
            Self::Written => "written",
            Self::Resolved => "resolved",
            Self::Cached => "cached",
            Self::ByStatement => "by statement",
        }
    }
}

fn statement(recorded: &Recorded, plan: Result<Value, String>) -> Value {
    let outcome = recorded.outcome;
    let mut shown = Map::new();
    shown.insert("text".to_owned(), (*recorded.statement.text).into());
    shown.insert("types".to_owned(), recorded.types().into());
    shown.insert(
        "rows".to_owned(),
        outcome.and_then(|outcome| outcome.rows).into(),
    );
    shown.insert(
        "milliseconds".to_owned(),
        json!(outcome.map(|outcome| milliseconds(outcome.elapsed))),
    );
    match plan {
        Ok(plan) => shown.insert("plan".to_owned(), plan),
        Err(why) => shown.insert("noPlan".to_owned(), limit_text(&why).into()),
    };

    shown.into()
}

/// Milliseconds to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
