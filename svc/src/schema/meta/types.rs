//! Types, as macros register them.

use super::element::{Check, ElementMeta, KeyFn, Place, TypeFn};
use super::nested::NestedMeta;
use super::relation::RelationMeta;
use super::rule::InputRule;
use crate::schema::{Code, Guard};

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

/// A computed field: a method of a `#[svc_type] impl` block.
#[derive(Debug)]
pub struct ComputedMeta {
    /// Name, description, deprecation.
    pub element: ElementMeta,
    /// The method's arguments without the receiver and the context.
    pub args: &'static [ArgMeta],
    /// The method's type.
    pub ty: TypeFn,
    /// Computes it.
    pub run: ComputedRun,
    /// The conditions on the user, of which each must hold.
    pub guards: &'static [Guard],
    /// The checks of the object, of which each must allow.
    pub checks: &'static [&'static dyn Code],
    /// Its cost in the complexity; `None` for that of its kind.
    pub cost: Option<u32>,
}

/// The code or the function behind a computed field.
#[derive(Debug, Clone, Copy)]
pub enum ComputedRun {
    /// A method with a body.
    Method(&'static dyn Code),
    /// No body: a function of the database, which gets the row.
    Function(&'static RowFunctionMeta),
}

/// The cost of a function of a row that names none: more than a plain method, as each runs in the statement, and less
/// than an `async` one, as it sends none of its own.
pub const ROW_FUNCTION_COST: u32 = 5;

/// A function of the database that computes a value of a row.
#[derive(Debug)]
pub struct RowFunctionMeta {
    /// `name` or `schema.name`.
    pub name: &'static str,
    /// Whether the Rust type of each argument takes a value.
    pub checks: &'static [Check],
    /// The place of the Rust item.
    pub place: Place,
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
    /// The meaning of null for an argument by which rows are chosen.
    pub null: NullArgument,
    /// The rules on values, beyond the type.
    pub rules: &'static [InputRule],
    /// The rows of another table that a field of an input object holds.
    pub nested: Option<NestedMeta>,
}

/// The meaning of null for an argument by which rows are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NullArgument {
    /// All rows where the field is never null, those without a value where it may be.
    #[default]
    ByField,
    /// All rows, as if the argument were left out.
    AllRows,
    /// The rows without a value.
    IsNull,
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
