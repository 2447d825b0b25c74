//! Static descriptions of types and root fields, which the macros generate and the registry reads once at start.

use std::future::Future;
use std::pin::Pin;

use super::{Code, Guard, OnFailure, Registry, RootRules, TypeKey, TypeRef};

/// Names a Rust type's place in the registry, registering it on the way.
pub type TypeFn = fn(&mut Registry) -> TypeRef;

/// Like [`TypeFn`], for the places where only a named type may stand.
pub type KeyFn = fn(&mut Registry) -> TypeKey;

/// The future of one resolver call.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A name, a description and a deprecation: what every element of a schema carries.
#[derive(Debug, Clone, Copy)]
pub struct ElementMeta {
    /// The identifier in the Rust source, without `r#`.
    pub rust: &'static str,
    /// The GraphQL name when the source fixes it; otherwise the naming setting decides.
    pub name: Option<&'static str>,
    /// From the doc comment.
    pub description: Option<&'static str>,
    /// From `#[deprecated]`; an empty reason becomes the specification's default.
    pub deprecated: Option<&'static str>,
}

impl ElementMeta {
    /// Creates an element with nothing but its identifier.
    pub const fn new(rust: &'static str) -> Self {
        Self { rust, name: None, description: None, deprecated: None }
    }

    /// Gives it a fixed GraphQL name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Gives it a description, without the space around it.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        let description = description.trim_ascii();
        self.description = if description.is_empty() { None } else { Some(description) };
        self
    }

    /// Marks it as deprecated for a reason, which may be empty.
    #[must_use]
    pub const fn deprecated(mut self, reason: &'static str) -> Self {
        self.deprecated = Some(reason);
        self
    }
}

/// The place of an item in the program's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// As the compiler names it.
    pub file: &'static str,
    /// Counted from 1.
    pub line: u32,
}

/// An object type: a struct with `#[svc_type]`.
#[derive(Debug)]
pub struct ObjectMeta {
    /// The type's element; `rust` is its bare identifier.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The place of the Rust item.
    pub place: Place,
    /// The view or table with the rows, from `sql_source`.
    pub source: Option<&'static str>,
    /// The struct's fields.
    pub fields: &'static [FieldMeta],
    /// The methods of its `#[svc_type] impl` block.
    pub computed: &'static [ComputedMeta],
    /// The interfaces of `implements`.
    pub implements: &'static [KeyFn],
    /// The names given in `authorize_fields`.
    pub authorize_fields: &'static [&'static str],
}

/// A stored field of an object type.
#[derive(Debug)]
pub struct FieldMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The column or JSON key that holds the value.
    pub stored: &'static str,
    /// The field's type.
    pub ty: TypeFn,
    /// Set when the field leads to rows of another view.
    pub relation: Option<RelationMeta>,
    /// The conditions on the user, of which each must hold.
    pub guards: &'static [Guard],
    /// The line of the field in the file of its type; 0 where svc has made it.
    pub line: u32,
    /// Whether the program vouches that the value is never null, which `svc check` then does not look into.
    pub non_null: bool,
    /// The checks of the object, of which each must allow.
    pub checks: &'static [&'static dyn Code],
}

impl FieldMeta {
    /// Creates a field that holds its value.
    pub const fn new(element: ElementMeta, stored: &'static str, ty: TypeFn) -> Self {
        Self { element, stored, ty, relation: None, guards: &[], checks: &[], line: 0, non_null: false }
    }

    /// Creates a field that leads to rows of another view.
    pub const fn relation(element: ElementMeta, stored: &'static str, ty: TypeFn, relation: RelationMeta) -> Self {
        Self { relation: Some(relation), ..Self::new(element, stored, ty) }
    }

    /// The same at a line of the type's file.
    #[must_use]
    pub const fn at(mut self, line: u32) -> Self {
        self.line = line;
        self
    }

    /// The same for a value that the program knows never to be null.
    #[must_use]
    pub const fn non_null(mut self) -> Self {
        self.non_null = true;
        self
    }

    /// The same for users of whom each of the conditions holds.
    #[must_use]
    pub const fn guarded(mut self, guards: &'static [Guard]) -> Self {
        self.guards = guards;
        self
    }

    /// The same for objects that each of the checks allows.
    #[must_use]
    pub const fn checked(mut self, checks: &'static [&'static dyn Code]) -> Self {
        self.checks = checks;
        self
    }
}

/// A field with `#[relation]`.
#[derive(Debug)]
pub struct RelationMeta {
    /// Whether it leads to any number of rows.
    pub many: bool,
    /// The type of the rows.
    pub row: KeyFn,
    /// The column or key here.
    pub from: &'static str,
    /// The column or key there.
    pub to: &'static str,
}

