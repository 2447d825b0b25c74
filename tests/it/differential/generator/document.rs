//! Documents as trees, for the generator and for what breaks them.

use std::fmt::Write as _;

/// A document.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    pub(super) operations: Vec<Operation>,
    pub(super) fragments: Vec<Fragment>,
    /// Other definitions, as text.
    pub(super) others: Vec<String>,
}

/// An operation.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    pub(super) kind: &'static str,
    pub(super) name: Option<String>,
    pub(super) variables: Vec<Variable>,
    pub(super) directives: Vec<String>,
    pub(super) set: Vec<Selection>,
}

/// A declared variable.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) default: Option<String>,
}

/// A fragment definition.
#[derive(Debug, Clone)]
pub(super) struct Fragment {
    pub(super) name: String,
    pub(super) on: String,
    pub(super) set: Vec<Selection>,
}

/// A field with its arguments as text.
#[derive(Debug, Clone)]
pub(super) struct FieldNode {
    pub(super) alias: Option<String>,
    pub(super) name: String,
    pub(super) args: Vec<(String, String)>,
    pub(super) directives: Vec<String>,
    /// The named type of the field.
    pub(super) ty: String,
    pub(super) set: Vec<Selection>,
}

/// A selection.
#[derive(Debug, Clone)]
pub(super) enum Selection {
    Field(FieldNode),
    Inline {
        on: Option<String>,
        directives: Vec<String>,
        set: Vec<Self>,
    },
    Spread {
        name: String,
        directives: Vec<String>,
    },
    /// Text that a mutation put in.
    Raw(String),
}

impl Document {
    /// Visits every selection set with the name of its type.
    pub(super) fn visit(&mut self, visit: &mut dyn FnMut(&str, &mut Vec<Selection>)) {
        for operation in &mut self.operations {
            walk(root(operation.kind), &mut operation.set, visit);
        }
        for fragment in &mut self.fragments {
            walk(&fragment.on, &mut fragment.set, visit);
        }
    }

    /// The text, plainly spaced.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for operation in &self.operations {
            operation.write(&mut out);
        }
        for Fragment { name, on, set } in &self.fragments {
            let _ = write!(out, "fragment {name} on {on}");
            write_set(&mut out, set);
        }
        for other in &self.others {
            let _ = write!(out, "\n{other}\n");
        }
        out
    }
}

/// The root type of an operation.
pub(super) fn root(kind: &str) -> &'static str {
    if kind == "mutation" {
        "Mutation"
    } else {
        "Query"
    }
}

fn walk(parent: &str, set: &mut Vec<Selection>, visit: &mut dyn FnMut(&str, &mut Vec<Selection>)) {
    visit(parent, set);
    for selection in set {
        match selection {
            Selection::Field(field) if !field.set.is_empty() => {
                walk(&field.ty, &mut field.set, visit);
            }
            Selection::Inline { on, set, .. } => walk(on.as_deref().unwrap_or(parent), set, visit),
            _ => {}
        }
    }
}

impl Operation {
    fn write(&self, out: &mut String) {
        let short = self.kind == "query"
            && self.name.is_none()
            && self.variables.is_empty()
            && self.directives.is_empty();
        if !short {
            out.push_str(self.kind);
            let _ = write!(out, " {}", self.name.as_deref().unwrap_or_default());
        }
        if !self.variables.is_empty() {
            out.push('(');
            for Variable { name, ty, default } in &self.variables {
                let default = default
                    .as_ref()
                    .map(|default| format!(" = {default}"))
                    .unwrap_or_default();
                let _ = write!(out, "${name}: {ty}{default} ");
            }
            out.push(')');
        }
        write_directives(out, &self.directives);
        write_set(out, &self.set);
    }
}

fn write_directives(out: &mut String, directives: &[String]) {
    for directive in directives {
        let _ = write!(out, " {directive}");
    }
}

fn write_set(out: &mut String, set: &[Selection]) {
    out.push_str(" { ");
    for selection in set {
        match selection {
            Selection::Field(field) => write_field(out, field),
            Selection::Inline {
                on,
                directives,
                set,
            } => {
                out.push_str("...");
                if let Some(on) = on {
                    let _ = write!(out, " on {on}");
                }
                write_directives(out, directives);
                write_set(out, set);
            }
            Selection::Spread { name, directives } => {
                let _ = write!(out, "...{name}");
                write_directives(out, directives);
            }
            Selection::Raw(text) => out.push_str(text),
        }
        out.push(' ');
    }
    out.push_str("} ");
}

fn write_field(out: &mut String, field: &FieldNode) {
    if let Some(alias) = &field.alias {
        let _ = write!(out, "{alias}: ");
    }
    out.push_str(&field.name);
    if !field.args.is_empty() {
        let args: Vec<_> = field
            .args
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let _ = write!(out, "({})", args.join(", "));
    }
    write_directives(out, &field.directives);
    if !field.set.is_empty() {
        write_set(out, &field.set);
    }
}
