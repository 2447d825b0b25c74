//! The left-hand side of a comparison: a column where the view has one, and a typed part of JSON otherwise.

use super::super::catalogue::{ColumnType, quote};
use super::super::filter::Column;
use super::super::{DbError, Family, select_form};
use super::Builder;
use super::cast::{Cast, Conversion};
use crate::schema::{FieldKind, Model, ScalarKind, TypeExpr, TypeIndex, TypeKind};

/// What the columns of a condition belong to.
pub(super) enum Scope {
    /// A row of the view.
    Row(TypeIndex),
    /// A JSON object: an embedded object or an element of an embedded list.
    Json { sql: String, object: TypeIndex },
}

/// An expression, the type as which values are compared with it, and what can be asked of it.
pub(super) struct Operand {
    pub(super) sql: String,
    pub(super) cast: String,
    /// The type of both sides when a value is not one of `cast`.
    pub(super) fallback: Option<&'static str>,
    pub(super) family: Family,
}

/// The declared type of a stored field.
#[derive(Clone, Copy)]
struct Stored {
    named: TypeIndex,
    list: bool,
}

impl Builder<'_> {
    /// The expression of a scalar, an enum, or a list of them.
    pub(super) fn operand(&self, scope: &Scope, column: &Column) -> Result<Operand, DbError> {
        let unknown = || self.unknown(column);
        let (first, rest) = column.0.split_first().ok_or_else(unknown)?;
        let object = match scope {
            Scope::Row(row) => *row,
            Scope::Json { object, .. } => *object,
        };
        let stored = stored(self.model, object, first);
        if !rest.is_empty() {
            let stored = stored.ok_or_else(unknown)?;
            if let Some(operand) = self.key_column(scope, first, rest, stored) {
                return Ok(operand);
            }
            let sql = self.json(scope, first).ok_or_else(unknown)?;
            let inner = Scope::Json { sql, object: stored.named };
            return self.operand(&inner, &Column(rest.to_vec())).map_err(|_| unknown());
        }
        if let Scope::Row(_) = scope
            && let Some(ty) = self.source.columns.get(first)
            && stored.is_none_or(|stored| self.fits(ty, stored))
        {
            return Ok(self.column(first, ty, stored));
        }
        let stored = stored.ok_or_else(unknown)?;
        let json = self.json(scope, first).ok_or_else(unknown)?;
        self.json_operand(&json, stored).ok_or_else(unknown)
    }

    /// The column `author_id` for `author.id`, as only a column has an index.
    fn key_column(&self, scope: &Scope, object: &str, rest: &[String], embedded: Stored) -> Option<Operand> {
        let (Scope::Row(_), [key], false) = (scope, rest, embedded.list) else { return None };
        if key != "id" {
            return None;
        }
        let name = format!("{object}_id");
        let (ty, id) = (self.source.columns.get(&name)?, stored(self.model, embedded.named, key)?);
        self.fits(ty, id).then(|| self.column(&name, ty, Some(id)))
    }

    /// The JSON of an embedded list, and the type of its elements.
    pub(super) fn embedded_list(&self, scope: &Scope, column: &Column) -> Result<(String, TypeIndex), DbError> {
        let unknown = || self.unknown(column);
        let (first, rest) = column.0.split_first().ok_or_else(unknown)?;
        let object = match scope {
            Scope::Row(row) => *row,
            Scope::Json { object, .. } => *object,
        };
        let stored = stored(self.model, object, first).ok_or_else(unknown)?;
        let sql = self.json(scope, first).ok_or_else(unknown)?;
        if rest.is_empty() {
            return if stored.list { Ok((sql, stored.named)) } else { Err(unknown()) };
        }
        let inner = Scope::Json { sql, object: stored.named };
        self.embedded_list(&inner, &Column(rest.to_vec())).map_err(|_| unknown())
    }

    fn unknown(&self, column: &Column) -> DbError {
        DbError::UnknownColumn { source_name: self.source.name.clone(), column: column.0.join(".") }
    }

    /// Whether a column answers the field, so that the same source is read and compared.
    fn fits(&self, ty: &ColumnType, stored: Stored) -> bool {
        if stored.list {
            return ty.sql.ends_with("[]");
        }
        match &self.model.types[stored.named].kind {
            TypeKind::Scalar { kind, .. } => select_form(&ty.name, Some(*kind)).is_some(),
            TypeKind::Enum(_) => select_form(&ty.name, None).is_some(),
            _ => false,
        }
    }

    /// A stored field as `jsonb`.
    fn json(&self, scope: &Scope, name: &str) -> Option<String> {
        match scope {
            Scope::Json { sql, .. } => Some(format!("({sql}->{})", quote_literal(name))),
            Scope::Row(_) => match self.source.columns.get(name) {
                Some(ty) if ty.name == "jsonb" => Some(format!("t.{}", quote(name))),
                Some(_) => Some(format!("to_jsonb(t.{})", quote(name))),
                None => {
                    let data = self.source.data()?;
                    let cast = if data.name == "json" { "::jsonb" } else { "" };
                    Some(format!("(t.data{cast}->{})", quote_literal(name)))
                }
            },
        }
    }

    /// A column compares as its own type where it can.
    fn column(&self, name: &str, ty: &ColumnType, stored: Option<Stored>) -> Operand {
        let declared = stored.map(|stored| &self.model.types[stored.named].kind);
        let is_list = stored.map_or_else(|| ty.sql.ends_with("[]"), |stored| stored.list);
        let family = match declared {
            _ if is_list => Family::List,
            Some(kind) => family(kind),
            None => column_family(&ty.name),
        };
        let Cast { column, value, fallback } =
            if is_list { Cast::list(ty, declared) } else { Cast::single(ty, declared) };
        let sql = format!("t.{}", quote(name));
        let sql = match column {
            Conversion::None => sql,
            Conversion::To(ty) => format!("{sql}::{ty}"),
            Conversion::Instant => format!("({sql} AT TIME ZONE 'UTC')"),
            Conversion::Json => format!("to_jsonb({sql})"),
        };
        Operand { sql, cast: value, fallback, family }
    }

    /// A part of JSON compares as the type of its scalar.
    fn json_operand(&self, json: &str, stored: Stored) -> Option<Operand> {
        let kind = &self.model.types[stored.named].kind;
        let cast = json_cast(kind)?;
        if stored.list {
            let elements = format!(
                "CASE WHEN jsonb_typeof({json}) = 'array' THEN ARRAY(SELECT (x #>> '{{}}')::{cast} FROM jsonb_array_elements({json}) AS x) END"
            );
            return Some(Operand {
                sql: format!("({elements})"),
                cast: cast.to_owned(),
                fallback: None,
                family: Family::List,
            });
        }
        let family = family(kind);
        let sql = match cast {
            "jsonb" => json.to_owned(),
            "text" => format!("({json} #>> '{{}}')"),
            cast => format!("({json} #>> '{{}}')::{cast}"),
        };
        Some(Operand { sql, cast: cast.to_owned(), fallback: None, family })
    }
}

