//! Page arguments of resolvers.

use async_graphql::Value;

use svc_core::schema::{
    ArgMeta, ElementMeta, Input, InputError, InputFields, NullArgument, Registry, TypeRef,
};

/// The `limit` and `offset` arguments of a resolver, regardless of the parameter's name.
///
/// Pass it to [`Find::page`](super::Find::page). A value that the client omits keeps the resolver's
/// setting. A negative number, and a limit above [`Limits::max_page`](crate::Limits::max_page), are
/// reported to the client as errors.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// #[svc::query]
/// async fn members(ctx: &Context<'_>, page: Page) -> Result<Find<User>> {
///     Ok(ctx.db().find::<User>().page(page))
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Page {
    /// The maximum number of rows; [`Limits::default_page`](crate::Limits::default_page) if
    /// omitted.
    pub limit: Option<i32>,
    /// The number of rows to skip.
    pub offset: Option<i32>,
}

/// The `first`, `after`, `last` and `before` arguments of a resolver (GraphQL Cursor Connections
/// Specification), regardless of the parameter's name.
///
/// Pass it to [`Find::paginate`](super::Find::paginate). Without `first` and `last` a page has
/// [`Limits::default_page`](crate::Limits::default_page) rows. Specifying both, or a cursor of
/// another list or order, is reported to the client as an error.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// #[svc::query]
/// async fn members(ctx: &Context<'_>, page: CursorPage) -> Result<Connection<User>> {
///     Ok(ctx.db().find::<User>().order_by(asc("name")).paginate(page))
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CursorPage {
    /// At most this many rows, from the start.
    pub first: Option<i32>,
    /// Only rows after the one with this cursor.
    pub after: Option<String>,
    /// At most this many rows, from the end.
    pub last: Option<i32>,
    /// Only rows before the one with this cursor.
    pub before: Option<String>,
}

const fn arg(
    rust: &'static str,
    description: &'static str,
    ty: fn(&mut Registry) -> TypeRef,
) -> ArgMeta {
    let element = ElementMeta {
        rust,
        name: None,
        description: Some(description),
        deprecated: None,
    };

    ArgMeta {
        element,
        ty,
        default: None,
        null: NullArgument::ByField,
        rules: &[],
        nested: None,
    }
}

static PAGE: [ArgMeta; 2] = [
    arg(
        "limit",
        "At most this many rows.",
        <Option<i32> as Input>::type_ref,
    ),
    arg(
        "offset",
        "Skips this many rows.",
        <Option<i32> as Input>::type_ref,
    ),
];

static CURSOR_PAGE: [ArgMeta; 4] = [
    arg(
        "first",
        "At most this many rows, from the start.",
        <Option<i32> as Input>::type_ref,
    ),
    arg(
        "after",
        "Only rows after the one with this cursor.",
        <Option<String> as Input>::type_ref,
    ),
    arg(
        "last",
        "At most this many rows, from the end.",
        <Option<i32> as Input>::type_ref,
    ),
    arg(
        "before",
        "Only rows before the one with this cursor.",
        <Option<String> as Input>::type_ref,
    ),
];

impl Input for Page {
    fn type_ref(_: &mut Registry) -> TypeRef {
        TypeRef::Spread(&PAGE)
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        let mut fields = InputFields::new(value)?;
        Ok(Self {
            limit: fields.take("limit")?,
            offset: fields.take("offset")?,
        })
    }
}

impl Input for CursorPage {
    fn type_ref(_: &mut Registry) -> TypeRef {
        TypeRef::Spread(&CURSOR_PAGE)
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        let mut fields = InputFields::new(value)?;
        Ok(Self {
            first: fields.take("first")?,
            after: fields.take("after")?,
            last: fields.take("last")?,
            before: fields.take("before")?,
        })
    }
}
