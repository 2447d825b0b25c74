//! Arguments: constants are coerced during planning, all others when a request runs the plan.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use apollo_compiler::executable::Field;
use apollo_compiler::{Node, ast};
use async_graphql::Value;
use indexmap::IndexMap;

use super::access::ArgumentGates;
use super::cost::{Count, Given};
use super::{Asked, PlanField};
use crate::graphql::coerce::{LiftedLiterals, Literal, Variables};
use crate::graphql::error::RequestError;
use crate::graphql::heap_size;
use svc_core::schema::{ArgDef, ArgRole, Gated, Model, TypeExpr, TypeIndex, TypeKind, ValueRule};
use svc_core::{Error, ErrorCode};

/// An argument of a planned field, in the order of the function's parameters.
#[derive(Debug)]
pub struct ArgPlan {
    pub name: String,
    pub rust: String,
    pub role: ArgRole,
    /// The position of the function's parameter, and whether the parameter is made of several
    /// arguments.
    pub(crate) slot: usize,
    pub(crate) spread: bool,
    ty: TypeExpr,
    /// The rules on values.
    pub(crate) rules: Arc<[ValueRule]>,
    /// Whether its value, or a value nested in it, may have rules.
    pub(crate) has_rules: bool,
    default: Option<Value>,
    source: ArgSource,
    /// Whether it is an equality comparison with the stored field of the same name.
    is_equality: bool,
    /// The work that it causes in the database; `None` if that depends on variables.
    asked: Option<Asked>,
    /// The gated fields that it touches.
    gates: Box<[Gated]>,
    /// Whether it may touch more gated fields, or other arguments of gated fields, depending on the
    /// request's variables.
    gates_vary: bool,
}

#[derive(Debug)]
enum ArgSource {
    /// A constant, coerced during planning; `None` if the argument is absent.
    Constant(Option<Value>),
    /// Contains a variable.
    Dynamic(Node<ast::Value>),
    /// Contains variables in place of literals that the plan leaves to each request.
    Lifted(Node<ast::Value>),
}

impl ArgSource {
    /// The source of an argument with the literal `given`, before any part of it is lifted.
    fn of(model: &Model, def: &ArgDef, given: Option<&Node<ast::Value>>) -> Self {
        let Some(value) = given else {
            let default = def.default.as_ref();
            return Self::Constant(default.map(|default| default.value.clone()));
        };

        let literal = Literal {
            types: &model.types,
            variables: None,
        };

        match literal.coerce(&def.ty, value) {
            Ok(Some(constant)) => Self::Constant(Some(constant)),
            // Also an invalid constant: like a variable, it is reported when the field runs.
            _ => Self::Dynamic(value.clone()),
        }
    }
}

impl ArgPlan {
    pub(super) fn new(
        (model, lifted): (&Model, Option<&LiftedLiterals>),
        def: &ArgDef,
        field: &Node<Field>,
        filters: bool,
    ) -> Self {
        let default = def.default.as_ref().map(|default| default.value.clone());
        let given = field.specified_argument_by_name(&def.name);
        let source = ArgSource::of(model, def, given);

        let is_equality =
            filters && matches!(def.role, ArgRole::Declared | ArgRole::DeclaredUnlessNull);
        let count = Count::new(&model.types, None);
        let asked = match &source {
            ArgSource::Constant(None) => Some(Asked::default()),
            ArgSource::Constant(Some(value)) => {
                count.argument(&def.ty, Given::Coerced(value), is_equality)
            }
            ArgSource::Dynamic(literal) | ArgSource::Lifted(literal) => {
                count.argument(&def.ty, Given::Literal(literal), is_equality)
            }
        };

        let gates = match &source {
            ArgSource::Constant(None) => ArgumentGates::default(),
            ArgSource::Constant(Some(value)) => {
                ArgumentGates::planned(model, &def.ty, def.gated, Given::Coerced(value))
            }
            ArgSource::Dynamic(literal) | ArgSource::Lifted(literal) => {
                ArgumentGates::planned(model, &def.ty, def.gated, Given::Literal(literal))
            }
        };

        // Replaced after the work and the gates are known, which are the same for all values of
        // lifted literals.
        let general = given
            .zip(lifted)
            .and_then(|(value, lifted)| lifted.generalized(value));
        let source = general.map_or(source, ArgSource::Lifted);

        Self {
            // A gated field with arguments only sets `varies` during planning, so no arguments are
            // lost here.
            gates: gates.found.into_iter().map(|(gated, _)| gated).collect(),
            gates_vary: gates.varies,
            name: def.name.clone(),
            rust: def.rust.clone(),
            role: def.role,
            slot: def.slot,
            spread: def.spread,
            ty: def.ty.clone(),
            rules: def.rules.clone(),
            has_rules: model.has_rules
                && (!def.rules.is_empty() || reaches_rule(model, def.ty.named())),
            default,
            source,
            is_equality,
            asked,
        }
    }

