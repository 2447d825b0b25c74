//! Values for arguments and variables, good and bad; as literals and as JSON.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value, json};

use super::document::Variable;
use super::model::{Def, Input, Model, Type};

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Lit {
    Leaf(String, Value),
    List(Vec<Lit>),
    Object(Vec<(String, Lit)>),
    /// A variable; it has no JSON.
    Variable(String),
}

impl Lit {
    fn null() -> Self {
        Self::Leaf("null".to_owned(), Value::Null)
    }

    /// As it stands in a document.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Leaf(text, _) => text.clone(),
            Self::Variable(name) => format!("${name}"),
            Self::List(items) => format!(
                "[{}]",
                items.iter().map(Self::text).collect::<Vec<_>>().join(", ")
            ),
            Self::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.text()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// As it stands in the variables of a request.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Leaf(_, json) => json.clone(),
            Self::Variable(_) => Value::Null,
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.clone(), value.json()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// The variables of an operation, made as they are needed.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) variables: Vec<Variable>,
    pub(super) given: Map<String, Value>,
}

/// Makes values.
pub(super) struct Values<'a> {
    pub(super) model: &'a Model,
    pub(super) random: &'a mut StdRng,
    /// Whether some values are wrong.
    pub(super) bad: bool,
}

const INTS: [&str; 8] = ["0", "1", "-1", "42", "2147483647", "-2147483648", "7", "-0"];
const FLOATS: [&str; 10] = [
    "0",
    "1",
    "-1.5",
    "0.1",
    "1e3",
    "1.0",
    "-0.0",
    "123456.75",
    "5e-1",
    "2E+2",
];
const STRINGS: [&str; 8] = [
    "",
    "a",
    "b c",
    "q\"\\/\n\t",
    "é🦀",
    "\u{1}\u{7f}",
    "null",
    "1",
];
const BLOCKS: [(&str, &str); 4] = [
    ("\"\"\"block\"\"\"", "block"),
    ("\"\"\"\n    two\n      lines\n    \"\"\"", "two\n  lines"),
    ("\"\"\"\n\n a \"b\" \\n \r\n\t\n\"\"\"", "a \"b\" \\n "),
    ("\"\"\"\"\"\"", ""),
];

