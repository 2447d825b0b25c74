//! Mutations against functions of the database: whether one takes the arguments, and only one.

use super::finding::Finding;
use super::snapshot::{Function, Parameter, Snapshot};
use crate::program::{self, Argument, Description};

/// The mutations whose functions are missing or take other arguments.
pub(super) fn compare(description: &Description, database: &Snapshot) -> Vec<Finding> {
    description.functions.iter().filter_map(|call| compare_call(call, database.functions(&call.name))).collect()
}

fn compare_call(call: &program::Function, candidates: &[Function]) -> Option<Finding> {
    let finding = |problem: String, fix: &str| Some(Finding::new(&call.place, &call.field, problem, fix));
    let name = &call.name;
    if candidates.is_empty() {
        return finding(
            format!("the database has no function `{name}`"),
            "make it in a file of db/schema (svc generate crud writes some) and apply it: svc migrate up",
        );
    }
    let fitting: Vec<&Function> = candidates.iter().filter(|candidate| candidate.takes(&call.arguments)).collect();
    let signatures = |functions: &[&Function]| {
        functions.iter().map(|function| function.signature(name)).collect::<Vec<_>>().join(" and ")
    };
    match fitting.as_slice() {
        [] => finding(
            format!(
                "it is called as `{name}({})`, and there is {}",
                shown(&call.arguments),
                signatures(&candidates.iter().collect::<Vec<_>>())
            ),
            "give the function these parameters in db/schema, or change the arguments of the mutation",
        ),
        [one] if one.kind != "f" => {
            finding(format!("`{name}` is a procedure"), "make it a function: procedures cannot be called")
        }
        [one] if one.returns == "void" => {
            finding(format!("`{name}` returns nothing"), "let it return a value, such as its status")
        }
        [_] => None,
        several => finding(
            format!("it is called as `{name}({})`, which fits {}", shown(&call.arguments), signatures(several)),
            "drop all but one, or name the function with its schema",
        ),
    }
}

fn shown(arguments: &[Argument]) -> String {
    let names = arguments.iter().map(|argument| match argument {
        Argument::Scalar => "scalar",
        Argument::List => "list",
        Argument::Json => "jsonb",
        Argument::Null => "null",
    });
    names.collect::<Vec<_>>().join(", ")
}

impl Function {
    fn signature(&self, name: &str) -> String {
        let types: Vec<_> = self.parameters.iter().map(|parameter| parameter.ty.as_str()).collect();
        format!("`{name}({})`", types.join(", "))
    }

    fn takes(&self, arguments: &[Argument]) -> bool {
        let required = self.parameters.len().saturating_sub(self.defaults);
        let is_array = |parameter: &Parameter| parameter.base.starts_with('_');
        let is_json = |parameter: &Parameter| matches!(parameter.base.as_str(), "json" | "jsonb");
        let fits = |(parameter, argument): (&Parameter, &Argument)| match argument {
            Argument::Scalar => !is_array(parameter),
            Argument::List => is_array(parameter) || is_json(parameter),
            Argument::Json => is_json(parameter),
            Argument::Null => true,
        };
        (required..=self.parameters.len()).contains(&arguments.len()) && self.parameters.iter().zip(arguments).all(fits)
    }
}
