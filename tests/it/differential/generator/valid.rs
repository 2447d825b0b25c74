//! Documents that walk the schema; nearly all of them are valid.

use std::collections::HashMap;

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value};

use super::document::{Document, FieldNode, Fragment, Operation, Selection, root};
use super::model::{Field, Input, Model, Type};
use super::values::{Scope, Values};

/// Levels of nested selections.
const DEPTH: usize = 6;

/// A document with what goes beside it.
#[derive(Debug, Default)]
pub(super) struct Generated {
    pub(super) document: Document,
    pub(super) variables: Map<String, Value>,
    pub(super) operation: Option<String>,
}

/// Makes one document.
pub(super) fn document(model: &Model, random: &mut StdRng, bad: bool) -> Generated {
    let mut made = Generated::default();
    let count = if random.random_bool(0.15) {
        random.random_range(2..4)
    } else {
        1
    };
    for index in 0..count {
        let kind = if random.random_bool(0.85) {
            "query"
        } else {
            "mutation"
        };
        let name = (count > 1 || random.random_bool(0.3)).then(|| format!("Op{index}"));
        let mut walk = Walk::new(model, random, bad, index);
        let set = walk.set(root(kind), 0);
        let Walk {
            fragments, scope, ..
        } = walk;
        // What a later operation gives under the same name is given to all.
        made.variables.extend(scope.given);
        made.document.fragments.extend(fragments);
        let operation = Operation {
            kind,
            name,
            variables: scope.variables,
            directives: Vec::new(),
            set,
        };
        made.document.operations.push(operation);
    }
    if count > 1 {
        made.operation = Some(format!("Op{}", random.random_range(0..count)));
    }
    match random.random_range(0..40) {
        0 => made.operation = None,
        1 => made.operation = Some("Missing".to_owned()),
        _ => {}
    }
    made
}

/// Makes a document that asks for the schema.
pub(super) fn introspection(model: &Model, random: &mut StdRng) -> Generated {
    let mut walk = Walk::new(model, random, false, 0);
    let mut set = Vec::new();
    for index in 0..walk.random.random_range(1..3) {
        let alias = Some(format!("i{index}"));
        let (name, ty, args) = if walk.random.random_bool(0.75) {
            let names: Vec<_> = walk
                .model
                .all()
                .map(|def| def.name.clone())
                .chain(["Nope".to_owned()])
                .collect();
            let name = names.choose(walk.random).unwrap();
            (
                "__type",
                "__Type",
                vec![("name".to_owned(), format!("{name:?}"))],
            )
        } else {
            ("__schema", "__Schema", Vec::new())
        };
        let ty = ty.to_owned();
        // Not deep: svc has a limit on the depth of introspection.
        let field = FieldNode {
            alias,
            name: name.to_owned(),
            args,
            directives: Vec::new(),
            set: walk.set(&ty, DEPTH - 3),
            ty,
        };
        set.push(Selection::Field(field));
    }
    let Walk {
        fragments, scope, ..
    } = walk;
    let operation = Operation {
        kind: "query",
        name: None,
        variables: scope.variables,
        directives: Vec::new(),
        set,
    };
    let document = Document {
        operations: vec![operation],
        fragments,
        others: Vec::new(),
    };
    Generated {
        document,
        variables: scope.given,
        operation: None,
    }
}

struct Walk<'a> {
    model: &'a Model,
    random: &'a mut StdRng,
    bad: bool,
    prefix: usize,
    scope: Scope,
    fragments: Vec<Fragment>,
    /// The field that each response key stands for, so that selections can be merged.
    keys: HashMap<String, String>,
    /// Selections that may still be made.
    budget: usize,
}

impl<'a> Walk<'a> {
    fn new(model: &'a Model, random: &'a mut StdRng, bad: bool, prefix: usize) -> Self {
        let budget = random.random_range(3..60);
        let (scope, fragments, keys) = (Scope::default(), Vec::new(), HashMap::new());
        Self {
            model,
            random,
            bad,
            prefix,
            scope,
            fragments,
            keys,
            budget,
        }
    }

    fn set(&mut self, parent: &str, depth: usize) -> Vec<Selection> {
        let mut set = Vec::new();
        let count = self.random.random_range(1..6);
        while set.len() < count && self.budget > 0 {
            self.budget -= 1;
            let selection = match self.random.random_range(0..100) {
                0..8 => self.typename(),
                8..22 if depth < DEPTH => self.inline(parent, depth),
                22..36 if depth < DEPTH => self.spread(parent, depth),
                36..50 => match self.again(&set, depth) {
                    Some(again) => again,
                    None => continue,
                },
                _ => match self.any_field(parent, depth) {
                    Some(field) => field,
                    None => self.typename(),
                },
            };
            set.push(selection);
        }
        if set.is_empty() {
            set.push(self.typename());
        }
        set
    }

    fn typename(&mut self) -> Selection {
        let field = Field {
            name: "__typename".to_owned(),
            ty: Type::Named("String".to_owned()),
            args: Vec::new(),
        };
        self.field(&field, DEPTH)
    }

    fn any_field(&mut self, parent: &str, depth: usize) -> Option<Selection> {
        let fields = &self.model.get(parent).fields;
        let fits = |field: &&Field| {
            // `echoNested` has documents of its own.
            field.name != "echoNested"
                && (depth < DEPTH || !self.model.get(field.ty.named()).is_composite())
        };
        let fields: Vec<_> = fields.iter().filter(fits).collect();
        let field = *fields.choose(self.random)?;
        Some(self.field(field, depth))
    }