impl Values<'_> {
    /// A literal for a place, perhaps with variables in it.
    pub(super) fn literal(&mut self, input: &Input, scope: &mut Scope) -> Lit {
        self.place(&input.ty, input.has_default, &mut Some(scope), 0)
    }

    fn place(
        &mut self,
        ty: &Type,
        has_default: bool,
        scope: &mut Option<&mut Scope>,
        depth: usize,
    ) -> Lit {
        if let Some(scope) = scope
            && self.random.random_bool(0.25)
        {
            return self.variable(ty, has_default, scope);
        }
        self.value(ty, scope, depth)
    }

    fn value(&mut self, ty: &Type, scope: &mut Option<&mut Scope>, depth: usize) -> Lit {
        if self.bad && self.random.random_bool(0.08) {
            return self.wrong();
        }
        match ty {
            Type::NonNull(inner) => self.non_null(inner, scope, depth),
            _ if self.random.random_bool(0.12) => Lit::null(),
            _ => self.non_null(ty, scope, depth),
        }
    }

    fn non_null(&mut self, ty: &Type, scope: &mut Option<&mut Scope>, depth: usize) -> Lit {
        match ty {
            Type::NonNull(inner) => self.non_null(inner, scope, depth),
            Type::List(inner) if self.random.random_bool(0.2) => {
                self.non_null(inner, scope, depth + 1)
            }
            Type::List(inner) => {
                let count = if depth > 4 {
                    0
                } else {
                    self.random.random_range(0..4)
                };
                Lit::List(
                    (0..count)
                        .map(|_| self.place(inner, false, scope, depth + 1))
                        .collect(),
                )
            }
            Type::Named(name) => {
                let def = self.model.get(name);
                if def.kind == "INPUT_OBJECT" {
                    self.object(def, scope, depth)
                } else {
                    self.leaf(def)
                }
            }
        }
    }

    fn object(&mut self, def: &Def, scope: &mut Option<&mut Scope>, depth: usize) -> Lit {
        if def.one_of {
            let field = def.inputs.choose(self.random).unwrap();
            let ty = Type::NonNull(Box::new(field.ty.clone()));
            return Lit::Object(vec![(
                field.name.clone(),
                self.place(&ty, false, scope, depth + 1),
            )]);
        }
        let mut fields = Vec::new();
        for field in &def.inputs {
            let required = field.ty.is_non_null() && !field.has_default;
            if required || (depth < 4 && self.random.random_bool(0.45)) {
                fields.push((
                    field.name.clone(),
                    self.place(&field.ty, field.has_default, scope, depth + 1),
                ));
            }
        }
        if fields.len() > 1 && self.random.random_bool(0.3) {
            fields.reverse();
        }
        if self.bad && self.random.random_bool(0.05) {
            fields.push(("nope".to_owned(), Lit::null()));
        }
        Lit::Object(fields)
    }

    fn leaf(&mut self, def: &Def) -> Lit {
        let string = |text: &str| Lit::Leaf(Value::from(text).to_string(), text.into());
        let number =
            |text: &&str| Lit::Leaf((*text).to_owned(), serde_json::from_str(text).unwrap());
        match def.name.as_str() {
            "Int" => number(INTS.choose(self.random).unwrap()),
            "Float" => number(FLOATS.choose(self.random).unwrap()),
            "Boolean" => {
                let value = self.random.random_bool(0.5);
                Lit::Leaf(value.to_string(), value.into())
            }
            "ID" if self.random.random_bool(0.4) => number(INTS[..7].choose(self.random).unwrap()),
            "String" if self.random.random_bool(0.2) => {
                let (text, value) = BLOCKS.choose(self.random).unwrap();
                Lit::Leaf((*text).to_owned(), (*value).into())
            }
            _ if def.kind == "ENUM" => {
                let name = def.values.choose(self.random).unwrap();
                Lit::Leaf(name.clone(), name.as_str().into())
            }
            _ => string(STRINGS.choose(self.random).unwrap()),
        }
    }

    fn wrong(&mut self) -> Lit {
        let wrong = [
            ("\"x\"", json!("x")),
            ("1", json!(1)),
            ("1.5", json!(1.5)),
            ("3.0", json!(3.0)),
            ("true", json!(true)),
            ("NOBODY", json!("NOBODY")),
            ("{}", json!({})),
            ("{name: \"n\", id: 1}", json!({"name": "n", "id": 1})),
            ("[]", json!([])),
            ("[[null]]", json!([[null]])),
            ("null", json!(null)),
            ("2147483648", json!(2_147_483_648_i64)),
            (
                "12345678901234567890",
                json!(12_345_678_901_234_567_890_u64),
            ),
            ("1e50", json!(1e50)),
        ];
        let (text, json) = wrong.choose(self.random).unwrap().clone();
        Lit::Leaf(text.to_owned(), json)
    }

    /// A variable that may stand in a place of type `ty`.
    pub(super) fn variable(&mut self, ty: &Type, has_default: bool, scope: &mut Scope) -> Lit {
        let name = format!("v{}", scope.variables.len());
        let (declared, default) = self.declare(ty, has_default);
        let required = declared.is_non_null() && default.is_none();
        match self.random.random_range(0..10) {
            0 | 1 if !required || (self.bad && self.random.random_bool(0.5)) => {}
            2 if self.bad => drop(scope.given.insert(name.clone(), self.wrong().json())),
            _ => drop(
                scope
                    .given
                    .insert(name.clone(), self.value(&declared, &mut None, 1).json()),
            ),
        }
        let default = default.map(|default| default.text());
        scope.variables.push(Variable {
            name: name.clone(),
            ty: declared.to_string(),
            default,
        });
        Lit::Variable(name)
    }

    /// A type and perhaps a default, so that the variable may stand in a place of type `ty`.
    fn declare(&mut self, ty: &Type, has_default: bool) -> (Type, Option<Lit>) {
        let wants_default = self.random.random_bool(0.35);
        match ty {
            Type::NonNull(inner) if wants_default && self.random.random_bool(0.6) => {
                ((**inner).clone(), Some(self.non_null(inner, &mut None, 1)))
            }
            Type::NonNull(inner) if has_default && self.random.random_bool(0.5) => {
                ((**inner).clone(), None)
            }
            Type::NonNull(inner) => (
                ty.clone(),
                wants_default.then(|| self.non_null(inner, &mut None, 1)),
            ),
            _ if self.random.random_bool(0.3) => (Type::NonNull(Box::new(ty.clone())), None),
            _ => (
                ty.clone(),
                wants_default.then(|| self.value(ty, &mut None, 1)),
            ),
        }
    }
}
