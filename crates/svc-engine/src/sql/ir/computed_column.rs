//! Calls of row functions, which compute values of rows.

use std::fmt;

use svc_core::exact_json::ExactJson;
use svc_core::schema::{Relation, Shape, TypeIndex};
use svc_postgres::{Catalog, DbError, FunctionSpec, Param};

/// A call of a row function.
#[derive(Clone, PartialEq)]
pub struct ComputedColumnCall {
    pub(crate) spec: FunctionSpec,
    /// The type of its row argument.
    pub(crate) row: TypeIndex,
    /// The declared type of the value.
    pub(crate) named: TypeIndex,
    pub(crate) list: bool,
    /// The arguments; `None` uses the function's default.
    pub(crate) args: Vec<Option<ExactJson>>,
}

/// Numbers of JSON are compared as text, so each equals itself.
impl Eq for ComputedColumnCall {}

/// The fingerprint of an order in cursors is computed from this text, so it only contains parts
/// that are the same in every version of a program.
impl fmt::Debug for ComputedColumnCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RowCall")
            .field(&self.spec.name)
            .field(&self.args)
            .finish()
    }
}

impl ComputedColumnCall {
    /// The relation from an object to the row with its `id`.
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

    /// The same form, with placeholder values.
    pub(crate) fn without_values(&self) -> Self {
        let args = self
            .args
            .iter()
            .map(|arg| arg.as_ref().map(formal))
            .collect();

        Self {
            args,
            spec: self.spec.clone(),
            ..*self
        }
    }

    /// Whether a statement that contains one of the calls can be reused for the other, with other
    /// arguments.
    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
        let form = |arg: &Option<ExactJson>| arg.as_ref().map(formal);
        self.spec == other.spec
            && self.args.len() == other.args.len()
            && self
                .args
                .iter()
                .zip(&other.args)
                .all(|(one, other)| form(one) == form(other))
    }

    /// Binds the arguments in the same order as the code that writes the call.
    pub(crate) fn bind(&self, catalog: &Catalog, params: &mut Vec<Param>) -> Result<(), DbError> {
        catalog
            .row_function(&self.spec)?
            .bind_of_row(self.args.iter(), params);
        Ok(())
    }
}

/// A small value with the same form.
fn formal(value: &ExactJson) -> ExactJson {
    // The text of a call only depends on whether an argument is absent, null, a list or another
    // value.
    match value {
        ExactJson::Null => ExactJson::Null,
        ExactJson::Array(_) => ExactJson::Array(Vec::new()),
        _ => ExactJson::Bool(true),
    }
}