    fn field(&mut self, field: &Field, depth: usize) -> Selection {
        let args = self.arguments(field);
        let alias = self.alias(field, &args);
        let directives = self.directives();
        let ty = field.ty.named().to_owned();
        let set = if self.model.get(&ty).is_composite() {
            self.set(&ty, depth + 1)
        } else {
            Vec::new()
        };
        Selection::Field(FieldNode {
            alias,
            name: field.name.clone(),
            args,
            directives,
            ty,
            set,
        })
    }

    /// The same field once more, with other selections.
    fn again(&mut self, set: &[Selection], depth: usize) -> Option<Selection> {
        let Selection::Field(field) = set.choose(self.random)? else {
            return None;
        };
        let mut field = field.clone();
        field.directives = self.directives();
        if !field.set.is_empty() {
            field.set = self.set(&field.ty.clone(), depth + 1);
        }
        Some(Selection::Field(field))
    }

    /// An alias, unless the name is free or stands for the same.
    fn alias(&mut self, field: &Field, args: &[(String, String)]) -> Option<String> {
        let means = format!("{}{args:?}{}", field.name, field.ty);
        let same = |keys: &HashMap<String, String>, key: &str| {
            keys.get(key).is_none_or(|known| *known == means)
        };
        if self.random.random_bool(0.75) && same(&self.keys, &field.name) {
            self.keys.insert(field.name.clone(), means);
            return None;
        }
        let others = [
            "a", "b", "id", "on", "type", "fragment", "null", "name", "_0", "query",
        ]
        .map(str::to_owned);
        let numbered = (0..).map(|index| format!("k{index}"));
        let start = self.random.random_range(0..others.len());
        let key = others
            .into_iter()
            .skip(start)
            .chain(numbered)
            .find(|key| same(&self.keys, key))?;
        self.keys.insert(key.clone(), means);
        Some(key)
    }

    fn arguments(&mut self, field: &Field) -> Vec<(String, String)> {
        let mut args = Vec::new();
        for input in &field.args {
            let required = input.ty.is_non_null() && !input.has_default;
            if !required && self.random.random_bool(0.6) {
                continue;
            }
            args.push((input.name.clone(), self.argument(field, input)));
        }
        if args.len() > 1 && self.random.random_bool(0.2) {
            args.reverse();
        }
        args
    }

    /// The reference filters by `id` only, and sorts nothing.
    fn argument(&mut self, field: &Field, input: &Input) -> String {
        const IDS: [&str; 8] = [
            "\"u1\"", "\"u2\"", "\"u3\"", "\"s2\"", "\"s4\"", "\"s3\"", "\"none\"", "7",
        ];
        let choices: &[&str] = match input.name.as_str() {
            "where" => &["{}", "null", "{AND: []}"],
            "orderBy" => &["[]", "null"],
            "limit" => &["0", "1", "2", "100", "null", "-1"],
            "offset" => &["0", "1", "5", "null"],
            "id" if !field.name.starts_with("echo") => &IDS,
            _ => {
                let mut values = Values {
                    model: self.model,
                    random: self.random,
                    bad: self.bad,
                };
                return values.literal(input, &mut self.scope).text();
            }
        };
        (*choices.choose(self.random).unwrap()).to_owned()
    }

    fn inline(&mut self, parent: &str, depth: usize) -> Selection {
        let on = self
            .random
            .random_bool(0.75)
            .then(|| self.condition(parent));
        let directives = self.directives();
        let set = self.set(on.as_deref().unwrap_or(parent), depth + 1);
        Selection::Inline {
            on,
            directives,
            set,
        }
    }

    fn spread(&mut self, parent: &str, depth: usize) -> Selection {
        let known: Vec<_> = self
            .fragments
            .iter()
            .filter(|one| self.model.overlap(parent, &one.on))
            .collect();
        let name = match known.choose(self.random) {
            Some(known) if self.random.random_bool(0.5) => known.name.clone(),
            _ => {
                let on = self.condition(parent);
                let set = self.set(&on, depth + 1);
                let name = format!("F{}_{}", self.prefix, self.fragments.len());
                self.fragments.push(Fragment {
                    name: name.clone(),
                    on,
                    set,
                });
                name
            }
        };
        Selection::Spread {
            name,
            directives: self.directives(),
        }
    }

    /// A type that a fragment in `parent` can be on.
    fn condition(&mut self, parent: &str) -> String {
        let fits: Vec<_> = self
            .model
            .all()
            .filter(|def| def.is_composite() && self.model.overlap(parent, &def.name))
            .map(|def| def.name.clone())
            .collect();
        fits.choose(self.random)
            .cloned()
            .unwrap_or_else(|| parent.to_owned())
    }

    fn directives(&mut self) -> Vec<String> {
        let mut directives = Vec::new();
        for (name, chance) in [("skip", 0.08), ("include", 0.1)] {
            if !self.random.random_bool(chance) {
                continue;
            }
            let condition = if self.random.random_bool(0.5) {
                self.random.random_bool(0.5).to_string()
            } else {
                let ty = Type::NonNull(Box::new(Type::Named("Boolean".to_owned())));
                let mut values = Values {
                    model: self.model,
                    random: self.random,
                    bad: self.bad,
                };
                values.variable(&ty, false, &mut self.scope).text()
            };
            directives.push(format!("@{name}(if: {condition})"));
        }
        if directives.len() > 1 && self.random.random_bool(0.5) {
            directives.reverse();
        }
        directives
    }
}
