//! Root fields, as macros register them.

use std::any::TypeId;

use super::element::{Check, ElementMeta, KeyFn, Place, TypeFn};
use super::relation::OrderKey;
use super::types::ArgMeta;
use super::write::WriteMeta;
use crate::schema::{Code, OnFailure, RootRules, SvcType};

/// The three kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Reads; root fields run concurrently.
    Query,
    /// Writes; root fields run in order.
    Mutation,
    /// A stream of events.
    Subscription,
}

impl OperationKind {
    /// Its keyword in documents.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
            Self::Subscription => "subscription",
        }
    }
}

/// A root field: a function with `#[svc::query]`, `#[svc::mutation]` or `#[svc::subscription]`.
#[derive(Debug)]
pub struct RootFieldMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The root type it belongs to.
    pub kind: OperationKind,
    /// The arguments without the context.
    pub args: &'static [ArgMeta],
    /// The field's type.
    pub ty: TypeFn,
    /// The code or the statement behind it.
    pub run: Run,
    /// The rules of authorization.
    pub rules: RootRules,
}

/// The code or the statement behind a root field.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// No body: one SQL statement.
    Planned(PlannedMeta),
    /// No body: a function of the database.
    Function(FunctionMeta),
    /// No body: rows of a table are written.
    Write(WriteMeta),
    /// A body: the resolver.
    Code(&'static dyn Code),
    /// No function of the program: rows by the ids of nodes.
    Nodes,
    /// No body: rows that events of a channel name.
    Event(EventMeta),
    /// A body that gives a stream: the resolver of a subscription.
    Stream(&'static dyn Code),
}

impl Run {
    /// The rows that it reads without code of the program.
    pub(crate) fn planned(self) -> Option<PlannedMeta> {
        match self {
            Self::Planned(planned) | Self::Event(EventMeta { planned, .. }) => Some(planned),
            Self::Function(_) | Self::Write(_) | Self::Code(_) | Self::Stream(_) | Self::Nodes => None,
        }
    }
}

/// A planned subscription.
#[derive(Debug, Clone, Copy)]
pub struct EventMeta {
    /// The channel of its events.
    pub channel: &'static str,
    /// The row that an event names.
    pub planned: PlannedMeta,
}

impl EventMeta {
    /// A subscription to rows.
    ///
    /// # Panics
    /// While the program is compiled, where it answers with more than one row.
    pub const fn new(channel: &'static str, planned: PlannedMeta) -> Self {
        assert!(
            matches!(planned.shape, Shape::One | Shape::Optional),
            "an event names one row; write `Post` for rows that are there, or `Option<Post>` to be told of deleted ones"
        );
        Self { channel, planned }
    }
}

/// The number of rows that a planned field answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `Vec<T>`: a page of rows.
    List,
    /// `Option<T>`: a row or null.
    Optional,
    /// `T`: a row; its absence is an error.
    One,
    /// `Connection<T>`: a page of rows with cursors.
    Connection,
    /// `Aggregate<T>`: what is computed over all rows.
    Aggregate,
}

/// A planned root field.
#[derive(Debug, Clone, Copy)]
pub struct PlannedMeta {
    /// The number of rows.
    pub shape: Shape,
    /// The type of a row.
    pub row: KeyFn,
    /// The order of the rows where a client asks for none, or for one that leaves ties.
    pub order: &'static [OrderKey],
    /// The source of the rows in place of the view.
    pub source: Option<&'static RowSourceMeta>,
}

/// The source of rows of a view in place of the view itself.
#[derive(Debug, Clone, Copy)]
pub struct RowSourceMeta {
    /// The kind of its text.
    pub kind: RowSourceKind,
    /// `name` or `schema.name` of a function, or SQL.
    pub text: &'static str,
    /// The values of the request that it gets before the arguments.
    pub context: &'static [&'static str],
    /// Whether the Rust type of each argument takes a value.
    pub checks: &'static [Check],
    /// The place of the Rust function.
    pub place: Place,
}

/// A kind of what gives rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSourceKind {
    /// A function of the database.
    Function,
    /// A statement that selects them.
    Sql,
}

impl PlannedMeta {
    /// A field that reads rows of a view.
    pub const fn new(shape: Shape, row: KeyFn) -> Self {
        Self { shape, row, order: &[], source: None }
    }

    /// The field with its rows from somewhere else.
    #[must_use]
    pub const fn reading_from(self, source: &'static RowSourceMeta) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The field with its rows in an order.
    ///
    /// # Panics
    /// While the program is compiled, where the field aggregates rows.
    #[must_use]
    pub const fn ordered(self, order: &'static [OrderKey]) -> Self {
        assert!(
            !matches!(self.shape, Shape::Aggregate),
            "what is computed over all rows has no order; remove `order_by`"
        );
        Self { order, ..self }
    }
}

/// A root field that calls a function of the database.
#[derive(Debug, Clone, Copy)]
pub struct FunctionMeta {
    /// `name` or `schema.name`.
    pub name: &'static str,
    /// The values of the request that the function gets before the arguments.
    pub context: &'static [&'static str],
    /// The fate of a call with a failing status.
    pub on_failure: OnFailure,
    /// The row that it acts on, which row policies have to permit.
    pub acts_on: Option<ActsOn>,
    /// Whether the Rust type of each argument takes a value.
    pub checks: &'static [Check],
    /// The place of the Rust function.
    pub place: Place,
}

/// The row that a mutation acts on: its type, and the argument with its id.
#[derive(Debug, Clone, Copy)]
pub struct ActsOn {
    /// The type of the row.
    pub row: fn() -> TypeId,
    /// The Rust name of that type, for messages.
    pub type_name: fn() -> &'static str,
    /// The position of the argument, without those of the context.
    pub argument: usize,
}

impl ActsOn {
    /// Creates the row of a type whose id is in an argument.
    pub const fn new<T: SvcType>(argument: usize) -> Self {
        Self { row: TypeId::of::<T>, type_name: std::any::type_name::<T>, argument }
    }
}

/// The members of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMeta {
    /// Of a status that means success.
    pub success: ResultMember,
    /// Of every other.
    pub error: ResultMember,
}

/// A member of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMember {
    /// Its GraphQL name.
    pub name: &'static str,
    /// The Rust name of the field that holds the entity.
    pub entity: Option<&'static str>,
}