/// A stored field of an object type, by its stored name.
fn stored(model: &Model, object: TypeIndex, name: &str) -> Option<Stored> {
    let object = model.possible_types(object).first().and_then(|index| model.object(*index))?;
    let matches = |kind: &FieldKind| matches!(kind, FieldKind::Stored { stored, .. } if *stored == name);
    let field = object.fields.values().find(|field| matches(&field.kind))?;
    let list = matches!(field.ty.unwrapped(), TypeExpr::List(_));
    Some(Stored { named: field.ty.named(), list })
}

/// Which operators a scalar or enum has.
pub(crate) fn family(kind: &TypeKind) -> Family {
    use ScalarKind as K;
    let TypeKind::Scalar { kind, .. } = kind else { return Family::Plain };
    match kind {
        K::String | K::Id => Family::Text,
        K::Int | K::Float | K::BigInt | K::Decimal | K::Date | K::Time | K::DateTime => Family::Ordered,
        K::Boolean => Family::Boolean,
        K::Uuid => Family::Plain,
        K::Custom(custom) => Family::of_sql_type(custom.sql_type),
        K::Json => Family::Json,
    }
}

/// Which operators a column has that is no field.
fn column_family(type_name: &str) -> Family {
    match type_name {
        "text" | "varchar" | "bpchar" | "name" | "citext" => Family::Text,
        "json" | "jsonb" => Family::Json,
        "bool" => Family::Boolean,
        _ => Family::Ordered,
    }
}

/// The SQL type as which a scalar in JSON is compared; `None` for objects.
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

/// Quotes a name of the schema as a text literal.
fn quote_literal(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}
