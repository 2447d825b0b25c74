//! What one execution has at hand.

use super::coerce::Variables;
use super::context::Context;
use super::limits::Limits;
use super::plan::{ArgPlan, argument_values};
use crate::db::{Database, Session};
use crate::schema::Model;
use crate::{Error, ErrorCode};

/// The surroundings of one execution.
#[derive(Clone, Copy)]
pub(crate) struct Env<'a> {
    pub(crate) model: &'a Model,
    pub(crate) limits: &'a Limits,
    pub(crate) database: &'a Database,
    pub(crate) variables: &'a Variables,
    pub(crate) context: Context<'a>,
    /// Whether a database that is away gives empty results.
    pub(crate) development: bool,
}

impl Env<'_> {
    /// The session variables of the request.
    pub(crate) fn session(&self) -> &Session {
        &self.context.request.db.session
    }

    /// The coerced arguments of a field.
    pub(crate) fn arguments(&self, args: &[ArgPlan]) -> Result<Vec<Option<async_graphql::Value>>, Error> {
        argument_values(args, self.model, self.variables)
            .map_err(|error| Error::new(ErrorCode::BadUserInput, error.message))
    }
}