/// A computed field: a method of a `#[svc_type] impl` block.
#[derive(Debug)]
pub struct ComputedMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The method's arguments without the receiver and the context.
    pub args: &'static [ArgMeta],
    /// The method's type.
    pub ty: TypeFn,
    /// Calls the method.
    pub run: &'static dyn Code,
    /// The conditions on the user, of which each must hold.
    pub guards: &'static [Guard],
    /// The checks of the object, of which each must allow.
    pub checks: &'static [&'static dyn Code],
    /// Its cost in the complexity; `None` for that of its kind.
    pub cost: Option<u32>,
}

/// An argument of an operation or a computed field, or a field of an input object.
#[derive(Debug)]
pub struct ArgMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The argument's type.
    pub ty: TypeFn,
    /// The default, as a GraphQL literal.
    pub default: Option<&'static str>,
}

/// An input object: a struct with `#[svc_input]`.
#[derive(Debug)]
pub struct InputMeta {
    /// The type's element.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The fields.
    pub fields: &'static [ArgMeta],
    /// An enum with `#[svc_input]`: exactly one field is given.
    pub one_of: bool,
}

/// An enum with `#[svc_enum]`.
#[derive(Debug)]
pub struct EnumMeta {
    /// The type's element.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The variants, in order.
    pub values: &'static [EnumValueMeta],
}

/// A variant of an enum.
#[derive(Debug)]
pub struct EnumValueMeta {
    /// `name` is always set: SCREAMING_SNAKE_CASE unless the source fixes it.
    pub element: ElementMeta,
    /// The text that the database holds for it.
    pub stored: &'static str,
}

/// An interface or a union: an enum over object types.
#[derive(Debug)]
pub struct AbstractMeta {
    /// The type's element.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The place of the Rust item.
    pub place: Place,
    /// The view with the rows of every member, from `sql_source`.
    pub source: Option<&'static str>,
    /// The fields of an interface; `None` makes a union.
    pub interface: Option<&'static [InterfaceFieldMeta]>,
    /// The object types of the variants.
    pub members: &'static [KeyFn],
}

/// A field that an interface promises.
#[derive(Debug)]
pub struct InterfaceFieldMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The field's type.
    pub ty: TypeFn,
    /// The field's arguments.
    pub args: &'static [ArgMeta],
}

/// The three kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Reads; root fields run concurrently.
    Query,
    /// Writes; root fields run in order.
    Mutation,
    /// A stream of events.
    Subscription,
}

/// A root field: a function with `#[svc::query]` or `#[svc::mutation]`.
#[derive(Debug)]
pub struct RootFieldMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The path of the Rust item, for messages.
    pub path: &'static str,
    /// The root type it belongs to.
    pub kind: OperationKind,
    /// The arguments without the context.
    pub args: &'static [ArgMeta],
    /// The field's type.
    pub ty: TypeFn,
    /// The code or the statement behind it.
    pub run: Run,
    /// The rules of authorization.
    pub rules: RootRules,
}

/// The code or the statement behind a root field.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// No body: one SQL statement.
    Planned(PlannedMeta),
    /// No body: a function of the database.
    Function(FunctionMeta),
    /// A body: the resolver.
    Code(&'static dyn Code),
}

/// The number of rows that a planned field answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `Vec<T>`: a page of rows.
    List,
    /// `Option<T>`: a row or null.
    Optional,
    /// `T`: a row; its absence is an error.
    One,
    /// `Connection<T>`: a page of rows with cursors.
    Connection,
    /// `Aggregate<T>`: what is computed over all rows.
    Aggregate,
}

/// A planned root field.
#[derive(Debug, Clone, Copy)]
pub struct PlannedMeta {
    /// The number of rows.
    pub shape: Shape,
    /// The type of a row.
    pub row: KeyFn,
}

/// A root field that calls a function of the database.
#[derive(Debug, Clone, Copy)]
pub struct FunctionMeta {
    /// `name` or `schema.name`.
    pub name: &'static str,
    /// The values of the request that the function gets before the arguments.
    pub context: &'static [&'static str],
    /// The fate of a call with a failing status.
    pub on_failure: OnFailure,
    /// Whether the Rust type of each argument takes a value.
    pub checks: &'static [Check],
    /// The place of the Rust function.
    pub place: Place,
}

/// The members of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMeta {
    /// Of a status that means success.
    pub success: ResultMember,
    /// Of every other.
    pub error: ResultMember,
}

/// A member of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMember {
    /// Its GraphQL name.
    pub name: &'static str,
    /// The Rust name of the field that holds the entity.
    pub entity: Option<&'static str>,
}

/// Reads a coerced value into its Rust type, to see whether it fits.
pub type Check = fn(Option<async_graphql::Value>) -> Result<(), super::InputError>;
