//! Compares fields with functions of the database: whether exactly one function takes the
//! arguments.

use super::finding::Finding;
use super::snapshot::{Function, Parameter, Snapshot};
use crate::program::{self, Argument, Description};

/// The fields whose functions are missing, take other arguments or return another type.
pub(super) fn compare(description: &Description, database: &Snapshot) -> Vec<Finding> {
    description
        .functions
        .iter()
        .filter_map(|call| compare_call(call, database.functions(&call.name)))
        .collect()
}

fn compare_call(call: &program::Function, candidates: &[Function]) -> Option<Finding> {
    let finding =
        |problem: String, fix: &str| Some(Finding::new(&call.place, &call.field, problem, fix));
    let name = &call.name;
    if candidates.is_empty() {
        return finding(
            format!("the database has no function `{name}`"),
            "create it in a file of db/schema and apply it: svc migrate up",
        );
    }

    let of_row: Vec<&Function> = candidates
        .iter()
        .filter(|candidate| candidate.is_of_row(call))
        .collect();
    if let (Some(view), true) = (&call.row_of, of_row.is_empty()) {
        return finding(
            format!("`{name}` does not take a row of {view} as its first parameter"),
            "declare the row as its first parameter, followed by the arguments of the field",
        );
    }

    let fitting: Vec<&Function> = of_row
        .into_iter()
        .filter(|candidate| candidate.takes(call))
        .collect();

    match fitting.as_slice() {
        [] => finding(
            format!(
                "svc calls `{name}({})`, but the database has {}",
                shown(call),
                signatures(candidates, name)
            ),
            "give the function these parameters in db/schema, or change the arguments of the field",
        ),
        [one] => one
            .first_misfit(call)
            .and_then(|(problem, fix)| finding(problem, &fix)),
        several => finding(
            format!(
                "svc calls `{name}({})`, which matches {}",
                shown(call),
                signatures(several.iter().copied(), name)
            ),
            "drop all but one, or name the function with its schema",
        ),
    }
}

/// Returns the signatures of functions with this name, for a message.
fn signatures<'a>(functions: impl IntoIterator<Item = &'a Function>, name: &str) -> String {
    functions
        .into_iter()
        .map(|function| function.signature(name))
        .collect::<Vec<_>>()
        .join(" and ")
}

