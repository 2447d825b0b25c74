//! Calls of functions that compute values of rows.

use std::fmt;

use crate::json::ExactJson;
use crate::postgres::{Catalogue, DbError, FunctionSpec, Param};
use crate::schema::{Relation, Shape, TypeIndex};

/// A call of a function that computes a value of a row.
#[derive(Clone, PartialEq)]
pub(crate) struct RowCall {
    pub(crate) spec: FunctionSpec,
    /// The type whose rows it gets.
    pub(crate) row: TypeIndex,
    /// The declared type of the value.
    pub(crate) named: TypeIndex,
    pub(crate) list: bool,
    /// The arguments; one that is left out has the function's default.
    pub(crate) args: Vec<Option<ExactJson>>,
}

/// Numbers of JSON are texts, so each equals itself.
impl Eq for RowCall {}

/// The mark of a cursor is made of it, so it has nothing that another version of a program has otherwise.
impl fmt::Debug for RowCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RowCall").field(&self.spec.name).field(&self.args).finish()
    }
}

impl RowCall {
    /// The relation from a value of the type to the row that it is of.
    pub(crate) fn to_row(&self) -> Relation {
        Relation {
            index: 0,
            shape: Shape::Optional,
            row: self.row,
            from: &["id"],
            to: &["id"],
            through: None,
            joining: None,
            order: &[],
            is_from_client: false,
        }
    }

    /// The same form, without the values.
    pub(crate) fn without_values(&self) -> Self {
        let args = self.args.iter().map(|arg| arg.as_ref().map(formal)).collect();
        Self { args, spec: self.spec.clone(), ..*self }
    }

    /// Whether a statement with the one, with other arguments, is right for the other.
    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
        let form = |arg: &Option<ExactJson>| arg.as_ref().map(formal);
        self.spec == other.spec
            && self.args.len() == other.args.len()
            && self.args.iter().zip(&other.args).all(|(one, other)| form(one) == form(other))
    }

    /// Binds the arguments, as writing the call does.
    pub(crate) fn bind(&self, catalogue: &Catalogue, params: &mut Vec<Param>) -> Result<(), DbError> {
        catalogue.row_function(&self.spec)?.bind_of_row(self.args.iter(), params);
        Ok(())
    }
}

/// A small value of the same form.
fn formal(value: &ExactJson) -> ExactJson {
    match value {
        ExactJson::Null => ExactJson::Null,
        ExactJson::Array(_) => ExactJson::Array(Vec::new()),
        _ => ExactJson::Bool(true),
    }
}
