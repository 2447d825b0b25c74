//! The left-hand side of a comparison: a column if the view has one, and a typed part of JSON
//! otherwise.

use super::cast::{Cast, Conversion, is_text_list};
use super::scope::{Named, RowScope, Scope, Stored, named};
use crate::sql::ir::Column;
use crate::sql::{Builder, select_form};
use svc_core::schema::{Family, Relation, ScalarKind, TypeKind, family};
use svc_postgres::{ColumnType, DbError, Oid, quote_literal};

/// An expression, the cast for values compared with it, and its operators.
#[derive(Clone)]
pub(in crate::sql) struct Operand {
    pub(in crate::sql) sql: String,
    pub(in crate::sql) cast: String,
    /// The type of both sides if a value is not a valid `cast`.
    pub(in crate::sql) fallback: Option<&'static str>,
    pub(in crate::sql) family: Family,
    /// The text that a careful cast converts.
    pub(in crate::sql) text: Option<String>,
    /// The type of a bare column, which determines its sort order.
    pub(in crate::sql) bare: Option<Oid>,
    /// Whether its collation is nondeterministic and does not support patterns, so that patterns
    /// need an explicit collation.
    pub(in crate::sql) is_nondeterministic: bool,
}

impl<'a> Builder<'a> {
    /// The expression of a scalar, an enum, or a list of them; null if a mask hides the value.
    pub(in crate::sql) fn operand(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
    ) -> Result<Operand, DbError> {
        if let ([_], Some(call)) = (column.path.as_slice(), &column.call) {
            return self.called(scope, call, Self::typed_call);
        }

        let mut operand = self.stored_operand(scope, column)?;
        if let (Scope::Row(rows), Some(first)) = (scope, column.path.first())
            && self.mask(rows, first).is_some()
        {
            operand.sql = self.masked(scope, first, operand.sql)?;

            // The text decides whether the value is reported as unreadable, which would reveal that
            // a masked value exists.
            operand.text = operand
                .text
                .map(|text| self.masked(scope, first, text))
                .transpose()?;
        }

        Ok(operand)
    }

    fn stored_operand(&mut self, scope: &Scope<'a>, column: &Column) -> Result<Operand, DbError> {
        let (model, name) = (self.model, self.source_name(scope));
        let unknown = || DbError::UnknownColumn {
            source_name: name.clone(),
            column: column.path.join("."),
        };

        let (first, rest) = column.path.split_first().ok_or_else(unknown)?;
        let stored = match named(model, scope.object(), first) {
            Some(Named::Relation(relation)) if relation.is_many() => {
                return Err(DbError::RelationToMany(first.clone()));
            }
            Some(Named::Relation(relation)) if rest.is_empty() => {
                return self.relation_key(scope, relation, first);
            }
            Some(Named::Relation(relation)) => {
                let column = column.behind(rest);
                return self.behind(scope, relation, |builder, scope| {
                    builder.operand(scope, &column)
                });
            }
            Some(Named::Stored(stored)) => Some(stored),
            None => None,
        };

        if !rest.is_empty() {
            let stored = stored.ok_or_else(unknown)?;
            if column.call.is_none()
                && let Some(operand) = self.key_column(scope, first, rest, stored)
            {
                return Ok(operand);
            }

            let sql = self.json(scope, first).ok_or_else(unknown)?;
            let inner = Scope::Json {
                sql,
                object: stored.named,
                depth: scope.depth(),
            };

            // The error names the whole path as the caller wrote it, and not the part inside of the
            // document.
            return self
                .operand(&inner, &column.behind(rest))
                .map(|operand| self.in_document(scope, first, operand))
                .map_err(|error| match error {
                    error @ DbError::UnknownFunction(_) => error,
                    error if error.is_of_policy() => error,
                    _ => unknown(),
                });
        }

        self.value(scope, first, stored).ok_or_else(unknown)
    }

    /// A column if it fits the field, or else a key of the JSON in the declared type.
    pub(in crate::sql) fn value(
        &self,
        scope: &Scope<'a>,
        name: &str,
        stored: Option<Stored>,
    ) -> Option<Operand> {
        if let Scope::Row(row) = scope
            && let Some(ty) = row.source.columns.get(name)
            && stored.is_none_or(|stored| self.fits(ty, stored))
        {
            return Some(self.column(row, name, ty, stored));
        }

        let operand = self.json_operand(&self.json(scope, name)?, stored?)?;
        Some(self.in_document(scope, name, operand))
    }

