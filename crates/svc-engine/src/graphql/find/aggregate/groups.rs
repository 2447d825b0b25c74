//! The arguments of groups: the group keys, the `having` conditions, the order and the page.

use async_graphql::{Name, Value};
use indexmap::IndexMap;

use super::having::having;
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::conditions::aggregate_values::of_function;
use crate::graphql::find::conditions::direction;
use crate::graphql::plan::{ArgPlan, PlanField, PlanKind};
use crate::repository::page;
use crate::sql::{Computed, GroupOrder, GroupValue, OfGroup, Query, asc};
use svc_core::schema::{
    AggregateFunction, ArgRole, EnumDef, EnumValue, FieldDef, FieldKind, GroupKey, Part, TypeIndex,
    TypeKind,
};
use svc_core::{Error, ErrorCode};
use svc_postgres::DbError;

/// The arguments of a field with groups. The first one has the group keys.
pub(in crate::graphql::find) struct GroupArguments<'a> {
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    by: Vec<GroupKey>,
}

impl<'a> GroupArguments<'a> {
    /// Reads the group keys.
    ///
    /// # Errors
    /// If the selected `key` has a value that is not a group key, and so may differ between the
    /// rows of a group.
    pub(in crate::graphql::find) fn of(
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
    ) -> Result<Self, DbError> {
        let mut arguments = Self {
            cx,
            field,
            by: Vec::new(),
        };

        arguments.by = arguments.by().map_err(DbError::refused)?;
        let is_key = |field: &&PlanField| matches!(field.kind, PlanKind::Part(Part::Key));
        for key in field
            .children
            .iter()
            .flat_map(|group| group.fields.iter().filter(is_key))
        {
            arguments.check(key, None).map_err(DbError::refused)?;
        }

        Ok(arguments)
    }

    /// Returns the group keys without duplicates.
    fn by(&self) -> Result<Vec<GroupKey>, Error> {
        let mut by = Vec::new();
        let Some((arg, members)) = self.members() else {
            return Ok(by);
        };

        if let Some(Value::List(names)) = self.cx.argument(arg)?.as_deref() {
            for name in names {
                let Value::Enum(name) = name else { continue };
                let member = members.group_key(name).ok_or_else(|| no_member(name))?;
                if !by.contains(&member.key) {
                    by.push(member.key);
                }
            }
        }

        Ok(by)
    }

    /// Returns the argument `by` and its enum.
    fn members(&self) -> Option<(&'a ArgPlan, &'a EnumDef)> {
        let arg = self
            .field
            .args
            .iter()
            .find(|arg| arg.role == ArgRole::GroupBy)?;

        match &self.cx.model.types[arg.ty().named()].kind {
            TypeKind::Enum(members) => Some((arg, members)),
            _ => None,
        }
    }

    /// Rejects selected values of `key` that are not group keys.
    fn check(&self, key: &PlanField, relation: Option<&'static str>) -> Result<(), Error> {
        key.children
            .iter()
            .flat_map(|selection| &selection.fields)
            .try_for_each(|field| match field.kind {
                PlanKind::Part(Part::RelatedKey(relation)) => self.check(field, Some(relation)),
                _ => match group_key(field, relation) {
                    Some(key) if !self.by.contains(&key) => {
                        Err(self.refused("is selected of `key`", &field.name, key))
                    }
                    _ => Ok(()),
                },
            })
    }

    /// Returns the error for a value of the key that is not in `by`.
    fn refused(&self, use_of_it: &str, name: &str, key: GroupKey) -> Error {
        let is_it = |member: &&EnumValue| member.group_key.is_some_and(|known| known.key == key);
        let member = self
            .members()
            .and_then(|(_, members)| members.values.iter().find(is_it));
        let member = member.map_or("it", |member| &member.name);
        let message = format!("`{name}` {use_of_it} and is not in `by`; add `{member}` there");
        Error::new(ErrorCode::BadUserInput, message)
    }

    /// Adds the groups to a query.
    ///
    /// # Errors
    /// A page that is too large or negative, a null condition, or an order by a value that is not
    /// in `by`.
    pub(super) fn apply(self, query: &mut Query) -> Result<(), DbError> {
        query.group = self.by.iter().copied().map(GroupValue::of).collect();
        let (mut limit, mut offset) = (None, 0);
        for arg in self.field.args.iter() {
            let Some(value) = self.cx.argument(arg).map_err(DbError::refused)? else {
                continue;
            };

            match (arg.role, value.as_ref()) {
                (ArgRole::Having, Value::Object(fields)) => {
                    query.having =
                        Some(having(self.cx.model, query.row, fields).map_err(DbError::refused)?);
                }
                (ArgRole::OrderBy, Value::List(keys)) => {
                    for key in keys {
                        self.order(key, query).map_err(DbError::refused)?;
                    }
                }
                (ArgRole::Limit, Value::Number(number)) => limit = number.as_i64(),
                (ArgRole::Offset, Value::Number(number)) => offset = number.as_i64().unwrap_or(0),
                _ => {}
            }
        }

        // The combination of values is unique, which makes pages of groups stable.
        let values = query.group.iter().cloned().map(OfGroup::Value);
        query.group_order.extend(values.map(|of| order(of, "ASC")));
        query.page = Some(page(limit, offset, self.cx.limits)?);

        Ok(())
    }

