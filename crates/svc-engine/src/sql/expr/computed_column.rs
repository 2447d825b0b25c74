//! Row functions in statements: their row argument and the binding of their other arguments.

use super::operand::Operand;
use super::scope::{RowScope, Scope, Stored};
use crate::sql::{Builder, ComputedColumnCall};
use svc_core::schema::FieldKind;
use svc_postgres::{ColumnType, DbError, quote_literal};

impl<'a> Builder<'a> {
    /// The result of a row function for the row of a scope. A value that is not a row itself, such
    /// as an embedded object, is resolved to its row by its `id`.
    pub(in crate::sql) fn called(
        &mut self,
        scope: &Scope<'a>,
        call: &ComputedColumnCall,
        form: fn(&Self, String, &ColumnType, &ComputedColumnCall) -> Operand,
    ) -> Result<Operand, DbError> {
        let Scope::Row(rows) = scope else {
            return self.called_behind(scope, call, form);
        };

        // Types over the same view share the composite type of its rows, so such a row is passed on
        // without a second look-up.
        if self.model.source(rows.row) != self.model.source(call.row) {
            return self.called_behind(scope, call, form);
        }

        let function = self.catalog.row_function(&call.spec)?;
        let stored = Stored {
            named: call.named,
            list: call.list,
            non_null: false,
        };

        if !self.fits(&function.result, stored) {
            let (name, ty, declared) = (
                &call.spec.name,
                &function.result.sql,
                &self.model.types[call.named].name,
            );
            return Err(DbError::UnknownFunction(format!(
                "`{name}` gives {ty}, which is no {declared}"
            )));
        }

        // The row comes first: its masks may bind values, and the probe counts the values that
        // precede the arguments.
        let row = self.whole_row(rows)?;

        // The arguments in a policy come from the program, so an error in them is not the client's.
        if !self.is_ruling {
            self.probes
                .extend(function.probe_of_row(&call.args, self.params.len()));
        }

        let sql = function.of_row(&row, &call.args, &mut self.params);

        Ok(form(self, sql, &function.result, call))
    }

    fn called_behind(
        &mut self,
        scope: &Scope<'a>,
        call: &ComputedColumnCall,
        form: fn(&Self, String, &ColumnType, &ComputedColumnCall) -> Operand,
    ) -> Result<Operand, DbError> {
        self.behind(scope, &call.to_row(), |builder, scope| {
            builder.called(scope, call, form)
        })
    }

    /// The value for a comparison.
    pub(super) fn typed_call(
        &self,
        sql: String,
        ty: &ColumnType,
        call: &ComputedColumnCall,
    ) -> Operand {
        self.typed(
            sql,
            ty,
            Some(Stored {
                named: call.named,
                list: call.list,
                non_null: false,
            }),
        )
    }

    /// The value for the select list.
    pub(in crate::sql) fn plain_call(
        &self,
        sql: String,
        ty: &ColumnType,
        call: &ComputedColumnCall,
    ) -> Operand {
        Operand {
            sql,
            ..self.typed(
                String::new(),
                ty,
                Some(Stored {
                    named: call.named,
                    list: call.list,
                    non_null: false,
                }),
            )
        }
    }

    /// A row of the view, with masked fields set to null. It is built column by column, because the
    /// row of a query may have more columns than the view.
    fn whole_row(&mut self, rows: &RowScope<'a>) -> Result<String, DbError> {
        let scope = Scope::Row(rows.clone());
        let masked = self.masked_fields(rows);
        let mut values = Vec::with_capacity(rows.source.in_order.len());

        for name in &rows.source.in_order {
            let column = rows.column(name);
            values.push(
                match rows
                    .source
                    .data()
                    .filter(|_| name == "data" && !masked.is_empty())
                {
                    // The document repeats the masked fields under their keys.
                    Some(data) => self.masked_document(&scope, &masked, &column, &data.sql)?,
                    None if masked.contains(&name.as_str()) => self.masked(&scope, name, column)?,
                    None => column,
                },
            );
        }

        Ok(format!(
            "ROW({})::{}",
            values.join(", "),
            rows.source.quoted
        ))
    }

    fn masked_fields(&self, rows: &RowScope<'a>) -> Vec<&'static str> {
        let types = self
            .model
            .possible_types(rows.row)
            .iter()
            .filter_map(|index| self.model.object(*index));

        let stored =
            types
                .flat_map(|object| object.fields.values())
                .filter_map(|field| match field.kind {
                    FieldKind::Stored { stored, .. } => Some(stored),
                    _ => None,
                });

        stored
            .filter(|stored| self.mask(rows, stored).is_some())
            .collect()
    }

    /// A document without the keys of masked fields.
    fn masked_document(
        &mut self,
        scope: &Scope<'a>,
        masked: &[&'static str],
        data: &str,
        ty: &str,
    ) -> Result<String, DbError> {
        let keys = masked.iter().map(|stored| {
            let shown = self.masked(scope, stored, "true".to_owned())?;
            Ok(format!(
                "CASE WHEN {shown} THEN NULL ELSE {} END",
                quote_literal(stored)
            ))
        });

        // `jsonb - text[]` ignores nulls in the list, so a field that is shown keeps its key.
        let keys = keys.collect::<Result<Vec<_>, DbError>>()?;
        Ok(format!(
            "({data}::jsonb - ARRAY[{}]::text[])::{ty}",
            keys.join(", ")
        ))
    }
}
