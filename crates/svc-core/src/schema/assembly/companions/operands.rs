//! The input objects for operators: `InetRange`, `SearchVectorOrderBy`.

use async_graphql::{Name, Value};
use chrono::NaiveDate;

use super::inputs::{define, described, reserve};
use super::{Companions, expr};
use crate::schema::model::{ArgDef, DefaultValue, InputRole, TypeDef, TypeExpr, TypeIndex};
use crate::schema::registration::{Entry, Registry};
use crate::schema::{Family, Input, OperatorDef, SEARCH, ScalarKind};

/// The scalar `Date`, if the program uses a range of dates, which has an operator for a date.
pub(super) fn date(registry: &mut Registry) -> Option<TypeIndex> {
    let is_range = |entry: &Entry| match entry {
        Entry::Scalar(meta) => {
            matches!(meta.kind, ScalarKind::Custom(custom) if Family::of_sql_type(custom.sql_type) == Family::DateRange)
        }
        _ => false,
    };

    // The scalar would otherwise appear in schemas that use no ranges of dates.
    let any = registry.entries.iter().any(is_range);
    any.then(|| expr(&<NaiveDate as Input>::type_ref(registry)).named())
}

impl Companions<'_> {
    /// The name of an operator in the schema.
    pub(super) fn operator_name(&self, def: &OperatorDef) -> String {
        // Initials keep their usual spelling.
        self.naming.apply(def.name).replace("Ipv", "IPv")
    }

    /// `InetRange`: two values, both included.
    pub(super) fn range_type(&mut self, types: &mut Vec<TypeDef>, leaf: TypeIndex) -> TypeIndex {
        let value = || TypeExpr::NonNull(Box::new(TypeExpr::Named(leaf)));
        let fields = vec![
            described("from", "The first.", value()),
            described("to", "The last.", value()),
        ];
        let (name, description) = (
            format!("{}Range", types[leaf].name),
            "Two values, both included.",
        );

        self.operand_type(types, name, description, fields)
    }

    /// `SearchVectorOrderBy`: a query, and whether the best matches come first.
    pub(super) fn rank_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        leaf: TypeIndex,
        direction: TypeIndex,
    ) -> TypeIndex {
        let mut fields: Vec<ArgDef> = SEARCH.iter().map(|def| self.query(def)).collect();
        let first = described(
            "direction",
            "Whether the best matches come first.",
            TypeExpr::Named(direction),
        );

        // A document without a rank is null, which would come first with a plain `DESC`.
        let literal = "DESC_NULLS_LAST";
        let default = DefaultValue {
            literal: literal.to_owned(),
            value: Value::Enum(Name::new(literal)),
        };

        fields.push(ArgDef {
            default: Some(default),
            ..first
        });
        let (name, description) = (
            format!("{}OrderBy", types[leaf].name),
            "An order by rank: exactly one query.",
        );

        self.operand_type(types, name, description, fields)
    }

    fn query(&self, def: &OperatorDef) -> ArgDef {
        let ty = TypeExpr::Named(self.common.string);
        ArgDef {
            rust: def.name.to_owned(),
            ..described(&self.operator_name(def), def.description, ty)
        }
    }

    fn operand_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        name: String,
        description: &str,
        fields: Vec<ArgDef>,
    ) -> TypeIndex {
        if let Some(known) = self.operands.get(&name) {
            return *known;
        }

        let index = reserve(types, &name);
        define(
            types,
            index,
            InputRole::Declared,
            description.to_owned(),
            fields,
        );

        self.operands.insert(name, index);

        index
    }
}
