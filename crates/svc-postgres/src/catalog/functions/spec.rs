//! The form of a call, and the choice of the function that accepts it.

use std::sync::Arc;

use super::Function;

/// The form of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgForm {
    /// A scalar or an enum value.
    Text,
    /// A list of scalars or enum values.
    List,
    /// An input object, or any other value that only JSON can represent.
    Json,
    /// A null of any type.
    Null,
}

/// A function and the form of its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FunctionSpec {
    /// `name` or `schema.name`.
    pub name: String,
    /// The view whose row precedes the arguments.
    pub row_of: Option<String>,
    pub args: Vec<ArgForm>,
}

impl FunctionSpec {
    /// Returns the only candidate that accepts the arguments.
    pub fn choose(&self, candidates: &[Arc<Function>]) -> Result<Arc<Function>, String> {
        let name = &self.name;
        if candidates.is_empty() {
            return Err(format!("the function `{name}` does not exist"));
        }

        let fitting: Vec<_> = candidates
            .iter()
            .filter(|candidate| candidate.takes(self))
            .collect();
        let function = match fitting.as_slice() {
            [one] => *one,
            [] => {
                let takes: Vec<_> = candidates
                    .iter()
                    .map(|candidate| candidate.signature(name))
                    .collect();
                return Err(format!(
                    "`{name}` is called as {}, but there is {}",
                    self.shown(),
                    takes.join(" and ")
                ));
            }
            several => {
                let takes: Vec<_> = several
                    .iter()
                    .map(|candidate| candidate.signature(name))
                    .collect();
                return Err(format!(
                    "`{name}` is called as {}, which fits {}",
                    self.shown(),
                    takes.join(" and ")
                ));
            }
        };

        match function {
            function if function.kind != "f" => Err(format!(
                "`{name}` is not a function; procedures cannot be called"
            )),
            function if function.takes_anything() => Err(format!(
                "`{name}` takes any number of values of any type; declare its parameter `VARIADIC type[]`"
            )),
            function if function.returns_void => {
                Err(format!("`{name}` returns nothing; let it return a value"))
            }
            function if !function.allowed => {
                Err(format!("the service may not call the function `{name}`"))
            }
            function => Ok(function.clone()),
        }
    }

    fn shown(&self) -> String {
        let forms = self.args.iter().map(|form| match form {
            ArgForm::Text => "scalar",
            ArgForm::List => "list",
            ArgForm::Json => "jsonb",
            ArgForm::Null => "null",
        });
        let all = self.row_of.iter().map(String::as_str).chain(forms);
        format!("`{}({})`", self.name, all.collect::<Vec<_>>().join(", "))
    }
}