    /// The type of its values.
    pub fn ty(&self) -> &TypeExpr {
        &self.ty
    }

    /// Returns the value for these variables; `None` if the argument is absent.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    pub(crate) fn value<'v>(
        &'v self,
        model: &'v Model,
        variables: &'v Variables,
    ) -> Result<Option<Cow<'v, Value>>, RequestError> {
        let literal = match &self.source {
            ArgSource::Constant(value) => return Ok(value.as_ref().map(Cow::Borrowed)),
            ArgSource::Dynamic(literal) | ArgSource::Lifted(literal) => literal,
        };

        let coerce = Literal {
            types: &model.types,
            variables: Some(variables),
        };

        let value = match (literal.as_ref(), &self.default) {
            // An absent variable falls back to the default, so it is no error if the argument has
            // one.
            (ast::Value::Variable(name), Some(default)) if variables.get(name).is_none() => {
                Ok(Some(Cow::Borrowed(default)))
            }
            (ast::Value::Variable(name), _) => coerce
                .variable(&self.ty, name)
                .map(|value| value.map(Cow::Borrowed)),
            (literal, _) => coerce
                .coerce(&self.ty, literal)
                .map(|value| value.map(Cow::Owned)),
        };

        value.map_err(|why| {
            RequestError::new(
                ErrorCode::BadUserInput,
                format!("argument `{}`: {why}", self.name),
            )
        })
    }

    /// The name of a variable in its literal that has no value, if there is one.
    pub(crate) fn absent_variable(&self, variables: &Variables) -> Option<&str> {
        match &self.source {
            ArgSource::Constant(_) => None,
            ArgSource::Dynamic(literal) | ArgSource::Lifted(literal) => {
                absent_variable(literal, variables)
            }
        }
    }

    /// Whether it can touch gated fields, for any values of the variables.
    pub(super) fn may_touch_gates(&self) -> bool {
        self.gates_vary || !self.gates.is_empty()
    }

    /// Adds the gated fields that it touches for these variables.
    pub(super) fn collect_gates(
        &self,
        model: &Model,
        variables: &Variables,
        found: &mut Vec<(Gated, Option<IndexMap<String, Value>>)>,
    ) {
        found.extend(self.gates.iter().map(|gated| (*gated, None)));
        // A value that cannot be coerced fails the field before anything is read.
        if let (true, Ok(Some(value))) = (self.gates_vary, self.value(model, variables)) {
            found.extend(ArgumentGates::of_value(model, &self.ty, &value).found);
        }
    }

    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        let source = match &self.source {
            ArgSource::Constant(value) => value.as_ref().map_or(0, heap_size::value),
            // The literal belongs to the document.
            ArgSource::Dynamic(_) => 0,
            ArgSource::Lifted(literal) => heap_size::literal(literal),
        };

        let default = self.default.as_ref().map_or(0, heap_size::value);
        let slice = heap_size::slice::<Gated>(self.gates.len());
        heap_size::text(&self.name)
            + heap_size::text(&self.rust)
            + heap_size::type_expr(&self.ty)
            + default
            + source
            + slice
    }

    /// Whether the value is a constant of the plan.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.source, ArgSource::Constant(_))
    }

    /// Returns the work that it causes in the database for these variables.
    pub(super) fn asked(&self, model: &Model, variables: &Variables) -> Asked {
        match (self.asked, &self.source) {
            (Some(known), _) => known,
            (None, ArgSource::Dynamic(literal) | ArgSource::Lifted(literal)) => {
                let count = Count::new(&model.types, Some(variables));
                count
                    .argument(&self.ty, Given::Literal(literal), self.is_equality)
                    .unwrap_or_default()
            }
            (None, ArgSource::Constant(_)) => Asked::default(),
        }
    }

    /// Whether it may follow relations to rows of other types.
    pub(super) fn follows_relations(&self) -> bool {
        self.asked.is_none_or(|asked| asked.hops > 0)
    }

    /// Whether the work that it causes depends on variables.
    pub(super) fn asks_by_variables(&self) -> bool {
        self.asked.is_none()
    }

    /// The number of items if the value is a list.
    pub(super) fn items(&self, model: &Model, variables: &Variables) -> Option<usize> {
        match self.value(model, variables).ok()??.as_ref() {
            Value::List(items) => Some(items.len()),
            _ => None,
        }
    }

    /// The value if it is an integer; used for page sizes.
    pub(super) fn integer(&self, model: &Model, variables: &Variables) -> Option<i64> {
        match &self.source {
            ArgSource::Constant(Some(Value::Number(number))) => number.as_i64(),
            ArgSource::Constant(_) => None,
            ArgSource::Dynamic(_) | ArgSource::Lifted(_) => {
                match self.value(model, variables).ok()??.as_ref() {
                    Value::Number(number) => number.as_i64(),
                    _ => None,
                }
            }
        }
    }
}

