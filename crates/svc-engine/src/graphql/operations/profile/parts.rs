//! The parts of a document that its author may want to change: sizes of pages, and deprecated
//! elements of the schema.

use apollo_compiler::Node;
use apollo_compiler::ast::{Argument, DirectiveList, Type, Value};
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use serde::Serialize;

use crate::graphql::document::Document;
use crate::graphql::error::LineIndex;
use svc_core::schema::{ArgDef, ArgRole, Model};

/// The reason of a deprecation that has none (GraphQL specification, section 3.13.3).
const NO_REASON: &str = "No longer supported";

/// The size of a page, as the document gives it.
#[derive(Debug, Serialize)]
pub(super) struct PageSize {
    /// `Query.posts(limit:)`.
    argument: String,
    line: usize,
    pub(super) variable: Option<String>,
    /// The number in the document, or the variable's default.
    size: Option<i32>,
}

/// The use of a deprecated element of the schema.
#[derive(Debug, Serialize)]
pub(super) struct Deprecated {
    /// `Post.viewCount`.
    element: String,
    reason: String,
    line: usize,
}

/// The parts of a document, in its order.
pub(super) struct Parts {
    /// The line of the operation.
    pub(super) line: usize,
    pub(super) pages: Vec<PageSize>,
    pub(super) deprecated: Vec<Deprecated>,
}

impl Parts {
    /// Finds the parts of a valid document with one operation. Values of variables are not part of
    /// a document.
    pub(super) fn of(model: &Model, document: &Document, operation: &Node<Operation>) -> Self {
        let mut walk = Walk {
            model,
            operation,
            lines: LineIndex::new(&document.text),
            pages: Vec::new(),
            deprecated: Vec::new(),
        };

        walk.selections(&operation.selection_set);

        for fragment in document.executable.fragments.values() {
            walk.selections(&fragment.selection_set);
        }

        Self {
            line: walk.line(operation),
            pages: walk.pages,
            deprecated: walk.deprecated,
        }
    }
}

struct Walk<'a> {
    model: &'a Model,
    operation: &'a Operation,
    lines: LineIndex<'a>,
    pages: Vec<PageSize>,
    deprecated: Vec<Deprecated>,
}

impl Walk<'_> {
    fn selections(&mut self, set: &SelectionSet) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    self.field(&set.ty, field);
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.selections(&fragment.selection_set),
                // Each fragment is visited once.
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn field(&mut self, owner: &str, field: &Node<Field>) {
        let model = self.model;
        let name = format!("{owner}.{}", field.name);
        self.deprecation(&field.definition.directives, &name, field);

        for argument in &field.arguments {
            let Some(definition) = field.definition.argument_by_name(&argument.name) else {
                continue;
            };

            let name = format!("{name}({}:)", argument.name);
            self.deprecation(&definition.directives, &name, argument);
            self.value(&argument.value, &definition.ty);

            let planned = model.field(owner, &field.name).and_then(|def| {
                def.args
                    .iter()
                    .find(|arg| arg.name == argument.name.as_str())
            });
            if planned.is_some_and(is_page) {
                self.page(name, argument);
            }
        }
    }

    fn page(&mut self, name: String, argument: &Node<Argument>) {
        let (variable, size) = match argument.value.as_ref() {
            Value::Variable(name) => (Some(name.to_string()), self.default_of(name)),
            value => (None, value.to_i32()),
        };

        // Null is the same as an absent argument.
        if variable.is_some() || size.is_some() {
            self.pages.push(PageSize {
                argument: name,
                line: self.line(argument),
                variable,
                size,
            });
        }
    }

    /// The default of a variable, if it is a number.
    fn default_of(&self, variable: &str) -> Option<i32> {
        let declared = self
            .operation
            .variables
            .iter()
            .find(|declared| declared.name.as_str() == variable)?;
        declared.default_value.as_ref()?.to_i32()
    }

    /// Finds the deprecated parts of a value that is written in the document.
    fn value(&mut self, value: &Node<Value>, ty: &Type) {
        let model = self.model;
        let name = ty.inner_named_type();
        match (value.as_ref(), model.document.types.get(name)) {
            (Value::Enum(member), Some(ExtendedType::Enum(def))) => {
                if let Some(definition) = def.values.get(member) {
                    self.deprecation(&definition.directives, &format!("{name}.{member}"), value);
                }
            }
            (Value::List(items), _) => {
                for item in items {
                    self.value(item, ty);
                }
            }
            (Value::Object(fields), Some(ExtendedType::InputObject(def))) => {
                for (field, value) in fields {
                    if let Some(definition) = def.fields.get(field) {
                        self.deprecation(&definition.directives, &format!("{name}.{field}"), value);
                        self.value(value, &definition.ty);
                    }
                }
            }
            _ => {}
        }
    }

    /// Records the use of an element of the schema that is deprecated.
    fn deprecation<T>(&mut self, directives: &DirectiveList, element: &str, at: &Node<T>) {
        let Some(directive) = directives.get("deprecated") else {
            return;
        };

        let reason = directive
            .specified_argument_by_name("reason")
            .and_then(|reason| reason.as_str());
        self.deprecated.push(Deprecated {
            element: element.to_owned(),
            reason: reason.unwrap_or(NO_REASON).to_owned(),
            line: self.line(at),
        });
    }

    fn line<T>(&self, node: &Node<T>) -> usize {
        node.location()
            .map_or(1, |span| self.lines.locate(span.offset()).line)
    }
}

/// Whether an argument is the size of a page, which svc limits. Arguments that a program declares
/// itself are its own matter.
fn is_page(arg: &ArgDef) -> bool {
    match arg.role {
        ArgRole::Limit | ArgRole::First | ArgRole::Last => true,
        _ => arg.spread && matches!(arg.rust.as_str(), "limit" | "first" | "last"),
    }
}
