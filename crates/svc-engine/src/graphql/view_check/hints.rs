//! Columns that may contain values that their fields cannot represent.

use super::{Finding, Severity};
use svc_core::schema::{
    EnumValue, FieldDef, FieldKind, FieldMeta, Model, TypeDef, TypeIndex, TypeKind,
};
use svc_postgres::{Catalog, ColumnFacts, Source};

/// A field that is read from a column.
struct Answered<'m> {
    def: &'m TypeDef,
    field: &'m FieldDef,
    source: &'m Source,
    column: &'static str,
    /// Whether the program guarantees that it is never null.
    is_vouched: bool,
}

/// Enum labels that differ between the program and the database.
pub(super) fn labels(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let Some(facts) = catalog.facts() else {
        return Vec::new();
    };

    let rows = (0..model.types.len()).flat_map(|row| answered(model, catalog, row));
    let labels = rows.flat_map(
        |answered| match &model.types[answered.field.ty.named()].kind {
            TypeKind::Enum(def) if !answered.field.ty.is_list() => {
                answered.labels(&def.values, facts)
            }
            _ => Vec::new(),
        },
    );

    labels.collect()
}

/// Nullable columns of fields that are never null.
pub(super) fn nulls(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let Some(facts) = catalog.facts() else {
        return Vec::new();
    };
    let rows = (0..model.types.len()).flat_map(|row| answered(model, catalog, row));
    rows.filter_map(|answered| answered.null(facts)).collect()
}

/// The fields of a type that are read from columns of its view.
fn answered<'m>(model: &'m Model, catalog: &'m Catalog, row: TypeIndex) -> Vec<Answered<'m>> {
    let source = model.source(row).and_then(|name| catalog.source(name));
    let (Some(source), Some(object)) = (source, model.object(row)) else {
        return Vec::new();
    };

    let declared: &[FieldMeta] = object.declared.map_or(&[], |meta| meta.fields);
    let fields = object.fields.values().flat_map(|field| {
        let (index, columns) = match field.kind {
            FieldKind::Stored { index, stored } => (index, vec![stored]),
            FieldKind::Relation(relation) if !relation.is_many() => {
                (relation.index, relation.from.to_vec())
            }
            _ => (0, Vec::new()),
        };

        let is_vouched = declared.get(index).is_some_and(|meta| meta.non_null);
        let known = columns
            .into_iter()
            .filter(|column| source.columns.contains_key(*column));

        known.map(move |column| Answered {
            def: &model.types[row],
            field,
            source,
            column,
            is_vouched,
        })
    });

    fields.collect()
}

impl Answered<'_> {
    fn hint(&self, cause: String, remedy: String) -> Finding {
        let field = format!("{}.{}", self.def.name, self.field.name);
        Finding {
            severity: Severity::Hint,
            source: self.source.name.clone(),
            field,
            cause,
            remedy,
        }
    }

    fn null(&self, facts: &ColumnFacts) -> Option<Finding> {
        if self.is_vouched || !self.field.ty.is_non_null() {
            return None;
        }
        let (table, column) = facts.nullable(&self.source.name, self.column)?;
        let cause =
            format!("the column `{column}` of `{table}` may be null, and the field is never");
        let remedy = "make the field an `Option`, the column NOT NULL, or vouch for it with `#[svc(non_null)]`";
        Some(self.hint(cause, remedy.to_owned()))
    }

    fn labels(&self, values: &[EnumValue], facts: &ColumnFacts) -> Vec<Finding> {
        let column = self.source.columns.get(self.column);
        let Some(labels) = column.and_then(|column| facts.labels(column.base)) else {
            return Vec::new();
        };

        let enumeration = column.map(|column| column.sql.as_str()).unwrap_or_default();
        let unknown = labels
            .iter()
            .filter(|label| values.iter().all(|value| value.stored != **label));
        let unknown = unknown.map(|label| {
            let cause =
                format!("`{enumeration}` has the label `{label}`, which no value stands for");
            self.hint(
                cause,
                format!(
                    "add it to the enum of the program: `#[svc(stored = \"{label}\")]` on a variant"
                ),
            )
        });

        let lacking = values
            .iter()
            .filter(|value| labels.iter().all(|label| label != value.stored));
        let lacking = lacking.map(|value| {
            let cause = format!(
                "`{enumeration}` has no label `{}`, which {} stands for",
                value.stored, value.name
            );
            self.hint(
                cause,
                format!(
                    "ALTER TYPE {enumeration} ADD VALUE '{}', or remove the variant",
                    value.stored
                ),
            )
        });

        unknown.chain(lacking).collect()
    }
}