/// The name of a variable in a literal that has no value, if there is one.
fn absent_variable<'l>(literal: &'l ast::Value, variables: &Variables) -> Option<&'l str> {
    match literal {
        ast::Value::Variable(name) if variables.get(name).is_none() => Some(name.as_str()),
        ast::Value::List(items) => items
            .iter()
            .find_map(|item| absent_variable(item, variables)),
        ast::Value::Object(fields) => fields
            .iter()
            .find_map(|(_, value)| absent_variable(value, variables)),
        _ => None,
    }
}

/// Whether a value of this type can contain a field with rules.
fn reaches_rule(model: &Model, index: TypeIndex) -> bool {
    let (mut left, mut seen) = (vec![index], HashSet::from([index]));
    while let Some(index) = left.pop() {
        let TypeKind::Input(input) = &model.types[index].kind else {
            continue;
        };
        if input.fields.values().any(|field| !field.rules.is_empty()) {
            return true;
        }

        left.extend(
            input
                .fields
                .values()
                .map(|field| field.ty.named())
                .filter(|index| seen.insert(*index)),
        );
    }

    false
}

impl PlanField {
    /// Returns the coerced arguments by Rust name, without the absent ones.
    ///
    /// # Errors
    /// A variable that leaves a required place empty.
    pub(crate) fn named_arguments(
        &self,
        model: &Model,
        variables: &Variables,
    ) -> Result<IndexMap<String, Value>, Error> {
        let mut arguments = IndexMap::new();
        for arg in self.args.iter() {
            let value = arg.value(model, variables);
            let value =
                value.map_err(|error| Error::new(ErrorCode::BadUserInput, error.message))?;
            arguments.extend(value.map(|value| (arg.rust.clone(), value.into_owned())));
        }
        Ok(arguments)
    }
}
