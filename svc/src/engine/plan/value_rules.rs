//! Rules on the values of arguments, checked before anything runs.

use async_graphql::Value;
use serde_json::{Value as Json, json};

use super::{Plan, PlanField};
use crate::ErrorCode;
use crate::engine::coerce::Variables;
use crate::engine::error::RequestError;
use crate::schema::{ArgDef, Model, TypeExpr, TypeKind, ValueRule};

/// A value that breaks a rule.
struct Broken {
    path: Vec<Json>,
    message: String,
}

/// Rejects an operation whose values break rules; one error lists them, up to `most`.
pub(in crate::engine) fn check_rules(
    model: &Model,
    plan: &Plan,
    variables: &Variables,
    most: usize,
) -> Result<(), RequestError> {
    if !model.has_rules {
        return Ok(());
    }

    let mut check = Check {
        model,
        variables,
        path: Vec::new(),
        broken: Vec::new(),
    };

    plan.root.fields.iter().for_each(|field| check.field(field));
    let mut broken = check.broken;

    // One error is kept even if the limit is 0; otherwise the operation would run with the broken
    // values.
    broken.truncate(most.max(1));
    let shown = |broken: &Broken| {
        let path = broken.path.iter().map(|step| {
            step.as_str()
                .map_or_else(|| step.to_string(), str::to_owned)
        });
        format!(
            "`{}` {}",
            path.collect::<Vec<_>>().join("."),
            broken.message
        )
    };

    if broken.is_empty() {
        return Ok(());
    }

    let message = broken.iter().map(shown).collect::<Vec<_>>().join("; ");
    let errors = broken
        .iter()
        .map(|Broken { path, message }| json!({ "path": path, "message": message }));

    Err(RequestError::new(ErrorCode::BadUserInput, message).with_errors(errors.collect()))
}

struct Check<'a> {
    model: &'a Model,
    variables: &'a Variables,
    path: Vec<Json>,
    broken: Vec<Broken>,
}

impl Check<'_> {
    fn field(&mut self, field: &PlanField) {
        self.path.push(field.key.as_str().into());

        for arg in field.args.iter().filter(|arg| arg.has_rules) {
            // The field itself reports a variable that leaves a required position empty.
            let Ok(Some(value)) = arg.value(self.model, self.variables) else {
                continue;
            };
            self.path.push(arg.name.as_str().into());
            self.value(&arg.rules, arg.ty(), &value);
            self.path.pop();
        }

        for selection in field.children.iter() {
            selection.fields.iter().for_each(|field| self.field(field));
        }

        self.path.pop();
    }

    fn value(&mut self, rules: &[ValueRule], ty: &TypeExpr, value: &Value) {
        for rule in rules {
            self.rule(rule, value);
        }
        self.inside(ty, value);
    }

    fn rule(&mut self, rule: &ValueRule, value: &Value) {
        match value {
            Value::List(items) if rule.is_of_items() => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(index.into());
                    self.rule(rule, item);
                    self.path.pop();
                }
            }
            value if rule.holds(value) => {}
            _ => self.broken.push(Broken {
                path: self.path.clone(),
                message: said(rule),
            }),
        }
    }

    /// Checks the rules of the fields of input objects.
    fn inside(&mut self, ty: &TypeExpr, value: &Value) {
        let TypeKind::Input(input) = &self.model.types[ty.named()].kind else {
            return;
        };

        match value {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(index.into());
                    self.inside(ty, item);
                    self.path.pop();
                }
            }
            Value::Object(given) => {
                for (name, field) in &input.fields {
                    let ArgDef {
                        rust, rules, ty, ..
                    } = field;
                    let Some(value) = given.get(rust.as_str()) else {
                        continue;
                    };
                    self.path.push(name.as_str().into());
                    self.value(rules, ty, value);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }
}

/// The message for clients about a rule that a value breaks.
fn said(rule: &ValueRule) -> String {
    match rule {
        ValueRule::NotNull => "is null; leave it out, or give a value".to_owned(),
        rule => demand(&rule.to_string()),
    }
}

/// Turns the statement of a rule, such as `is at least 1`, into a demand on a value:
/// `must be at least 1`.
fn demand(rule: &str) -> String {
    let forms = [
        ("is ", "must be "),
        ("has ", "must have "),
        ("matches ", "must match "),
    ];

    let form = forms
        .iter()
        .find_map(|(states, demands)| Some(format!("{demands}{}", rule.strip_prefix(states)?)));

    form.unwrap_or_else(|| format!("is refused: a value {rule}"))
}
