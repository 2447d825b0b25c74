//! Rules on the values of arguments, checked before anything runs.

use std::collections::HashSet;

use async_graphql::Value;
use serde_json::{Value as Json, json};

use super::{Plan, PlanField, Selection};
use crate::graphql::coerce::Variables;
use crate::graphql::error::RequestError;
use svc_core::ErrorCode;
use svc_core::schema::{ArgDef, Model, TypeExpr, TypeKind, ValueRule};

/// A value that breaks a rule.
struct Broken {
    path: Vec<Json>,
    message: String,
}

/// Rejects an operation whose values break rules; one error lists them, up to `most`.
pub(in crate::graphql) fn check_rules(
    model: &Model,
    plan: &Plan,
    variables: &Variables,
    most: usize,
) -> Result<(), RequestError> {
    if !plan.root.rules {
        return Ok(());
    }

    // One error is kept even if the limit is 0; otherwise the operation would run with the broken
    // values.
    let most = most.max(1);
    let mut check = Check {
        model,
        variables,
        most,
        path: Vec::new(),
        broken: Vec::new(),
        kept: HashSet::new(),
    };

    check.selection(&plan.root);
    let mut broken = check.broken;
    broken.truncate(most);
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

impl PlanField {
    /// Whether an argument of the field or of a field below it may have rules on values.
    pub(super) fn has_rules(&self) -> bool {
        self.args.iter().any(|arg| arg.has_rules)
            || self.children.iter().any(|selection| selection.rules)
    }
}

struct Check<'a> {
    model: &'a Model,
    variables: &'a Variables,
    /// The number of broken values at which the search ends.
    most: usize,
    path: Vec<Json>,
    broken: Vec<Broken>,
    /// The selections without a broken value. Selections are shared, and the number of paths to one
    /// may grow exponentially with the length of the document.
    kept: HashSet<*const Selection>,
}

impl Check<'_> {
    fn selection(&mut self, selection: &Selection) {
        let before = self.broken.len();
        if !selection.rules
            || before >= self.most
            || self.kept.contains(&std::ptr::from_ref(selection))
        {
            return;
        }

        selection.fields.iter().for_each(|field| self.field(field));

        if self.broken.len() == before {
            self.kept.insert(std::ptr::from_ref(selection));
        }
    }

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
            self.selection(selection);
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
