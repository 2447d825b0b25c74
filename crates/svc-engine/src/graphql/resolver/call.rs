//! One call of a resolver: its arguments and its result.

use std::any::Any;

use async_graphql::Value;

use crate::authz::Admission;
use crate::repository::{ConnectionSpec, FindSpec};
use crate::request::Context;
use svc_core::schema::{self, Input, InputError};
use svc_core::{Error, ErrorCode};

/// A query that a resolver returned: compiled with the field's selection to one statement.
#[derive(Debug, Clone)]
pub(crate) enum ReturnedQuery {
    /// Rows to select.
    Find(FindSpec),
    /// A page of rows with cursors.
    Connection(ConnectionSpec),
    /// Aggregates over rows.
    Aggregate(FindSpec),
}

/// The arguments and the context of one call.
#[derive(Debug)]
pub struct Call<'a> {
    context: &'a Context<'a>,
    args: Vec<Option<Value>>,
}

impl<'a> Call<'a> {
    /// The call of the function behind a root field.
    pub(crate) fn of_root<F>(
        _: &Admission<'_, F>,
        context: &'a Context<'a>,
        args: Vec<Option<Value>>,
    ) -> Self {
        Self { context, args }
    }

    /// The call of a method.
    pub(crate) fn of_method(context: &'a Context<'a>, args: Vec<Option<Value>>) -> Self {
        Self { context, args }
    }

    /// Returns the resolver's context.
    pub fn context(&self) -> &'a Context<'a> {
        self.context
    }

    /// Takes the argument at `index`, in the order of the function's parameters.
    ///
    /// # Errors
    /// `BAD_USER_INPUT` when the type rejects the value.
    pub fn arg<T: Input>(&mut self, index: usize, name: &'static str) -> Result<T, Error> {
        let value = self.args.get_mut(index).and_then(Option::take);
        T::parse(value).map_err(|error| refused(name, &error))
    }
}

/// The error for a value that its Rust type rejects.
#[cold]
pub(crate) fn refused(argument: &str, error: &InputError) -> Error {
    let path: String = error.path().iter().map(|part| format!(".{part}")).collect();
    Error::new(
        ErrorCode::BadUserInput,
        format!("argument `{argument}{path}`: {error}"),
    )
}

impl schema::Query for ReturnedQuery {}

impl ReturnedQuery {
    /// The query that a resolver returned.
    ///
    /// # Errors
    /// If it is not one of the engine: generated code returns no other.
    pub(crate) fn of(query: &dyn schema::Query) -> Result<&Self, Error> {
        (query as &dyn Any)
            .downcast_ref()
            .ok_or_else(|| Error::internal("the query of the resolver is not one of the engine"))
    }
}
