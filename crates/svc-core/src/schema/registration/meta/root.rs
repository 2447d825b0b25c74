//! Metadata of root fields, as registered by the macros.

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
    #[doc(hidden)]
    pub fn as_str(self) -> &'static str {
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
    /// The root type that contains it.
    pub kind: OperationKind,
    /// The arguments, excluding the context.
    pub args: &'static [ArgMeta],
    /// The field's type.
    pub ty: TypeFn,
    /// The implementation: code or a statement.
    pub run: Run,
    /// The rules about authorization, rate limit, cache and atomic operations.
    pub rules: RootRules,
}

/// The implementation of a root field.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// No body: one SQL statement.
    Planned(PlannedMeta),
    /// No body: a function of the database.
    Function(FunctionMeta),
    /// No body: writes rows of a table.
    Write(WriteMeta),
    /// A body: the resolver.
    Code(&'static dyn Code),
    /// A root field of the framework: rows by the ids of nodes.
    Nodes,
    /// No body: rows identified by the events of a channel.
    Event(EventMeta),
    /// A body that returns a stream: the resolver of a subscription.
    Stream(&'static dyn Code),
}

impl Run {
    /// Whether its arguments, except an input object, are conditions on rows.
    #[doc(hidden)]
    pub fn filters(self) -> bool {
        match self {
            Self::Write(write) => write.is_by_filter(),
            run => run.planned().is_some(),
        }
    }

    /// The rows that it reads without code of the program.
    #[doc(hidden)]
    pub fn planned(self) -> Option<PlannedMeta> {
        match self {
            Self::Planned(planned) | Self::Event(EventMeta { planned, .. }) => Some(planned),
            Self::Function(_) | Self::Write(_) | Self::Code(_) | Self::Stream(_) | Self::Nodes => {
                None
            }
        }
    }
}

/// A planned subscription.
#[derive(Debug, Clone, Copy)]
pub struct EventMeta {
    /// The channel of its events.
    pub channel: &'static str,
    /// The row that an event identifies.
    pub planned: PlannedMeta,
}

impl EventMeta {
    /// Creates a subscription to rows.
    ///
    /// # Panics
    /// At compile time, if it returns more than one row.
    pub const fn new(channel: &'static str, planned: PlannedMeta) -> Self {
        assert!(
            matches!(planned.shape, Shape::One | Shape::Optional),
            "an event names one row; write `Post` for rows that are there, or `Option<Post>` to be told of deleted ones"
        );
        Self { channel, planned }
    }
}

/// The number of rows that a planned field returns.
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
    /// `Aggregate<T>`: aggregates over all rows.
    Aggregate,
}

/// A planned root field.
#[derive(Debug, Clone, Copy)]
pub struct PlannedMeta {
    /// The number of rows.
    pub shape: Shape,
    /// The type of a row.
    pub row: KeyFn,
    /// The order of the rows if the client specifies none, or one that leaves ties.
    pub order: &'static [OrderKey],
    /// The source of the rows, if it is not the view.
    pub source: Option<&'static RowSourceMeta>,
}

/// An alternative source for the rows of a view.
#[derive(Debug, Clone, Copy)]
pub struct RowSourceMeta {
    /// The kind of source.
    pub kind: RowSourceKind,
    /// `name` or `schema.name` of a function, or SQL.
    pub text: &'static str,
    /// The context values that are passed before the arguments.
    pub context: &'static [&'static str],
    /// For each argument, whether its Rust type accepts a value.
    pub checks: &'static [Check],
    /// The location of the Rust function.
    pub place: Place,
}

/// The kind of a row source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSourceKind {
    /// A function of the database.
    Function,
    /// A statement that selects them.
    Sql,
}

impl PlannedMeta {
    /// Creates a field that reads rows of a view.
    pub const fn new(shape: Shape, row: KeyFn) -> Self {
        Self {
            shape,
            row,
            order: &[],
            source: None,
        }
    }

    /// Makes the field read its rows from another source.
    #[must_use]
    pub const fn reading_from(self, source: &'static RowSourceMeta) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Sets the default order of the rows.
    ///
    /// # Panics
    /// At compile time, if the field aggregates rows.
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
    /// The context values that are passed before the arguments.
    pub context: &'static [&'static str],
    /// Whether a call with a failing status is rolled back or committed.
    pub on_failure: OnFailure,
    /// The target row, which row policies must permit.
    pub acts_on: Option<TargetRow>,
    /// For each argument, whether its Rust type accepts a value.
    pub checks: &'static [Check],
    /// The location of the Rust function.
    pub place: Place,
}

/// The target row of a mutation: its type, and the argument with its id.
#[derive(Debug, Clone, Copy)]
pub struct TargetRow {
    /// The type of the row.
    pub row: fn() -> TypeId,
    /// The Rust name of that type, for messages.
    pub type_name: fn() -> &'static str,
    /// The position of the argument; context values are not counted.
    pub argument: usize,
}

impl TargetRow {
    /// Creates the target row from its type and the position of the argument with its id.
    pub const fn new<T: SvcType>(argument: usize) -> Self {
        Self {
            row: TypeId::of::<T>,
            type_name: std::any::type_name::<T>,
            argument,
        }
    }
}

/// The members of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMeta {
    /// The member for a success status.
    pub success: ResultMember,
    /// The member for any other status.
    pub error: ResultMember,
    /// Whether the success has the field `query`.
    pub query: bool,
}

/// A member of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMember {
    /// Its GraphQL name.
    pub name: &'static str,
    /// The Rust name of the field that contains the entity.
    pub entity: Option<&'static str>,
}
