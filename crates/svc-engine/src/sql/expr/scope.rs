//! The rows and objects that the columns of a condition or an order refer to.

use std::borrow::Cow;

use super::operand::Operand;
use crate::sql::Builder;
use svc_core::schema::{FieldKind, Model, Relation, TypeExpr, TypeIndex};
use svc_postgres::{DbError, Source, quote};

/// A row, or a part of one.
#[derive(Clone)]
pub(in crate::sql) enum Scope<'a> {
    /// A row of a view.
    Row(RowScope<'a>),
    /// A JSON object: an embedded object or an element of an embedded list.
    Json {
        sql: String,
        object: TypeIndex,
        depth: usize,
    },
}

/// A row of a view under an alias.
#[derive(Clone)]
pub(in crate::sql) struct RowScope<'a> {
    pub(in crate::sql) row: TypeIndex,
    pub(in crate::sql) source: &'a Source,
    /// The number of enclosing queries, which determines the alias.
    pub(in crate::sql) depth: usize,
    /// Whether `data` is read in a subquery.
    pub(in crate::sql) once: bool,
}

impl<'a> RowScope<'a> {
    pub(in crate::sql) fn alias(&self) -> Cow<'static, str> {
        match self.depth {
            0 => "t".into(),
            1 => "t1".into(),
            2 => "t2".into(),
            deeper => format!("t{deeper}").into(),
        }
    }

    /// A column of the row.
    pub(in crate::sql) fn column(&self, name: &str) -> String {
        let (alias, known) = (self.alias(), self.source.columns.get(name));
        match known {
            Some(known) => [&*alias, ".", &known.quoted].concat(),
            None => [&*alias, ".", &quote(name)].concat(),
        }
    }

    /// The alias of the subquery that reads `data` once.
    pub(in crate::sql) fn data_alias(&self) -> String {
        format!("d{}", self.depth)
    }
}

impl Scope<'_> {
    /// The type whose fields the columns refer to.
    pub(in crate::sql) fn object(&self) -> TypeIndex {
        match self {
            Self::Row(row) => row.row,
            Self::Json { object, .. } => *object,
        }
    }

    pub(in crate::sql) fn depth(&self) -> usize {
        match self {
            Self::Row(row) => row.depth,
            Self::Json { depth, .. } => *depth,
        }
    }
}

/// The tie of a subquery to its enclosing query: a relation to the subquery's rows, and the keys at
/// its start.
#[derive(Clone, Copy)]
pub(in crate::sql) struct Tie<'q> {
    pub(in crate::sql) relation: &'q Relation,
    /// The keys, cast to the types of the keys that they are compared with.
    pub(in crate::sql) from: &'q [String],
}

/// A field in a condition or an order.
#[derive(Clone, Copy)]
pub(in crate::sql) enum Named<'a> {
    Stored(Stored),
    Relation(&'a Relation),
}

/// The declared type of a stored field.
#[derive(Clone, Copy)]
pub(in crate::sql) struct Stored {
    pub(in crate::sql) named: TypeIndex,
    pub(in crate::sql) list: bool,
    pub(in crate::sql) non_null: bool,
}

/// Looks up a field of an object type: a stored field by its stored name, a relation by its Rust
/// name.
pub(in crate::sql) fn named<'a>(
    model: &'a Model,
    object: TypeIndex,
    name: &str,
) -> Option<Named<'a>> {
    // The schema only offers conditions on fields that all members of an interface store alike, so
    // the first member decides for all of them.
    let object = model
        .possible_types(object)
        .first()
        .and_then(|index| model.object(*index))?;
    let stored = object.fields.values().find_map(|field| match field.kind {
        FieldKind::Stored { stored, .. } if stored == name => {
            let list = matches!(field.ty.unwrapped(), TypeExpr::List(_));
            Some(Named::Stored(Stored {
                named: field.ty.named(),
                list,
                non_null: field.ty.is_non_null(),
            }))
        }
        _ => None,
    });

    stored.or_else(|| {
        object.fields.values().find_map(|field| match &field.kind {
            FieldKind::Relation(relation) if field.rust == name => Some(Named::Relation(relation)),
            _ => None,
        })
    })
}

impl<'a> Builder<'a> {
    /// The rows that a relation leads to, and the condition that joins them to this scope.
    pub(in crate::sql) fn related(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
    ) -> Result<(RowScope<'a>, String), DbError> {
        let from = self.related_keys(scope, relation)?;
        let inner = self.rows(relation.row, scope.depth() + 1)?;
        let from: Vec<String> = from.into_iter().map(|key| key.sql).collect();
        let join = self.joined_to(&inner, relation, &from)?;
        Ok((inner, join))
    }

    /// The keys of this scope, each cast to the type of the key that it is compared with.
    pub(in crate::sql) fn related_keys(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
    ) -> Result<Vec<Operand>, DbError> {
        let inner = self.rows(relation.row, scope.depth() + 1)?;
        let from = self.keys(scope, relation.from, "from")?;
        let to = self.compared_keys(&inner, relation)?;
        Ok(from
            .into_iter()
            .zip(to)
            .map(|(from, to)| self.as_type(from, &to.cast))
            .collect())
    }

    /// A scope over the view of a type.
    pub(in crate::sql) fn rows(
        &self,
        row: TypeIndex,
        depth: usize,
    ) -> Result<RowScope<'a>, DbError> {
        let name = self
            .model
            .source(row)
            .ok_or_else(|| DbError::UnknownSource(self.model.types[row].path.clone()))?;
        let source = self.catalog.known(name)?;
        Ok(RowScope {
            row,
            source,
            depth,
            once: false,
        })
    }
}