    /// Adds the orders of one object of `orderBy`.
    fn order(&self, key: &Value, query: &mut Query) -> Result<(), Error> {
        let Value::Object(fields) = key else {
            return Err(Error::internal("an order is not an object"));
        };

        for (name, value) in fields {
            match (AggregateFunction::named(name), value) {
                (_, Value::Enum(given)) => query
                    .group_order
                    .push(order(OfGroup::Computed(Computed::Count), given)),
                (Some(function), Value::Object(fields)) => {
                    for (rust, given) in directions(fields) {
                        let (column, result) =
                            of_function(self.cx.model, query.row, function, rust)?;
                        query.group_order.push(order(
                            OfGroup::Computed(Computed::Of(function, column, result)),
                            given,
                        ));
                    }
                }
                (None, Value::Object(fields)) => {
                    self.order_by_key(self.key_type()?, None, fields, query)?;
                }
                _ => {}
            }
        }

        Ok(())
    }

    /// Adds the orders by the fields of the key, or of an object in it.
    fn order_by_key(
        &self,
        object: TypeIndex,
        relation: Option<&'static str>,
        given: &IndexMap<Name, Value>,
        query: &mut Query,
    ) -> Result<(), Error> {
        for (name, value) in given {
            let field = self
                .cx
                .model
                .object(object)
                .and_then(|object| object.fields.get(name.as_str()));

            let field = field.ok_or_else(|| {
                Error::internal(format!("an order names `{name}`, which is not a key"))
            })?;

            match (field.kind, value) {
                (FieldKind::Part(Part::RelatedKey(relation)), Value::Object(given)) => {
                    self.order_by_key(field.ty.named(), Some(relation), given, query)?;
                }
                (kind, Value::Enum(direction)) => {
                    let key = key_of(kind, relation).filter(|key| self.by.contains(key));
                    let key = key.ok_or_else(|| self.not_in_by(field, relation))?;
                    query
                        .group_order
                        .push(order(OfGroup::Value(GroupValue::of(key)), direction));
                }
                _ => {}
            }
        }

        Ok(())
    }

    fn not_in_by(&self, field: &FieldDef, relation: Option<&'static str>) -> Error {
        match key_of(field.kind, relation) {
            Some(key) => self.refused("orders groups", &field.name, key),
            None => Error::internal(format!(
                "an order names `{}`, which is not a value",
                field.name
            )),
        }
    }

    /// Returns the type of the key.
    fn key_type(&self) -> Result<TypeIndex, Error> {
        let group = self
            .field
            .children
            .iter()
            .next()
            .and_then(|group| self.cx.model.object(group.type_index));

        let is_key = |field: &&FieldDef| matches!(field.kind, FieldKind::Part(Part::Key));
        let key = group.and_then(|group| group.fields.values().find(is_key));
        key.map(|key| key.ty.named())
            .ok_or_else(|| Error::internal("groups have no key"))
    }
}

/// Returns the group key that a field selects.
pub(super) fn group_key(field: &PlanField, relation: Option<&'static str>) -> Option<GroupKey> {
    match field.kind {
        PlanKind::Stored { stored, .. } => Some(GroupKey {
            relation,
            stored,
            period: None,
        }),
        PlanKind::Part(Part::Period(stored, period)) => Some(GroupKey {
            relation,
            stored,
            period: Some(period),
        }),
        _ => None,
    }
}

fn key_of(kind: FieldKind, relation: Option<&'static str>) -> Option<GroupKey> {
    match kind {
        FieldKind::Stored { stored, .. } => Some(GroupKey {
            relation,
            stored,
            period: None,
        }),
        FieldKind::Part(Part::Period(stored, period)) => Some(GroupKey {
            relation,
            stored,
            period: Some(period),
        }),
        _ => None,
    }
}

fn order(of: OfGroup, given: &str) -> GroupOrder {
    // The column is a placeholder: only the direction and the place of nulls are used.
    let order = direction(asc("id"), given);
    GroupOrder {
        of,
        direction: order.direction,
        nulls: order.nulls,
    }
}

fn directions(fields: &IndexMap<Name, Value>) -> impl Iterator<Item = (&str, &str)> {
    fields.iter().filter_map(|(rust, given)| match given {
        Value::Enum(given) => Some((rust.as_str(), given.as_str())),
        _ => None,
    })
}

fn no_member(name: &str) -> Error {
    Error::internal(format!("`{name}` is not a value by which rows are grouped"))
}
