//! `having`: conditions on the aggregates of a group.

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use crate::graphql::find::conditions::aggregate_values::of_function;
use crate::graphql::find::conditions::null_condition;
use crate::sql::{Computed, Having, OfGroup};
use svc_core::Error;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{AggregateFunction, Model, ScalarKind, TypeIndex, TypeKind, family};

type Fields = IndexMap<Name, Value>;

/// Reads a `having` argument.
pub(super) fn having(model: &Model, row: TypeIndex, fields: &Fields) -> Result<Having, Error> {
    Conditions { model, row }.all(fields)
}

/// Reads conditions on groups of rows of one type.
struct Conditions<'a> {
    model: &'a Model,
    row: TypeIndex,
}

impl Conditions<'_> {
    fn all(&self, fields: &Fields) -> Result<Having, Error> {
        let conditions = fields.iter().map(|(rust, value)| self.one(rust, value));
        Ok(Having::All(conditions.collect::<Result<_, _>>()?))
    }

    fn one(&self, rust: &str, value: &Value) -> Result<Having, Error> {
        match (rust, value) {
            (_, Value::Null) => Err(null_condition(rust)),
            ("AND", Value::List(items)) => Ok(Having::All(self.each(items)?)),
            ("OR", Value::List(items)) => Ok(Having::Any(self.each(items)?)),
            ("NOT", Value::Object(fields)) => Ok(Having::Not(Box::new(self.all(fields)?))),
            ("count", Value::Object(given)) => {
                operators(&OfGroup::Computed(Computed::Count), ScalarKind::Int, given)
            }
            (rust, Value::Object(fields)) => match AggregateFunction::named(rust) {
                Some(function) => self.function(function, fields),
                None => Err(Error::internal(format!("there is no aggregate `{rust}`"))),
            },
            (rust, _) => Err(Error::internal(format!(
                "the condition on `{rust}` is not an object"
            ))),
        }
    }

    fn each(&self, items: &[Value]) -> Result<Vec<Having>, Error> {
        let conditions = items.iter().map(|item| match item {
            Value::Object(fields) => self.all(fields),
            _ => Err(Error::internal("a condition is not an object")),
        });
        conditions.collect()
    }

    /// Returns the conditions on the results of a function for some fields.
    fn function(&self, function: AggregateFunction, fields: &Fields) -> Result<Having, Error> {
        let conditions = fields.iter().map(|(rust, given)| {
            let Value::Object(given) = given else {
                return Err(null_condition(rust));
            };
            let (column, result) = of_function(self.model, self.row, function, rust)?;
            operators(
                &OfGroup::Computed(Computed::Of(function, column, result)),
                result,
                given,
            )
        });
        Ok(Having::All(conditions.collect::<Result<_, _>>()?))
    }
}

fn operators(of: &OfGroup, result: ScalarKind, given: &Fields) -> Result<Having, Error> {
    let family = family(&TypeKind::Scalar {
        kind: result,
        specified_by: None,
    });
    let conditions = given.iter().map(|(name, value)| {
        let unknown = || Error::internal(format!("there is no operator `{name}`"));
        let def = family.operator(name).ok_or_else(unknown)?;
        Ok(Having::Compare(
            of.clone(),
            def.operator,
            SqlValue::from_graphql(value),
        ))
    });

    Ok(Having::All(conditions.collect::<Result<_, Error>>()?))
}
