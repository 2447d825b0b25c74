//! The schema in the schema definition language.

use std::collections::HashSet;
use std::fmt::Write as _;

use indexmap::IndexMap;

use super::Guard;
use super::model::{ArgDef, FieldDef, FieldKind, TypeDef, TypeExpr, TypeIndex, TypeKind};
use super::registration::DIRECTIVES;

/// Prints all types except the hidden ones and the built-in scalars. Unions and interfaces refer to
/// their members by name. Guards are printed as directives if enabled; descriptions mention them in
/// any case.
pub(crate) fn print(
    types: &[TypeDef],
    hidden: &HashSet<TypeIndex>,
    guard_directives: bool,
) -> String {
    let printer = Printer {
        types,
        guard_directives,
    };

    let shown = types
        .iter()
        .enumerate()
        .filter(|(index, _)| !hidden.contains(index))
        .map(|(_, def)| def);

    let mut defs: Vec<_> = shown.filter(|def| !is_builtin(&def.name)).collect();

    // The roots come first and the rest is sorted by name, so that a small change to the schema is
    // a small change to the file.
    let rank = |def: &TypeDef| {
        ["Query", "Mutation", "Subscription"]
            .iter()
            .position(|root| *root == def.name)
            .unwrap_or(3)
    };

    defs.sort_by(|a, b| (rank(a), &a.name).cmp(&(rank(b), &b.name)));
    let has_boundaries = defs.iter().any(|def| has_boundaries(def));
    let is_atomic = defs.iter().any(|def| has_atomic_fields(def));
    let guards = guard_directives.then(|| DIRECTIVES.to_owned());
    let atomic = is_atomic.then(|| ATOMIC.to_owned());
    let boundaries = has_boundaries.then(|| SEMANTIC_NON_NULL.to_owned());

    defs.into_iter()
        .map(|def| printer.definition(def))
        .chain(guards)
        .chain(atomic)
        .chain(boundaries)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The directive for positions where null stands for an error only
/// (<https://specs.apollo.dev/nullability/v0.4>).
const SEMANTIC_NON_NULL: &str = "\
\"The position is null only if there is an error with its path, or with a path below it. Level 0 is the field, level 1 the items of its list.\"
directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
";

/// The directive for mutations that take effect together.
const ATOMIC: &str = "\
\"The fields of the mutation run in one transaction: if one of them fails, nothing of any of them is kept, and all of them are null. Not all mutations can be run with it.\"
directive @atomic on MUTATION
";

/// Whether clients may use `@atomic` with a field.
pub(super) fn has_atomic_fields(def: &TypeDef) -> bool {
    let is_atomic =
        |field: &FieldDef| matches!(field.kind, FieldKind::Root(_, _, rules) if rules.atomic);
    matches!(&def.kind, TypeKind::Object(object) if object.fields.values().any(is_atomic))
}

fn has_boundaries(def: &TypeDef) -> bool {
    let fields = match &def.kind {
        TypeKind::Object(object) => Some(&object.fields),
        TypeKind::Abstract(abstraction) => abstraction.fields.as_ref(),
        _ => None,
    };

    fields.is_some_and(|fields| fields.values().any(|field| field.is_boundary))
}

pub(crate) fn is_builtin(name: &str) -> bool {
    matches!(name, "Int" | "Float" | "String" | "Boolean" | "ID")
}

struct Printer<'a> {
    types: &'a [TypeDef],
    guard_directives: bool,
}

