//! Variables in positions of another type: apollo-compiler checks neither the elements of nested
//! lists nor a default of null, and it accepts null for `@oneOf` fields.

use std::collections::{HashMap, HashSet};

use apollo_compiler::Node;
use apollo_compiler::executable::{
    DirectiveList, Field, Operation, Selection, SelectionSet, Type, Value, VariableDefinition,
};

use super::Check;
use svc_core::schema::{TypeExpr, TypeKind};

impl<'a> Check<'a> {
    pub(super) fn variable_positions(&mut self, operation: &'a Operation) {
        if operation.variables.is_empty() {
            return;
        }

        // If several variables have the same name, the first one counts. Such a document is
        // rejected in any case.
        let variables = operation
            .variables
            .iter()
            .rev()
            .map(|variable| (variable.name.as_str(), variable))
            .collect();

        let mut uses = Uses {
            check: self,
            variables,
            visited: HashSet::new(),
        };

        uses.directives(&operation.directives);

        uses.selections(&operation.selection_set);
    }
}

/// The uses of one operation's variables, fragments included.
struct Uses<'c, 'a> {
    check: &'c mut Check<'a>,
    variables: HashMap<&'a str, &'a Node<VariableDefinition>>,
    visited: HashSet<&'a str>,
}

impl<'a> Uses<'_, 'a> {
    fn selections(&mut self, set: &'a SelectionSet) {
        for selection in &set.selections {
            self.directives(selection.directives());

            match selection {
                Selection::Field(field) => {
                    let def = self.check.model.field(&set.ty, &field.name);
                    if field.name == "__type" {
                        self.name_of_type(field);
                    }

                    for argument in &field.arguments {
                        if let Some(arg) = def.and_then(|def| {
                            def.args
                                .iter()
                                .find(|arg| arg.name == argument.name.as_str())
                        }) {
                            self.value(&arg.ty, arg.default.is_some(), &argument.value);
                        }
                    }

                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.selections(&fragment.selection_set),
                Selection::FragmentSpread(spread) => {
                    if self.visited.insert(spread.fragment_name.as_str())
                        && let Some(fragment) =
                            self.check.document.fragments.get(&spread.fragment_name)
                    {
                        self.directives(&fragment.directives);
                        self.selections(&fragment.selection_set);
                    }
                }
            }
        }
    }

    /// `__type(name: String!)` is not a field of the model. apollo-compiler accepts a default of
    /// null as sufficient.
    fn name_of_type(&mut self, field: &'a Field) {
        for argument in &field.arguments {
            if let Some(variable) = self.variable(&argument.value)
                && !variable.ty.is_non_null()
                && !has_default(variable)
            {
                self.fail(
                    variable,
                    &argument.value,
                    "is the name of a type, which takes no null",
                );
            }
        }
    }

    /// The `if` of `@skip` and `@include` is the only directive argument that can be a variable.
    fn directives(&mut self, directives: &'a DirectiveList) {
        for directive in directives
            .iter()
            .filter(|directive| matches!(directive.name.as_str(), "skip" | "include"))
        {
            for argument in &directive.arguments {
                if let Some(variable) = self.variable(&argument.value)
                    && !variable.ty.is_non_null()
                    && !has_default(variable)
                {
                    self.fail(
                        variable,
                        &argument.value,
                        "is a condition, which takes no null",
                    );
                }
            }
        }
    }

    fn value(&mut self, ty: &TypeExpr, default: bool, value: &Node<Value>) {
        if let Some(variable) = self.variable(value) {
            if !self.may_stand(variable, ty, default) {
                self.fail(variable, value, "cannot stand here");
            }
            return;
        }

        match (ty.unwrapped(), value.as_ref()) {
            (TypeExpr::List(inner), Value::List(items)) => {
                items.iter().for_each(|item| self.value(inner, false, item));
            }
            // A single value is coerced to a list, a variable is not.
            (TypeExpr::List(inner), _) => self.value(inner, false, value),
            (TypeExpr::Named(index), Value::Object(fields)) => {
                let model = self.check.model;
                let TypeKind::Input(input) = &model.types[*index].kind else {
                    return;
                };

                for (name, value) in fields {
                    let Some(field) = input.fields.get(name.as_str()) else {
                        continue;
                    };

                    match self.variable(value) {
                        // Even a default does not help: null may be passed instead.
                        Some(variable) if input.one_of && !variable.ty.is_non_null() => {
                            let why = format!(
                                "is the field of a `@oneOf` object `{}`",
                                model.types[*index].name
                            );
                            self.fail(variable, value, &format!("{why}, which takes no null"));
                        }
                        _ => self.value(&field.ty, field.default.is_some(), value),
                    }
                }
            }
            _ => {}
        }
    }

    /// A nullable variable needs a default other than null, its own or that of the position, to be
    /// used where null is not allowed.
    fn may_stand(&self, variable: &VariableDefinition, place: &TypeExpr, default: bool) -> bool {
        match place {
            TypeExpr::NonNull(inner) if !variable.ty.is_non_null() => {
                (default || has_default(variable)) && self.fits(&variable.ty, inner)
            }
            _ => self.fits(&variable.ty, place),
        }
    }

    /// Whether every value of type `given` is also a value of type `place`.
    fn fits(&self, given: &Type, place: &TypeExpr) -> bool {
        let name_is = |name: &str, index: usize| self.check.model.types[index].name == name;
        match (place, given) {
            (TypeExpr::NonNull(place), Type::NonNullNamed(_) | Type::NonNullList(_)) => {
                self.fits(given, place)
            }
            (TypeExpr::NonNull(_), _) => false,
            (TypeExpr::List(place), Type::List(given) | Type::NonNullList(given)) => {
                self.fits(given, place)
            }
            (TypeExpr::Named(index), Type::Named(name) | Type::NonNullNamed(name)) => {
                name_is(name, *index)
            }
            _ => false,
        }
    }

    fn variable(&self, value: &Value) -> Option<&'a Node<VariableDefinition>> {
        let Value::Variable(name) = value else {
            return None;
        };
        self.variables.get(name.as_str()).copied()
    }

    fn fail(&mut self, variable: &VariableDefinition, value: &Node<Value>, why: &str) {
        let message = || {
            format!(
                "the variable `${}` of type `{}` {why}",
                variable.name, variable.ty
            )
        };
        self.check
            .fail(message, value.location().map(|span| span.offset()));
    }
}

/// Whether the variable has a default that is not null.
fn has_default(variable: &VariableDefinition) -> bool {
    matches!(variable.default_value.as_deref(), Some(default) if *default != Value::Null)
}
