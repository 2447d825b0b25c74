//! Errors of schemas.

/// An invalid schema. Each error names the Rust item to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Two Rust items have the same GraphQL name.
    #[error(
        "the GraphQL type `{name}` is declared twice, by `{first}` and by `{second}`; \
         rename one with `name = \"…\"`"
    )]
    TypeClash {
        /// The GraphQL name.
        name: String,
        /// One Rust item.
        first: String,
        /// The other.
        second: String,
    },
    /// Two fields or arguments of one item have the same GraphQL name.
    #[error(
        "`{first}` and `{second}` of `{path}` both become `{name}` in GraphQL; rename one with `#[svc(name = \"…\")]`"
    )]
    FieldClash {
        /// The GraphQL name.
        name: String,
        /// One Rust name.
        first: String,
        /// The other.
        second: String,
        /// The Rust item.
        path: String,
    },
    /// A field derived from a relation has the name of another field.
    #[error(
        "`{first}` has the name `{name}` already, which `{second}` of `{path}` gets in GraphQL; give it another with `{key} = \"…\"`"
    )]
    BesideClash {
        /// The GraphQL name.
        name: String,
        /// The Rust name of the field that already has it.
        first: String,
        /// The Rust name of the other field.
        second: String,
        /// The Rust item.
        path: String,
        /// The key of `#[relation]`.
        key: &'static str,
    },
    /// A field of a junction type has the name of a field that every edge has.
    #[error(
        "`{field}` of `{joining}` becomes `{name}` in GraphQL, as every edge has it beside the row that `{path}` leads \
         to; rename it with `#[svc(name = \"…\")]`"
    )]
    EdgeClash {
        /// The GraphQL name.
        name: String,
        /// The Rust name of the field.
        field: String,
        /// The junction type.
        joining: String,
        /// The relation.
        path: String,
    },
    /// Rows with a junction type have a field with the name of the order by junction fields.
    #[error(
        "`{row}` has a field `edge`, and `{path}` leads to such rows through a type, so that `orderBy` has `edge` for \
         what joins them; give the field another name, in Rust and where it is stored"
    )]
    EdgeOrderClash {
        /// The type of the rows.
        row: String,
        /// The relation.
        path: String,
    },
    /// A deprecated argument or field of an input object that clients are required to send.
    #[error(
        "`{name}` of `{path}` is deprecated, but clients have to send it; make it an `Option` or give it a default, so \
         that they can leave it out, or remove `#[deprecated]`"
    )]
    DeprecatedRequired {
        /// Its Rust name.
        name: String,
        /// The Rust item.
        path: String,
    },
    /// A rule on the values of an argument or of an input object's field that cannot be parsed.
    #[error("a rule on `{name}` of `{path}` cannot be read: {why}")]
    BadRule {
        /// Its Rust name.
        name: String,
        /// The Rust item.
        path: String,
        /// The reason.
        why: String,
    },
    /// One function is listed more than once.
    #[error("the {kind} `{path}` is listed twice; remove one")]
    ListedTwice {
        /// `query`, `mutation` or `subscription`.
        kind: &'static str,
        /// The function.
        path: String,
    },
    /// Two functions have the same name.
    #[error(
        "the {kind} `{name}` is listed twice, as `{first}` and as `{second}`; rename one with `name = \"…\"`"
    )]
    OperationClash {
        /// `query`, `mutation` or `subscription`.
        kind: &'static str,
        /// The GraphQL name.
        name: String,
        /// One Rust item.
        first: String,
        /// The other.
        second: String,
    },
    /// An object without fields.
    #[error("`{path}` has no fields in GraphQL; give it at least one that is not skipped")]
    Empty {
        /// The Rust item.
        path: String,
    },
    /// There is no query.
    #[error("no query is registered; a GraphQL schema needs at least one: `.queries(queries![…])`")]
    NoQuery,
    /// A default value does not fit its type.
    #[error(
        "the default of `{argument}` of `{path}`, `{literal}`, is not a value of `{expected}`: {why}"
    )]
    BadDefault {
        /// The argument or input field.
        argument: String,
        /// The Rust item.
        path: String,
        /// The default, as GraphQL.
        literal: String,
        /// The type's name.
        expected: String,
        /// The reason.
        why: String,
    },
    /// The row type of a planned function has no view.
    #[error(
        "`{path}` has no body, and its row type `{row}` has no view; \
         write `#[svc_type(sql_source = \"v_…\")]` on `{row}`, or give the function a body"
    )]
    NoSource {
        /// The function.
        path: String,
        /// The row's Rust item.
        row: String,
    },
    /// A function of the database computes a field of a type without rows.
    #[error(
        "`{path}` is computed by a function that gets a row, and `{row}` has no view; write \
         `#[svc_type(sql_source = \"v_…\")]` on `{row}`, or give the method a body"
    )]
    RowFunctionWithoutSource {
        /// The field.
        path: String,
        /// The type's Rust item.
        row: String,
    },
    /// A function of the database computes a field of rows without an `id`.
    #[error(
        "`{path}` is computed by a function that gets a row, and `{row}` has no stored field `id`, by which the row of a \
         value is found; give it one"
    )]
    RowFunctionWithoutId {
        /// The field.
        path: String,
        /// The type's Rust item.
        row: String,
    },
    /// A function of the database computes an object.
    #[error(
        "`{path}` is computed by a function of the database, which gives a scalar, an enum or a list of them; return one, \
         or give the method a body"
    )]
    RowFunctionType {
        /// The field.
        path: String,
    },
    /// The target type of a relation has no view.
    #[error(
        "the relation `{path}` leads to `{row}`, which has no view; write `#[svc_type(sql_source = \"v_…\")]` on `{row}`"
    )]
    RelationWithoutSource {
        /// The field.
        path: String,
        /// The row's Rust item.
        row: String,
    },
    /// A planned function's argument matches no stored field.
    #[error(
        "the argument `{argument}` of `{path}` matches no stored field of `{row}`; \
         an argument of a function without a body filters on the field of its name"
    )]
    UnknownFilter {
        /// The argument.
        argument: String,
        /// The function.
        path: String,
        /// The row's Rust item.
        row: String,
    },
    /// An argument for a function or SQL has the name of an argument for the rows' conditions,
    /// order or page.
    #[error(
        "the argument `{argument}` of `{path}` goes to what the rows come from, and its name is that of the rows' own \
         `{argument}`; give it another name"
    )]
    HiddenArgument {
        /// The argument.
        argument: String,
        /// The function.
        path: String,
    },
    /// A planned function's argument and the field that it filters on have types that cannot be
    /// compared.
    #[error(
        "the argument `{argument}` of `{path}` has the type `{given}`, and the field of `{row}` that it filters on has \
         `{expected}`; give the argument the field's type, or a list of it"
    )]
    FilterType {
        /// The argument.
        argument: String,
        /// The function.
        path: String,
        /// The argument's type.
        given: String,
        /// The row's Rust item.
        row: String,
        /// The field's type.
        expected: String,
    },
    /// A mutation uses a context value that is not provided.
    #[error(
        "`{path}` gets the context value `{name}`, which is not known; add `.context_value(\"{name}\", |ctx| …)` to the \
         `AppOptions`"
    )]
    UnknownContext {
        /// The mutation.
        path: String,
        /// The value's name.
        name: String,
    },
    /// Input objects that require each other, so that no value of them can be written.
    #[error(
        "an input object that needs itself can never be written: {path}; make one of these fields an `Option` or a `Vec`"
    )]
    EndlessInput {
        /// The fields of the cycle, each with its Rust item.
        path: String,
    },
    /// A function of the database returns a list of results.
    #[error(
        "`{path}` answers with a list of results; answer with one result whose entity is a list"
    )]
    ListOfResults {
        /// The mutation.
        path: String,
    },
    /// A result with the field `query` that is not the result of a mutation.
    #[error(
        "`{path}` leads to `{result}`, whose success has the field `query`, but {why}; remove `query` from its \
         `#[svc_result]`, or use another type here"
    )]
    MisplacedQuery {
        /// The field or the type.
        path: String,
        /// The Rust item of the result.
        result: String,
        /// The reason.
        why: &'static str,
    },
    /// The first field of the error in a mutation's result is a value instead of the entity.
    #[error(
        "the first field of `{error}`, which `{path}` answers with, is the entity that was in the way, and `{field}` is a \
         value; write an `Option` of an object before it, such as `user: Option<User>`"
    )]
    PlainEntity {
        /// The first field.
        field: String,
        /// The GraphQL name of the error.
        error: String,
        /// The mutation.
        path: String,
    },
    /// A mutation whose arguments or return type do not fit the table that it writes.
    #[error("`{path}` cannot write to a table: {why}")]
    BadWrite {
        /// The mutation.
        path: String,
        /// The part that does not fit, and a suggested alternative.
        why: String,
    },
    /// A page parameter where only a single argument is possible.
    #[error(
        "`{argument}` of `{path}` is a `Page` or `CursorPage`, which stands for several arguments of a function with a \
         body; take it there by itself, or write its fields out here"
    )]
    MisplacedPage {
        /// The argument or input field.
        argument: String,
        /// The Rust item.
        path: String,
    },
    /// A file where files are not accepted.
    #[error(
        "`{argument}` of `{path}` is or holds an `Upload`, which only a mutation with a body gets; give it one, or take \
         another type"
    )]
    MisplacedFile {
        /// The argument.
        argument: String,
        /// The Rust item.
        path: String,
    },
    /// A member does not implement an interface.
    #[error("`{member}` is a member of the interface `{interface}` but {why}")]
    BrokenPromise {
        /// The object's Rust item.
        member: String,
        /// The interface's Rust item.
        interface: String,
        /// The difference from the interface.
        why: String,
    },
    /// An argument would be compared with a field that has checks, so that the comparison would
    /// reveal its value.
    #[error(
        "the argument `{argument}` of `{path}` would be compared with a field of `{row}` that `authorize_field` checks \
         for each object; give the function a body that decides, or guard the field in place of the check"
    )]
    CheckedFilter {
        /// The argument.
        argument: String,
        /// The function.
        path: String,
        /// The type of the rows.
        row: String,
    },
    /// An argument selects rows by several gated values, but only one of them would be authorized.
    #[error(
        "the argument `{argument}` of `{path}` chooses rows by several gated values (a relation and the key there, or \
         columns of `conflict`), of which one would be asked for; gate one of them, or give the function a body that \
         decides"
    )]
    TwoGates {
        /// The argument.
        argument: String,
        /// The function.
        path: String,
    },
    /// A page is ordered by a gated field by default, so that its cursors would reveal the value.
    #[error(
        "the pages of `{path}` are ordered by `{key}` unless clients ask for another order, and their cursors would tell \
         its value to clients who may not see it; name something in `order_by` that everybody may see, or open the field"
    )]
    ToldByOrder {
        /// The key of the order.
        key: String,
        /// The function or the relation.
        path: String,
    },
    /// A type listed as a node whose rows have no id that could be exposed.
    #[error(
        "`{path}` is listed in `nodes`, but {why}; a node has a `sql_source` and an `id` that is never null"
    )]
    NotANode {
        /// The Rust item.
        path: String,
        /// The reason.
        why: &'static str,
    },
    /// `authorize_fields` names an unknown field.
    #[error("`authorize_fields` of `{path}` names `{field}`, which is not one of its fields")]
    UnknownGate {
        /// The Rust item.
        path: String,
        /// The name.
        field: String,
    },
    /// A name that is not valid in GraphQL.
    #[error(
        "`{name}` of `{path}` is not a GraphQL name; names match /[_A-Za-z][_0-9A-Za-z]*/ and do not begin with `__`"
    )]
    BadName {
        /// The name.
        name: String,
        /// The Rust item.
        path: String,
    },
    /// An error that only shows in the whole schema.
    #[error("the schema is not valid: {0}")]
    Invalid(String),
}

impl SchemaError {
    pub(super) fn misplaced_page((argument, path): (&str, &str)) -> Self {
        Self::MisplacedPage {
            argument: argument.to_owned(),
            path: path.to_owned(),
        }
    }
}