impl Printer<'_> {
    fn definition(&self, def: &TypeDef) -> String {
        let mut out = String::new();
        describe(&mut out, "", def.description.as_deref());
        let name = &def.name;

        // Writing to a String cannot fail.
        let _ = match &def.kind {
            TypeKind::Scalar {
                specified_by: Some(url),
                ..
            } => {
                writeln!(out, "scalar {name} @specifiedBy(url: {})", quote(url))
            }
            TypeKind::Scalar { .. } => writeln!(out, "scalar {name}"),
            TypeKind::Enum(values) => {
                let _ = writeln!(out, "enum {name} {{");
                for value in values.values.iter() {
                    describe(&mut out, "  ", value.description.as_deref());
                    let _ = writeln!(out, "  {}{}", value.name, deprecation(value.deprecated));
                }
                writeln!(out, "}}")
            }
            TypeKind::Input(input) => {
                let one_of = if input.one_of { " @oneOf" } else { "" };
                let _ = writeln!(out, "input {name}{one_of} {{");
                for field in input.fields.values() {
                    describe(&mut out, "  ", field.description.as_deref());
                    let _ = writeln!(out, "  {}", self.argument(field));
                }
                writeln!(out, "}}")
            }
            TypeKind::Object(object) => {
                let implements = match object.implements.as_slice() {
                    [] => String::new(),
                    interfaces => format!(" implements {}", self.names(interfaces, " & ")),
                };

                let _ = writeln!(out, "type {name}{implements} {{");
                self.fields(&mut out, &object.fields);

                writeln!(out, "}}")
            }
            TypeKind::Abstract(abstract_type) => match &abstract_type.fields {
                Some(fields) => {
                    let _ = writeln!(out, "interface {name} {{");
                    self.fields(&mut out, fields);
                    writeln!(out, "}}")
                }
                None => {
                    let members = self.names(&abstract_type.members, " | ");
                    writeln!(out, "union {name} = {members}")
                }
            },
        };

        out
    }

    /// The names of types, with a separator between them.
    fn names(&self, types: &[TypeIndex], separator: &str) -> String {
        let names: Vec<_> = types
            .iter()
            .map(|index| self.types[*index].name.as_str())
            .collect();
        names.join(separator)
    }

    fn fields(&self, out: &mut String, fields: &IndexMap<String, FieldDef>) {
        for field in fields.values() {
            describe(out, "  ", field.description.as_deref());
            let _ = write!(out, "  {}", field.name);
            if !field.args.is_empty() {
                // A description precedes its argument, so each argument then needs a line.
                if field.args.iter().any(|arg| arg.description.is_some()) {
                    out.push_str("(\n");
                    for arg in &field.args {
                        describe(out, "    ", arg.description.as_deref());
                        let _ = writeln!(out, "    {}", self.argument(arg));
                    }
                    out.push_str("  )");
                } else {
                    let args: Vec<_> = field.args.iter().map(|arg| self.argument(arg)).collect();
                    let _ = write!(out, "({})", args.join(", "));
                }
            }

            let guards = field
                .guards
                .iter()
                .filter(|_| self.guard_directives)
                .map(Guard::directive);

            let guards = guards.collect::<String>();
            let (ty, semantic) = match field.is_boundary {
                true => (field.ty.unwrapped(), " @semanticNonNull"),
                false => (&field.ty, ""),
            };

            let _ = writeln!(
                out,
                ": {}{semantic}{guards}{}",
                self.show(ty),
                deprecation(field.deprecated)
            );
        }
    }

    fn argument(&self, arg: &ArgDef) -> String {
        let default = arg
            .default
            .as_ref()
            .map(|default| format!(" = {}", default.literal))
            .unwrap_or_default();

        format!(
            "{}: {}{default}{}",
            arg.name,
            self.show(&arg.ty),
            deprecation(arg.deprecated)
        )
    }

    fn show(&self, ty: &TypeExpr) -> String {
        match ty {
            TypeExpr::Named(index) => self.types[*index].name.clone(),
            TypeExpr::List(inner) => format!("[{}]", self.show(inner)),
            TypeExpr::NonNull(inner) => format!("{}!", self.show(inner)),
        }
    }
}

fn deprecation(reason: Option<&str>) -> String {
    match reason {
        None => String::new(),
        // Without a reason, the directive has the default reason of the specification.
        Some("") => " @deprecated".to_owned(),
        Some(reason) => format!(" @deprecated(reason: {})", quote(reason)),
    }
}

fn describe(out: &mut String, indent: &str, text: Option<&str>) {
    let Some(text) = text else { return };
    if text.contains('\n') || text.contains('"') || text.contains('\\') {
        // In a block string, `\"""` is the only escape; quotes and backslashes remain readable.
        let text = text.replace("\"\"\"", "\\\"\"\"");
        let _ = writeln!(out, "{indent}\"\"\"");
        for line in text.lines() {
            // A blank line would otherwise consist of the blanks of the indentation.
            let _ = writeln!(out, "{}", format!("{indent}{line}").trim_end());
        }
        let _ = writeln!(out, "{indent}\"\"\"");
    } else {
        let _ = writeln!(out, "{indent}{}", quote(text));
    }
}

/// A GraphQL string; JSON's escapes are a subset of GraphQL's.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
