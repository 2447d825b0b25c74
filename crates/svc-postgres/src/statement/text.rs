//! The text of a statement.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Oid, Probe, Statement};
use svc_core::trace::StatementSpan;
use svc_telemetry::metrics::{RunningStatement, StatementSlot, get_metrics};
use svc_telemetry::query_stats;
use svc_telemetry::request_log::{self, RunningSql};

/// The text of a statement, and the column types required to interpret its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementText(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    sql: Arc<str>,
    /// `None` if the code that reads the rows checks their types.
    types: Option<Box<[Oid]>>,
    /// The types that it casts clients' values to, by placeholder number.
    casts: Box<[(usize, String)]>,
    /// The checks of the arguments of its calls.
    probes: Box<[Probe]>,
    subject: Option<StatementSubject>,
    series: StatementSlot,
    /// Whether it is sent only once.
    is_sent_once: bool,
}

/// A running statement, as seen by metrics, traces and the log; empty if all of them are off. Boxed,
/// because it is moved with each statement.
pub struct Running(Option<Box<Watched>>);

/// A running statement that metrics, traces or the log record.
struct Watched {
    _counted: Option<RunningStatement>,
    span: Option<StatementSpan>,
    _logged: Option<RunningSql>,
}

impl Running {
    /// The statement to send, with its trace context in a comment if PostgreSQL is to receive that.
    pub(crate) fn told<'a>(&self, statement: &'a Statement) -> Cow<'a, Statement> {
        let span = self.0.as_ref().and_then(|watched| watched.span.as_ref());
        match span.and_then(StatementSpan::comment) {
            None => Cow::Borrowed(statement),
            Some(comment) => Cow::Owned(Statement {
                text: statement.text.with_comment(&comment),
                ..statement.clone()
            }),
        }
    }

    /// Records the failure of the statement, with the SQLSTATE if PostgreSQL reported one.
    pub fn failed(mut self, code: Option<&str>) {
        if let Some(span) = self.0.as_mut().and_then(|watched| watched.span.as_mut()) {
            span.failed(code);
        }
    }
}

/// The subject of a statement, which distinguishes statements in metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementSubject {
    /// The kind of statement.
    pub kind: &'static str,
    /// The view, function or operation.
    pub name: Box<str>,
}

impl StatementText {
    /// The text of a statement with these column types, if they matter, and these casts of clients'
    /// values.
    pub fn new(sql: String, types: Option<Vec<Oid>>, casts: Vec<(usize, String)>) -> Self {
        Self::about(None, sql, types, casts)
    }

    /// The same for a statement with a subject.
    pub fn about(
        subject: Option<StatementSubject>,
        sql: String,
        types: Option<Vec<Oid>>,
        casts: Vec<(usize, String)>,
    ) -> Self {
        let (types, casts, probes) = (types.map(Into::into), casts.into(), Box::default());
        let series = StatementSlot::default();
        Self(Arc::new(Inner {
            sql: sql.into(),
            types,
            casts,
            probes,
            subject,
            series,
            is_sent_once: false,
        }))
    }

    /// The same text with the checks of the arguments of its calls, for a text that has just been
    /// written.
    pub fn calling(mut self, probes: Vec<Probe>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.probes = probes.into();
        }
        self
    }

    /// The same statement with a comment appended, which belongs to a single request.
    fn with_comment(&self, comment: &str) -> Self {
        let Inner {
            sql,
            types,
            casts,
            probes,
            subject,
            ..
        } = &*self.0;

        Self(Arc::new(Inner {
            sql: [sql, comment].concat().into(),
            types: types.clone(),
            casts: casts.clone(),
            probes: probes.clone(),
            subject: subject.clone(),
            series: StatementSlot::default(),
            is_sent_once: true,
        }))
    }

    /// Whether it is sent only once, so that nothing of it is worth keeping.
    pub(crate) fn is_sent_once(&self) -> bool {
        self.0.is_sent_once
    }

    /// Records that the statement starts. If statements are counted, traced or logged, dropping the
    /// result records its end.
    pub fn begin(&self) -> Running {
        query_stats::ran(self);
        let subject = self
            .0
            .subject
            .as_ref()
            .map(|subject| (subject.kind, &*subject.name));

        let counted = get_metrics().map(|metrics| {
            let (kind, name) = subject.unwrap_or(("sql", "other"));
            metrics.statement(&self.0.series, kind, name)
        });

        let span = StatementSpan::begin(subject, &self.0.sql);
        let logged = request_log::statement_began(|| self.without_values());

        // Returned here, because a closure for the box would be copied, run or not.
        if counted.is_none() && span.is_none() && logged.is_none() {
            return Running(None);
        }

        Running(Some(Box::new(Watched {
            _counted: counted,
            span,
            _logged: logged,
        })))
    }

    /// The text, if it is certain to contain no values because its subject is set.
    fn without_values(&self) -> Option<Arc<str>> {
        self.0.subject.as_ref().map(|_| self.0.sql.clone())
    }

    /// Its approximate size in bytes.
    pub fn weight(&self) -> usize {
        let casts = self
            .0
            .casts
            .iter()
            .map(|(_, cast)| size_of::<(usize, String)>() + 16 + cast.len());
        self.0.sql.len()
            + casts.sum::<usize>()
            + self.0.probes.iter().map(Probe::weight).sum::<usize>()
    }

    /// Returns the checks of the arguments of its calls.
    pub(super) fn probes(&self) -> &[Probe] {
        &self.0.probes
    }

    /// Returns the types that it casts clients' values to, by placeholder number.
    pub fn casts(&self) -> &[(usize, String)] {
        &self.0.casts
    }

    /// The types of the columns, if they matter.
    pub fn types(&self) -> Option<&[Oid]> {
        self.0.types.as_deref()
    }

    /// Whether columns of these types match the expected ones.
    pub(crate) fn fits(&self, types: impl ExactSizeIterator<Item = Oid>) -> bool {
        self.types()
            .is_none_or(|meant| meant.len() == types.len() && meant.iter().copied().eq(types))
    }

    /// Whether both are the same text at the same address.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Hashes only the SQL, which few texts share.
impl Hash for StatementText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.sql.hash(state);
    }
}

impl Deref for StatementText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.sql
    }
}

impl From<&str> for StatementText {
    fn from(sql: &str) -> Self {
        sql.to_owned().into()
    }
}

impl From<String> for StatementText {
    fn from(sql: String) -> Self {
        Self::new(sql, None, Vec::new())
    }
}