    /// Uses the column `author_id` for `author.id`, because only a column has an index.
    fn key_column(
        &self,
        scope: &Scope<'a>,
        object: &str,
        rest: &[String],
        embedded: Stored,
    ) -> Option<Operand> {
        let (Scope::Row(row), [key], false) = (scope, rest, embedded.list) else {
            return None;
        };
        if key != "id" {
            return None;
        }

        let name = format!("{object}_id");
        let Some(Named::Stored(id)) = named(self.model, embedded.named, key) else {
            return None;
        };

        let ty = row.source.columns.get(&name)?;

        self.fits(ty, id)
            .then(|| self.column(row, &name, ty, Some(id)))
    }

    /// A value from the row that a to-one relation leads to.
    pub(in crate::sql) fn behind(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        value: impl FnOnce(&mut Self, &Scope<'a>) -> Result<Operand, DbError>,
    ) -> Result<Operand, DbError> {
        let (rows, join) = self.related(scope, relation)?;
        let (from, alias) = (rows.source.quoted.clone(), rows.alias());
        let permitted = self
            .permitted(&rows)?
            .map(|rule| format!(" AND {rule}"))
            .unwrap_or_default();
        let operand = value(self, &Scope::Row(rows))?;

        // A subquery with two rows fails the statement, and no constraint of a view guarantees that
        // the key is unique.
        let first = |sql: &str| {
            format!("(SELECT {sql} FROM {from} AS {alias} WHERE {join}{permitted} LIMIT 1)")
        };

        Ok(Operand {
            sql: first(&operand.sql),
            text: operand.text.as_deref().map(first),
            ..operand
        })
    }

    /// A key at one end of a relation: a field, a column, or else a key of the JSON.
    pub(in crate::sql) fn key(
        &mut self,
        scope: &Scope<'a>,
        name: &str,
        end: &'static str,
    ) -> Result<Operand, DbError> {
        match self.operand(scope, &Column::of(name)) {
            // A policy that cannot decide has to deny; only for other errors may the JSON supply
            // the key.
            Err(error) if error.is_of_policy() => return Err(error),
            Err(_) => {}
            found => return found,
        }

        let json = self
            .json(scope, name)
            .ok_or_else(|| self.no_key(scope, name, end))?;
        let json = self.masked(scope, name, json)?;
        let sql = format!("({json} #>> '{{}}')");

        let key = Operand {
            sql,
            cast: "text".to_owned(),
            fallback: None,
            family: Family::Text,
            text: None,
            bare: None,
            is_nondeterministic: false,
        };

        let mut key = self.in_document(scope, name, key);
        if let Some(text) = key.text.take() {
            key.text = Some(self.masked(scope, name, text)?);
        }

        Ok(key)
    }

    /// Whether a column fits a field, so that reads and comparisons use the same source.
    pub(super) fn fits(&self, ty: &ColumnType, stored: Stored) -> bool {
        if stored.list {
            return ty.is_list();
        }
        match &self.model.types[stored.named].kind {
            TypeKind::Scalar { kind, .. } => select_form(&ty.name, Some(*kind)).is_some(),
            TypeKind::Enum(_) => select_form(&ty.name, None).is_some(),
            _ => false,
        }
    }

    /// A stored field, as `jsonb`.
    pub(in crate::sql) fn json(&self, scope: &Scope<'_>, name: &str) -> Option<String> {
        match scope {
            Scope::Json { sql, .. } => Some(format!("({sql}->{})", quote_literal(name))),
            Scope::Row(row) => match row.source.columns.get(name) {
                Some(ty) if ty.name == "jsonb" => Some(row.column(name)),
                // `to_jsonb` fails for a `json` that is not valid in `jsonb`.
                Some(ty) if ty.name == "json" && self.careful => {
                    Some(self.as_jsonb(&row.column(name)))
                }
                Some(_) => Some(format!("to_jsonb({})", row.column(name))),
                None => Some(format!("({}->{})", self.data(row)?, quote_literal(name))),
            },
        }
    }

    /// The operand of a column, which compares as its own type if possible.
    pub(super) fn column(
        &self,
        row: &RowScope<'_>,
        name: &str,
        ty: &ColumnType,
        stored: Option<Stored>,
    ) -> Operand {
        self.typed(row.column(name), ty, stored)
    }

    /// The operand of a value with a database type.
    pub(super) fn typed(&self, sql: String, ty: &ColumnType, stored: Option<Stored>) -> Operand {
        let declared = stored.map(|stored| &self.model.types[stored.named].kind);
        let is_list = stored.map_or_else(|| ty.is_list(), |stored| stored.list);
        let family = match declared {
            _ if is_list => Family::List,
            Some(kind) => family(kind),
            None => column_family(&ty.name),
        };

        let Cast {
            column,
            value,
            fallback,
        } = if is_list {
            Cast::list(ty, declared)
        } else {
            Cast::single(ty, declared)
        };

        let mut text = None;
        let bare = (column == Conversion::None).then_some(ty.base);
        let sql = match column {
            Conversion::None => sql,
            Conversion::To(to) if is_text(&ty.name) && self.careful => {
                text = Some(sql.clone());
                self.cast_text(&sql, &to)
            }
            Conversion::To(to) if to == "jsonb" && ty.name == "json" => {
                text = self.careful.then(|| format!("{sql}::text"));
                self.as_jsonb(&sql)
            }
            Conversion::To(to) if is_text_list(ty) && self.careful => self.cast_texts(&sql, &to),
            Conversion::To(ty) => format!("{sql}::{ty}"),
            // Without a time zone in the SQL, the setting of the session would decide which instant
            // it is.
            Conversion::Instant => format!("({sql} AT TIME ZONE 'UTC')"),
            Conversion::Json => format!("to_jsonb({sql})"),
        };

        let is_nondeterministic = !ty.is_deterministic && is_text(&ty.name);

        Operand {
            sql,
            cast: value,
            fallback,
            family,
            text,
            bare,
            is_nondeterministic,
        }
    }

    /// The operand of a part of JSON, which compares as the type of its scalar.
    fn json_operand(&self, json: &str, stored: Stored) -> Option<Operand> {
        let kind = &self.model.types[stored.named].kind;
        let cast = json_cast(kind)?;
        if stored.list {
            // The text of a JSON string would be a different JSON value.
            let element = match cast {
                "jsonb" => "NULLIF(x.v, 'null')".to_owned(),
                _ => self.cast_text("(x.v #>> '{}')", cast),
            };

            // `jsonb_array_elements` fails for any value but a list, and `CASE` is evaluated before
            // it.
            let elements = format!(
                "CASE WHEN jsonb_typeof({json}) = 'array' THEN ARRAY(SELECT {element} FROM jsonb_array_elements({json}) AS x(v)) END"
            );

            return Some(Operand {
                sql: format!("({elements})"),
                cast: cast.to_owned(),
                fallback: None,
                family: Family::List,
                text: None,
                bare: None,
                is_nondeterministic: false,
            });
        }

        let family = family(kind);
        let text = format!("({json} #>> '{{}}')");
        let sql = match cast {
            "jsonb" => json.to_owned(),
            "text" => text.clone(),
            cast => self.cast_text(&text, cast),
        };

        let text = (self.careful && !matches!(cast, "jsonb" | "text")).then_some(text);
        let cast = cast.to_owned();

        Some(Operand {
            sql,
            cast,
            fallback: None,
            family,
            text,
            bare: None,
            is_nondeterministic: false,
        })
    }
}

fn is_text(type_name: &str) -> bool {
    matches!(type_name, "text" | "varchar" | "bpchar" | "name" | "citext")
}

/// The operators of a column without a field.
fn column_family(type_name: &str) -> Family {
    match type_name {
        "text" | "varchar" | "bpchar" | "name" | "citext" => Family::Text,
        "json" | "jsonb" => Family::Json,
        "bool" => Family::Boolean,
        _ => Family::Ordered,
    }
}

/// The SQL type for comparisons of a scalar in JSON; `None` for objects.
pub(super) fn json_cast(kind: &TypeKind) -> Option<&'static str> {
    use ScalarKind as K;

    Some(match kind {
        TypeKind::Enum(_) => "text",
        TypeKind::Scalar { kind, .. } => match kind {
            K::Int | K::Float | K::BigInt | K::Decimal => "numeric",
            K::Boolean => "boolean",
            K::Uuid => "uuid",
            K::DateTime => "timestamptz",
            K::Date => "date",
            K::Time => "time",
            K::Json => "jsonb",
            K::String | K::Id => "text",
            // `json` cannot be compared.
            K::Custom(custom) if custom.sql_type == "json" => "jsonb",
            K::Custom(custom) => custom.sql_type,
        },
        _ => return None,
    })
}
