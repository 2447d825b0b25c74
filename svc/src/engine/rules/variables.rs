//! Variables in places that take no null: a default of null does not help there, and `@oneOf` fields take none.

use std::collections::HashSet;

use apollo_compiler::Node;
use apollo_compiler::executable::{DirectiveList, Operation, Selection, SelectionSet, Value, VariableDefinition};

use super::Check;
use crate::schema::{TypeExpr, TypeKind};

impl<'a> Check<'a> {
    pub(super) fn variable_positions(&mut self, operation: &'a Operation) {
        let nullable: Vec<_> = operation.variables.iter().filter(|variable| !variable.ty.is_non_null()).collect();
        if nullable.is_empty() {
            return;
        }
        let mut uses = Uses { check: self, nullable, visited: HashSet::new() };
        uses.directives(&operation.directives);
        uses.selections(&operation.selection_set);
    }
}

/// The uses of one operation's nullable variables, fragments included.
struct Uses<'c, 'a> {
    check: &'c mut Check<'a>,
    nullable: Vec<&'a Node<VariableDefinition>>,
    visited: HashSet<&'a str>,
}

impl<'a> Uses<'_, 'a> {
    fn selections(&mut self, set: &'a SelectionSet) {
        for selection in &set.selections {
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => {
                    let def = self.check.model.field(&set.ty, &field.name);
                    for argument in &field.arguments {
                        if let Some(arg) =
                            def.and_then(|def| def.args.iter().find(|arg| arg.name == argument.name.as_str()))
                        {
                            self.value(&arg.ty, arg.default.is_some(), &argument.value);
                        }
                    }
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.selections(&fragment.selection_set),
                Selection::FragmentSpread(spread) => {
                    if self.visited.insert(spread.fragment_name.as_str())
                        && let Some(fragment) = self.check.document.fragments.get(&spread.fragment_name)
                    {
                        self.directives(&fragment.directives);
                        self.selections(&fragment.selection_set);
                    }
                }
            }
        }
    }

    /// `if` of `@skip` and `@include` is the only argument of a directive that variables reach.
    fn directives(&mut self, directives: &'a DirectiveList) {
        for directive in directives.iter().filter(|directive| matches!(directive.name.as_str(), "skip" | "include")) {
            for argument in &directive.arguments {
                self.place(true, false, &argument.value);
            }
        }
    }

    fn value(&mut self, ty: &TypeExpr, has_default: bool, value: &Node<Value>) {
        self.place(ty.is_non_null(), has_default, value);
        match (ty.unwrapped(), value.as_ref()) {
            (TypeExpr::List(inner), Value::List(items)) => items.iter().for_each(|item| self.value(inner, false, item)),
            (TypeExpr::Named(index), Value::Object(fields)) => {
                let model = self.check.model;
                let TypeKind::Input(input) = &model.types[*index].kind else { return };
                for (name, value) in fields {
                    let Some(field) = input.fields.get(name.as_str()) else { continue };
                    if input.one_of {
                        self.place(true, false, value);
                    }
                    self.value(&field.ty, field.default.is_some(), value);
                }
            }
            _ => {}
        }
    }

    /// A place of a value: a nullable variable needs a default that is not null, its own or the place's.
    fn place(&mut self, non_null: bool, has_default: bool, value: &Node<Value>) {
        let Value::Variable(name) = value.as_ref() else { return };
        let Some(variable) = self.nullable.iter().find(|variable| variable.name == *name) else { return };
        let own = matches!(variable.default_value.as_deref(), Some(default) if *default != Value::Null);
        if non_null && !has_default && !own {
            let message = format!("the variable `${name}` of type `{}` is used where null is not allowed", variable.ty);
            self.check.fail(message, value.location().map(|span| span.offset()));
        }
    }
}
