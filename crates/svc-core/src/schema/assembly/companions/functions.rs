//! The input objects for fields that row functions compute: `PlaceDistanceArgs`,
//! `PlaceDistanceFilter`, `PlaceDistanceOrderBy`.

use async_graphql::{Name, Value};

use super::inputs::{define, described, reserve};
use super::{Companions, RowField};
use crate::schema::model::{
    ArgDef, ArgRole, DefaultValue, FieldDef, FieldKind, InputRole, TypeDef, TypeExpr, TypeIndex,
    TypeKind,
};
use crate::schema::naming::pascal_case;
use crate::schema::{Family, ROW_FUNCTION_COST, family};

/// A row function, independent of the type that contains its field.
pub(super) struct RowFunction {
    /// The prefix of the names of its types, such as `PlaceDistance`.
    prefix: String,
    /// `Place.distance`, for descriptions.
    coordinate: String,
    /// The number of comparisons that it counts as.
    pub(super) cost: u64,
    args: Vec<ArgDef>,
}

impl RowFunction {
    /// The row function of a field, if there is one.
    pub(super) fn of(types: &[TypeDef], row: TypeIndex, field: &FieldDef) -> Option<Self> {
        let FieldKind::Function(_, cost) = field.kind else {
            return None;
        };

        Some(Self {
            prefix: format!("{}{}", types[row].name, pascal_case(field.rust)),
            coordinate: format!("{}.{}", types[row].name, field.name),
            cost: cost.unwrap_or(ROW_FUNCTION_COST).into(),
            args: field.args.iter().map(ArgDef::again).collect(),
        })
    }

    fn args(&self) -> Vec<ArgDef> {
        self.args.iter().map(ArgDef::again).collect()
    }
}

impl ArgDef {
    /// A copy of the argument for another place.
    pub(super) fn again(&self) -> Self {
        // `fill_defaults` coerces each copy, since it runs after all types are complete.
        let default = self
            .default
            .as_ref()
            .map(|default| DefaultValue::unchecked(&default.literal));
        Self {
            name: self.name.clone(),
            rust: self.rust.clone(),
            description: self.description.clone(),
            ty: self.ty.clone(),
            default,
            rules: self.rules.clone(),
            ..*self
        }
    }
}

impl Companions<'_> {
    /// The conditions on a computed value: the conditions of its type, and the arguments if the
    /// function has any.
    pub(super) fn computed_filter(
        &mut self,
        types: &mut Vec<TypeDef>,
        part: &RowField,
    ) -> TypeIndex {
        let family = if part.list {
            Family::List
        } else {
            family(&types[part.named].kind)
        };

        let plain = self.filter_type(types, part.named, family);
        let Some(function) = part
            .function
            .as_ref()
            .filter(|function| !function.args.is_empty())
        else {
            return plain;
        };

        // The operators are copied, because `args` must not appear in the filters of other fields.
        let mut fields = vec![self.arguments(types, function)];
        if let TypeKind::Input(filter) = &types[plain].kind {
            fields.extend(filter.fields.values().map(ArgDef::again));
        }

        let index = reserve(types, &format!("{}Filter", function.prefix));
        let description = format!(
            "Conditions on `{}` with these arguments; all must hold.",
            function.coordinate
        );
        define(types, index, InputRole::Operators, description, fields);

        index
    }

    /// The order by a computed value: a direction, and the arguments if the function has any.
    pub(super) fn computed_order(
        &mut self,
        types: &mut Vec<TypeDef>,
        part: &RowField,
        direction: TypeIndex,
    ) -> TypeIndex {
        let Some(function) = part
            .function
            .as_ref()
            .filter(|function| !function.args.is_empty())
        else {
            return direction;
        };

        let literal = "ASC".to_owned();
        let default = Some(DefaultValue {
            value: Value::Enum(Name::new(&literal)),
            literal,
        });
        let ty = TypeExpr::NonNull(Box::new(TypeExpr::Named(direction)));
        let first = ArgDef {
            default,
            ..described(
                "direction",
                "Whether the smallest or the largest is first.",
                ty,
            )
        };

        let fields = vec![self.arguments(types, function), first];
        let index = reserve(types, &format!("{}OrderBy", function.prefix));
        let description = format!(
            "An order by `{}` with these arguments.",
            function.coordinate
        );
        define(types, index, InputRole::Declared, description, fields);

        index
    }

    /// `args`, which is optional if all arguments are.
    fn arguments(&mut self, types: &mut Vec<TypeDef>, function: &RowFunction) -> ArgDef {
        let name = format!("{}Args", function.prefix);
        let index = self.operands.get(&name).copied().unwrap_or_else(|| {
            let index = reserve(types, &name);
            let description = format!("The arguments of `{}`.", function.coordinate);
            define(
                types,
                index,
                InputRole::Declared,
                description,
                function.args(),
            );
            index
        });

        self.operands.insert(name, index);

        // `args` may be left out only if each argument in it may be.
        let is_required = function
            .args
            .iter()
            .any(|arg| arg.ty.is_non_null() && arg.default.is_none());
        let ty = TypeExpr::Named(index);
        let ty = if is_required {
            TypeExpr::NonNull(Box::new(ty))
        } else {
            ty
        };

        let description = format!("The arguments of `{}`.", function.coordinate);

        ArgDef {
            role: ArgRole::Arguments,
            ..described("args", &description, ty)
        }
    }
}