fn shown(call: &program::Function) -> String {
    let arguments = call.arguments.iter().map(|argument| match argument {
        Argument::Scalar => "scalar",
        Argument::List => "list",
        Argument::Json => "jsonb",
        Argument::Null => "null",
    });

    call.row_of
        .iter()
        .map(String::as_str)
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Function {
    fn signature(&self, name: &str) -> String {
        let types: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| parameter.ty.as_str())
            .collect();
        format!("`{name}({})`", types.join(", "))
    }

    /// Whether its first parameter is the row of the call, if the call has one.
    fn is_of_row(&self, call: &program::Function) -> bool {
        let is_row = |view: &String| {
            self.parameters
                .first()
                .is_some_and(|first| first.base == last(view))
        };
        call.row_of.as_ref().is_none_or(is_row)
    }

    /// The first mismatch with a call whose arguments it takes, and the fix.
    fn first_misfit(&self, call: &program::Function) -> Option<(String, String)> {
        let name = &call.name;
        if self.kind != "f" {
            return Some((
                format!("`{name}` is a procedure"),
                "make it a function: procedures cannot be called".to_owned(),
            ));
        }

        if self.returns == "void" {
            return Some((
                format!("`{name}` returns nothing"),
                "return a value, such as a status".to_owned(),
            ));
        }

        self.misfit_of_types(call).or_else(|| self.misfit(call))
    }

    /// The mismatch of its return value, and the fix.
    fn misfit(&self, call: &program::Function) -> Option<(String, String)> {
        let name = &call.name;
        if let Some(view) = &call.rows_of
            && (!self.gives_set || last(&self.returns).trim_matches('"') != last(view))
        {
            return Some((
                format!("`{name}` does not return rows of {view}"),
                format!("declare it RETURNS SETOF {view}"),
            ));
        }

        if call.rows_of.is_none() && call.row_of.is_none() {
            return None;
        }

        if call.row_of.is_some() && self.gives_set {
            return Some((
                format!("`{name}` returns a set"),
                "return an array: a field has one value".to_owned(),
            ));
        }

        let volatile = || {
            (
                format!("`{name}` is volatile"),
                "declare it STABLE: a read may run twice".to_owned(),
            )
        };

        self.is_volatile.then(volatile)
    }

    /// The first argument whose values the parameter's type cannot represent, such as a number for
    /// a uuid.
    fn misfit_of_types(&self, call: &program::Function) -> Option<(String, String)> {
        let behind = usize::from(call.row_of.is_some());
        let pairs = self
            .parameters
            .iter()
            .skip(behind)
            .zip(&call.types)
            .enumerate();

        let wrong = pairs.filter_map(|(at, (parameter, ty))| Some((at, parameter, ty.as_deref()?)));
        let mut wrong = wrong.filter(|(_, parameter, ty)| !reads(&parameter.base, ty));

        wrong.next().map(|(at, parameter, ty)| {
            let number = at + 1;
            let problem = format!(
                "its argument {number} is {ty}, but the parameter of `{}` is {}",
                call.name, parameter.ty
            );
            (
                problem,
                "use matching types for the argument and the parameter, such as Uuid and uuid"
                    .to_owned(),
            )
        })
    }

    fn takes(&self, call: &program::Function) -> bool {
        let (arguments, behind) = (&call.arguments, usize::from(call.row_of.is_some()));
        let Some(parameters) = self.parameters.get(behind..) else {
            return false;
        };

        // Only trailing parameters can have defaults.
        let required = parameters.len().saturating_sub(self.defaults);

        // In the catalog, the name of an array type is that of its elements after an underscore.
        let is_array = |parameter: &Parameter| parameter.base.starts_with('_');
        let is_json = |parameter: &Parameter| matches!(parameter.base.as_str(), "json" | "jsonb");
        let fits = |(parameter, argument): (&Parameter, &Argument)| match argument {
            Argument::Scalar => !is_array(parameter),
            Argument::List => is_array(parameter) || is_json(parameter),
            Argument::Json => is_json(parameter),
            Argument::Null => true,
        };

        (required..=parameters.len()).contains(&arguments.len())
            && parameters.iter().zip(arguments).all(fits)
    }
}

/// The PostgreSQL types with the same textual form.
const NUMBERS: [&str; 6] = ["int2", "int4", "int8", "numeric", "float4", "float8"];
const TIMES: [&str; 5] = ["timestamptz", "timestamp", "date", "time", "timetz"];

/// Whether a PostgreSQL type accepts values of a scalar; `true` for unknown types.
fn reads(parameter: &str, scalar: &str) -> bool {
    let (parameter, scalar) = match scalar.trim_end_matches('!').strip_prefix('[') {
        Some(element) => (
            parameter.trim_start_matches('_'),
            element.trim_end_matches([']', '!']),
        ),
        None => (parameter, scalar.trim_end_matches('!')),
    };

    let is_own = match scalar {
        "Int" | "BigInt" | "Float" | "Decimal" => NUMBERS.contains(&parameter),
        "Boolean" => parameter == "bool",
        "UUID" => parameter == "uuid",
        "DateTime" | "Date" | "Time" => TIMES.contains(&parameter),
        _ => return true,
    };

    is_own
        || !NUMBERS.contains(&parameter)
            && !TIMES.contains(&parameter)
            && !["bool", "uuid"].contains(&parameter)
}

/// A name without its schema.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn values_fit_parameters_that_can_read_them() {
        for (parameter, scalar) in [
            ("int8", "Int!"),
            ("numeric", "Float"),
            ("text", "Int"),
            ("uuid", "String!"),
            ("uuid", "ID"),
            ("date", "DateTime"),
            ("_int4", "[Int!]!"),
            ("jsonb", "Boolean"),
            ("status", "Int"),
        ] {
            assert!(reads(parameter, scalar), "{parameter} {scalar}");
        }

        for (parameter, scalar) in [
            ("uuid", "Int"),
            ("int4", "UUID!"),
            ("bool", "Int"),
            ("int8", "Boolean!"),
            ("uuid", "DateTime"),
            ("date", "Decimal"),
            ("_uuid", "[Int!]"),
        ] {
            assert!(!reads(parameter, scalar), "{parameter} {scalar}");
        }
    }
}
