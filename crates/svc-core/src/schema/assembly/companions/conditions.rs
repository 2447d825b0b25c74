//! `UserWhere`, `CommentListWhere` and `UUIDFilter`: conditions on rows, on embedded lists and on
//! single values.

use super::inputs::{define, described, list_of, reserve};
use super::{Companions, RowField, row_fields};
use crate::schema::model::{ArgDef, ArgRole, InputRole, TypeDef, TypeExpr, TypeIndex, TypeKind};
use crate::schema::registration::Derived;
use crate::schema::{Family, Operand, family};

impl Companions<'_> {
    /// `UserWhere`; `None` if the type has nothing to filter by.
    pub(super) fn where_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.wheres.get(&row) {
            return *known;
        }

        if row_fields(types, row).is_empty() {
            // A union whose rows share no field.
            self.wheres.insert(row, None);
            return None;
        }

        let name = format!("{}Where", types[row].name);
        let index = self.place(types, Derived::Where, row, &name);

        // Registered before its fields, because types may embed each other.
        self.wheres.insert(row, Some(index));
        let parts = row_fields(types, row);
        let mut fields: Vec<ArgDef> = parts
            .iter()
            .filter_map(|part| self.condition(types, part))
            .collect();
        self.key_conditions(types, row, &mut fields);
        let itself = TypeExpr::Named(index);
        fields.push(described("AND", "All of these.", list_of(index)));
        fields.push(described("OR", "Any of these.", list_of(index)));
        fields.push(described("NOT", "Not this.", itself));
        let description = format!("Conditions on {}; all must hold.", types[row].name);
        define(types, index, InputRole::Conditions, description, fields);

        Some(index)
    }

    /// The condition on one field.
    fn condition(&mut self, types: &mut Vec<TypeDef>, part: &RowField) -> Option<ArgDef> {
        let ty = match (&types[part.named].kind, part.list) {
            _ if part.is_aggregate => self.aggregate_where_type(types, part.named),
            (TypeKind::Abstract(_), _) if !part.is_relation => return None,
            (TypeKind::Object(_) | TypeKind::Abstract(_), false) => {
                self.where_type(types, part.named)?
            }
            (TypeKind::Object(_) | TypeKind::Abstract(_), true) => {
                self.list_where_type(types, part.named)?
            }
            _ if part.function.is_some() => self.computed_filter(types, part),
            (_, true) => self.filter_type(types, part.named, Family::List),
            (kind, false) => {
                let family = family(kind);
                self.filter_type(types, part.named, family)
            }
        };

        Some(part.field(ty))
    }

    /// `CommentListWhere`: conditions on the elements of an embedded list.
    fn list_where_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        element: TypeIndex,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.lists.get(&element) {
            return Some(*known);
        }

        if row_fields(types, element).is_empty() {
            return None;
        }

        let index = reserve(types, &format!("{}ListWhere", types[element].name));

        // Registered before its fields, because types may embed each other.
        self.lists.insert(element, index);
        let inner = TypeExpr::Named(self.where_type(types, element)?);
        let fields = vec![
            described("some", "At least one element matches.", inner.clone()),
            described("every", "All elements match.", inner.clone()),
            described("none", "No element matches.", inner),
        ];

        let description = format!(
            "Conditions on a list of {}; all must hold.",
            types[element].name
        );
        define(types, index, InputRole::Quantifiers, description, fields);

        Some(index)
    }

    /// `UUIDFilter` and its siblings, for one scalar or enum, or a list of it.
    pub(super) fn filter_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        leaf: TypeIndex,
        family: Family,
    ) -> TypeIndex {
        if let Some(known) = self.filters.get(&(leaf, family)) {
            return *known;
        }

        let (suffix, what) = if family == Family::List {
            ("ListFilter", "a list of ")
        } else {
            ("Filter", "a ")
        };

        let index = reserve(types, &format!("{}{suffix}", types[leaf].name));
        let operators = family.operators().into_iter();
        let regular_expressions = self.regular_expressions;
        let allowed =
            operators.filter(|def| regular_expressions || !def.operator.takes_expression());
        let fields = allowed.map(|def| {
            let ty = match def.operand {
                Operand::Same | Operand::Json => TypeExpr::Named(leaf),
                Operand::List => list_of(leaf),
                Operand::Boolean => TypeExpr::Named(self.common.boolean),
                Operand::Int => TypeExpr::Named(self.common.int),
                Operand::String => TypeExpr::Named(self.common.string),
                Operand::Strings => list_of(self.common.string),
                Operand::Range => TypeExpr::Named(self.range_type(types, leaf)),
                Operand::Date => TypeExpr::Named(self.common.date.unwrap_or(self.common.string)),
            };

            let name = self.operator_name(def);
            let role = ArgRole::Comparison(def.operator.weight());
            ArgDef {
                rust: def.name.to_owned(),
                role,
                ..described(&name, def.description, ty)
            }
        });

        let fields = fields.collect();
        let description = format!("Conditions on {what}{}; all must hold.", types[leaf].name);
        define(types, index, InputRole::Operators, description, fields);
        self.filters.insert((leaf, family), index);

        index
    }
}
