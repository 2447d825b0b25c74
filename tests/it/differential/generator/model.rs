//! The schema as the generator walks it: read by introspection.

use std::collections::BTreeMap;

use serde_json::Value;

/// A type reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Named(String),
    List(Box<Type>),
    NonNull(Box<Type>),
}

/// An argument or an input field.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) has_default: bool,
}

/// A field.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) args: Vec<Input>,
}

/// A named type.
#[derive(Debug, Clone)]
pub(super) struct Def {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) one_of: bool,
    pub(super) fields: Vec<Field>,
    pub(super) inputs: Vec<Input>,
    pub(super) values: Vec<String>,
    pub(super) possible: Vec<String>,
}

/// The schema.
#[derive(Debug)]
pub(in crate::differential) struct Model {
    types: BTreeMap<String, Def>,
}

/// The introspection query.
pub(in crate::differential) const INTROSPECTION: &str = "{ __schema { types { kind name
    fields { name type { ...T } args { name defaultValue type { ...T } } }
    inputFields { name defaultValue type { ...T } } enumValues { name } possibleTypes { name } } } }
    fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
    ofType { kind name ofType { kind name ofType { kind name } } } } } } }";

impl Model {
    /// Reads `data.__schema.types`; only the SDL tells which inputs are `@oneOf`.
    pub(in crate::differential) fn new(data: &Value, sdl: &str) -> Self {
        let types = items(&data["__schema"]["types"]).map(|def| {
            let name = text(&def["name"]);
            let def = Def {
                one_of: sdl.contains(&format!("input {name} @oneOf")),
                kind: text(&def["kind"]),
                fields: items(&def["fields"]).map(field).collect(),
                inputs: items(&def["inputFields"]).map(input).collect(),
                values: items(&def["enumValues"])
                    .map(|value| text(&value["name"]))
                    .collect(),
                possible: items(&def["possibleTypes"])
                    .map(|def| text(&def["name"]))
                    .collect(),
                name,
            };
            (def.name.clone(), def)
        });
        Self {
            types: types.collect(),
        }
    }

    /// A type by its name.
    pub(super) fn get(&self, name: &str) -> &Def {
        &self.types[name]
    }

    /// The user's own types.
    pub(super) fn all(&self) -> impl Iterator<Item = &Def> {
        self.types
            .values()
            .filter(|def| !def.name.starts_with("__"))
    }

    /// The object types that a type can be.
    pub(super) fn possible(&self, name: &str) -> Vec<String> {
        let def = self.get(name);
        if def.kind == "OBJECT" {
            vec![def.name.clone()]
        } else {
            def.possible.clone()
        }
    }

    /// Whether a fragment on `other` can stand where `parent` is.
    pub(super) fn overlap(&self, parent: &str, other: &str) -> bool {
        let others = self.possible(other);
        self.possible(parent)
            .iter()
            .any(|name| others.contains(name))
    }
}

impl Def {
    /// Whether it has selections.
    pub(super) fn is_composite(&self) -> bool {
        matches!(self.kind.as_str(), "OBJECT" | "INTERFACE" | "UNION")
    }
}

impl Type {
    /// The name at its heart.
    pub(super) fn named(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::List(inner) | Self::NonNull(inner) => inner.named(),
        }
    }

    /// Whether null is refused.
    pub(super) fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

fn field(value: &Value) -> Field {
    Field {
        name: text(&value["name"]),
        ty: ty(&value["type"]),
        args: items(&value["args"]).map(input).collect(),
    }
}

fn input(value: &Value) -> Input {
    Input {
        name: text(&value["name"]),
        ty: ty(&value["type"]),
        has_default: !value["defaultValue"].is_null(),
    }
}

fn ty(value: &Value) -> Type {
    match value["kind"].as_str() {
        Some("NON_NULL") => Type::NonNull(Box::new(ty(&value["ofType"]))),
        Some("LIST") => Type::List(Box::new(ty(&value["ofType"]))),
        _ => Type::Named(text(&value["name"])),
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
