//! The parts of a schema that an operation uses, as schema coordinates.
//!
//! A variable may hold any value of its type, so an operation with a variable of an input type uses
//! all its fields.

use std::collections::BTreeSet;

use apollo_compiler::ast::{Argument, DirectiveList, InputValueDefinition, Type, Value};
use apollo_compiler::executable::{ExecutableDocument, Field, Operation, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Node, Schema};

/// The coordinates used by the operations of a document.
pub(super) fn coordinates(document: &ExecutableDocument, schema: &Schema) -> BTreeSet<String> {
    let mut usage = Usage {
        document,
        schema,
        used: BTreeSet::new(),
        fragments: BTreeSet::new(),
    };

    for operation in document.operations.iter() {
        usage.operation(operation);
    }

    usage.used
}

struct Usage<'a> {
    document: &'a ExecutableDocument,
    schema: &'a Schema,
    used: BTreeSet<String>,
    fragments: BTreeSet<&'a str>,
}

impl<'a> Usage<'a> {
    fn operation(&mut self, operation: &'a Operation) {
        for variable in &operation.variables {
            self.any_value(variable.ty.inner_named_type());
        }
        self.directives(&operation.directives);
        self.selections(&operation.selection_set);
    }

    fn selections(&mut self, set: &'a SelectionSet) {
        self.used.insert(set.ty.to_string());

        for selection in &set.selections {
            match selection {
                Selection::Field(field) => self.field(&set.ty, field),
                Selection::InlineFragment(fragment) => {
                    self.directives(&fragment.directives);
                    self.selections(&fragment.selection_set);
                }
                Selection::FragmentSpread(spread) => {
                    self.directives(&spread.directives);
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) =
                        fragment.filter(|_| self.fragments.insert(&spread.fragment_name))
                    {
                        self.directives(&fragment.directives);
                        self.selections(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn field(&mut self, owner: &str, field: &'a Field) {
        // Changes of a field are reported for its object type, also where a selection names only
        // the interface.
        for owner in std::iter::once(owner).chain(self.implementers(owner)) {
            self.used.insert(format!("{owner}.{}", field.name));
            for argument in &field.arguments {
                self.used
                    .insert(format!("{owner}.{}({}:)", field.name, argument.name));
            }
        }

        self.arguments(&field.arguments, &field.definition.arguments);
        self.directives(&field.directives);
        let ty = field.definition.ty.inner_named_type();
        self.used.insert(ty.to_string());

        // A response may contain any value of the enum.
        if let Some(ExtendedType::Enum(def)) = self.schema.types.get(ty) {
            self.used
                .extend(def.values.keys().map(|value| format!("{ty}.{value}")));
        }

        self.selections(&field.selection_set);
    }

    /// The object types that a selection on an interface reaches.
    fn implementers(&self, interface: &str) -> Vec<&'a str> {
        let objects = self.schema.types.values().filter_map(|ty| match ty {
            ExtendedType::Object(object) => Some(object),
            _ => None,
        });
        let implements =
            |names: &apollo_compiler::collections::IndexSet<_>| names.contains(interface);
        objects
            .filter(|object| implements(&object.implements_interfaces))
            .map(|object| object.name.as_str())
            .collect()
    }

    fn directives(&mut self, directives: &'a DirectiveList) {
        for directive in directives.iter() {
            self.used.insert(format!("@{}", directive.name));
            for argument in &directive.arguments {
                self.used
                    .insert(format!("@{}({}:)", directive.name, argument.name));
            }
            if let Some(definition) = self.schema.directive_definitions.get(&directive.name) {
                self.arguments(&directive.arguments, &definition.arguments);
            }
        }
    }

    fn arguments(&mut self, given: &[Node<Argument>], definitions: &[Node<InputValueDefinition>]) {
        for argument in given {
            if let Some(definition) = definitions
                .iter()
                .find(|definition| definition.name == argument.name)
            {
                self.value(&argument.value, &definition.ty);
            }
        }
    }

    /// A value written in the document.
    fn value(&mut self, value: &Value, ty: &Type) {
        let name = ty.inner_named_type();
        self.used.insert(name.to_string());

        match value {
            Value::Enum(value) => {
                self.used.insert(format!("{name}.{value}"));
            }
            Value::List(values) => values.iter().for_each(|value| self.value(value, ty)),
            Value::Object(fields) => {
                let Some(ExtendedType::InputObject(def)) = self.schema.types.get(name) else {
                    return;
                };
                for (field, value) in fields {
                    self.used.insert(format!("{name}.{field}"));
                    if let Some(definition) = def.fields.get(field) {
                        self.value(value, &definition.ty);
                    }
                }
            }
            _ => {}
        }
    }

    /// Any value of an input type, as a variable may contain it.
    fn any_value(&mut self, name: &str) {
        if !self.used.insert(name.to_owned()) && self.used.contains(&format!("{name}.*")) {
            return;
        }

        // The mark ends the recursion of input types that contain themselves. Their name alone is
        // not enough, as a literal of the type has it too, but uses only some of the fields.
        self.used.insert(format!("{name}.*"));

        match self.schema.types.get(name) {
            Some(ExtendedType::Enum(def)) => {
                self.used
                    .extend(def.values.keys().map(|value| format!("{name}.{value}")));
            }
            Some(ExtendedType::InputObject(def)) => {
                for (field, definition) in &def.fields {
                    self.used.insert(format!("{name}.{field}"));
                    self.any_value(definition.ty.inner_named_type());
                }
            }
            _ => {}
        }
    }
}
