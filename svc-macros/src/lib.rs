//! The attribute macros of svc.
//!
//! Programs depend on `svc`, which re-exports the macros. Each family has a folder with three
//! stages, parse → model → expand; a mistake never hides the item it is in, or the next mistake.

mod access;
mod argument;
mod element;
mod errors;
mod fallback;
mod family;
mod function;
mod keys;
mod krate;
mod name;
mod nearest;
mod types;

use proc_macro::TokenStream;

use access::{field_check, guard};
use family::{
    Family, abstract_type, database_test, enumeration, input, metered, object, result, root_field,
    scalar, traced,
};

#[doc = include_str!("docs/query.md")]
#[proc_macro_attribute]
pub fn query(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, root_field::query)
}

#[doc = include_str!("docs/mutation.md")]
///
/// Keys: `function = "schema.name"` names the function of the database. `context = ["…"]` lists the
/// values of the request passed before the arguments. `invalidates = [Post]` lists the row types it
/// writes in addition to its return type, so that cached responses with them are invalidated.
/// `name`, `authorizer`, `rate_limit` and `crate` work as for [`query`](macro@query).
#[proc_macro_attribute]
pub fn mutation(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, root_field::mutation)
}

/// A subscription: a function that returns a stream of events, or a `Result` with one.
///
/// Each event is a value that a query's function may return: a value, a `Result` with one, or a
/// query such as `FindOne<T>`. It is completed with the client's selection. An error in one event
/// does not affect the others; an error in place of the stream rejects the subscription.
///
/// ```
/// use svc::futures_util::stream;
/// use svc::prelude::*;
///
/// #[svc::subscription]
/// async fn countdown(#[svc(default = 3)] from: i32) -> impl Stream<Item = i32> {
///     stream::iter((0..=from).rev())
/// }
/// # let options = AppOptions::new().subscriptions(subscriptions![countdown]);
/// ```
///
/// Without a body, it returns the rows named by the events of a channel. Its arguments filter as in
/// a query, and are compared with the event before anything is read:
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_post")]
/// # struct Post { id: Uuid, title: String }
/// #[svc::subscription(channel = "post_changed")]
/// async fn post_changed(id: Option<Uuid>) -> Post;
/// # let options = AppOptions::new().subscriptions(subscriptions![post_changed]);
/// ```
///
/// Keys: `channel = "…"`, and `name`, `authorizer`, `rate_limit` and `crate` as for
/// [`query`](macro@query). Guards go below it as below a query, and are checked when the client
/// subscribes.
#[proc_macro_attribute]
pub fn subscription(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, root_field::subscription)
}

/// A guard: the field requires a user. It needs the feature `auth`, and does not compile without
/// it.
///
/// Guards go below `#[svc::query]` or one of its siblings on a function, or on a field or a method
/// of an `#[svc_type]`. Several guards must all pass, and nothing of the field runs before them. A
/// request without a user gets the code `UNAUTHENTICATED`; any other missing requirement gets
/// `FORBIDDEN`, and `extensions` list the requirements. The schema lists them in the field's
/// description.
///
/// ```ignore
/// use svc::prelude::*;
///
/// #[svc::query]
/// #[svc::requires_auth]
/// fn user_id(ctx: &Context<'_>) -> Result<String> {
///     Ok(ctx.require_user()?.user_id.clone())
/// }
///
/// #[svc::mutation(function = "app.delete_post")]
/// #[svc::requires_permission("posts:delete")]
/// #[svc::requires_any_role("editor", "admin")]
/// async fn delete_post(id: Uuid) -> bool;
/// ```
#[proc_macro_attribute]
pub fn requires_auth(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard::misplaced("requires_auth", item, errors)
    })
}

/// A guard: the user has a permission, such as `#[svc::requires_permission("posts:write")]`. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_permission(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard::misplaced("requires_permission", item, errors)
    })
}

/// A guard: the user has a role, such as `#[svc::requires_role("editor")]`. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_role(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard::misplaced("requires_role", item, errors)
    })
}

/// A guard: the user has at least one of the permissions. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_any_permission(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard::misplaced("requires_any_permission", item, errors)
    })
}

/// A guard: the user has at least one of the roles. See [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_any_role(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard::misplaced("requires_any_role", item, errors)
    })
}

/// A check of a field with access to the object: `#[svc::authorize_field(check)]` on a field or a
/// method of an `#[svc_type]`, above or below `#[svc(…)]`.
///
/// The check is a function of the object and the request, `async` or not. It returns a `bool`, an
/// `AuthorizationDecision`, or a `Result` with either. It runs for each object whose field is
/// selected, before anything of the field runs; a denial makes the field null with an error.
/// Several checks must all allow access.
///
/// ```ignore
/// use svc::prelude::*;
///
/// #[svc_type(sql_source = "v_user")]
/// struct User {
///     id: Uuid,
///     #[svc::authorize_field(is_oneself)]
///     email: Option<String>,
/// }
///
/// fn is_oneself(user: &User, request: AuthorizationRequest) -> bool {
///     request.context().header("x-user-id") == Some(user.id.to_string().as_str())
/// }
/// ```
#[proc_macro_attribute]
pub fn authorize_field(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        field_check::misplaced(item, errors)
    })
}

/// An object type: a struct for its stored fields, an `impl` block for its computed fields.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_interface(fields(id: Uuid))]
/// # enum Node { User(User) }
/// /// A person who writes posts.
/// #[svc_type(sql_source = "v_user", authorize_fields = ["email"], implements = [Node])]
/// pub struct User {
///     pub id: Uuid,
///     #[svc(name = "fullName", stored = "full_name")]
///     pub name: String,
///     pub email: Option<String>,
///     #[svc(skip)]
///     pub cached: bool,
/// }
///
/// #[svc_type]
/// impl User {
///     /// The name, shouted.
///     fn loud(&self) -> String {
///         self.name.to_uppercase()
///     }
///     #[svc(skip)]
///     fn helper(&self) {}
/// }
/// ```
///
/// A field of type `One<T>`, `Option<One<T>>` or `Many<T>` with `#[relation]` leads to rows of
/// another view; `#[relation(from = "…", to = "…")]` names the key here and the key there. See
/// `svc::One` for more.
///
/// Doc comments are descriptions, as are `#[doc = include_str!("…")]` and `#[doc = concat!(…)]`.
///
/// `implements` names interfaces that have the struct as a variant. It only informs readers: the
/// variant alone makes the struct a member.
///
/// Attributes of other macros stay unchanged, also in `#[cfg_attr(…)]`. Fields themselves cannot be
/// conditional.
///
/// Keys on the struct: `sql_source`, `name`, `implements`, `authorize_fields`,
/// [`crate`](macro@query#a-renamed-dependency). Keys on a field: `name`, `stored`, `skip`, and
/// `non_null`, which asserts to `svc check` that the view has no null there. Keys on a method:
/// `name`, `cost`, `skip`, and `function = "schema.name"` on a method without a body, which a
/// function of the database computes from the row. Keys on its arguments: `name`, `default`.
#[proc_macro_attribute]
pub fn svc_type(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, object::expand)
}

/// An input object: a struct, or an enum for exactly one variant per value (`@oneOf`).
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_enum]
/// # enum Role { Member }
/// #[svc_input]
/// struct NewUser {
///     name: String,
///     #[svc(default = MEMBER)]
///     role: Role,
/// }
///
/// #[svc_input]
/// enum UserBy {
///     Id(Uuid),
///     Email(String),
/// }
/// ```
///
/// A blank `String` is rejected, also in an `Option` or a `Patch`, unless the field has
/// `#[svc(allow_blank)]`.
///
/// Keys on the type: `name`, `crate`. Keys on a field: `name`, `default`, `allow_blank`, and the
/// rules on values `length(1..=80)`, `range(0..)`, `pattern = "…"` and `not_null`, which also apply
/// to arguments of functions.
#[proc_macro_attribute]
pub fn svc_input(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, input::expand)
}

/// A GraphQL enum.
///
/// ```
/// use svc::prelude::*;
///
/// #[svc_enum]
/// enum Role {
///     Admin,
///     #[svc(name = "MEMBER", stored = "m")]
///     Member,
///     #[deprecated(note = "use `MEMBER`")]
///     Guest,
/// }
/// ```
///
/// Keys on the enum: `name`, `crate`. Keys on a variant: `name`, `stored`. The GraphQL name is the
/// variant's in SCREAMING_SNAKE_CASE, and the stored text is the GraphQL name.
#[proc_macro_attribute]
pub fn svc_enum(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, enumeration::expand)
}

/// An interface: an enum over the object types that implement it.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type]
/// # struct User { id: Uuid, created_at: DateTime<Utc> }
/// # #[svc_type(sql_source = "v_post")]
/// # struct Post { id: Uuid, created_at: DateTime<Utc> }
/// #[svc_interface(sql_source = "v_node", fields(
///     /// Never reused.
///     id: Uuid,
///     #[svc(name = "createdAt")]
///     created_at: DateTime<Utc>,
/// ))]
/// enum Node {
///     User(User),
///     Post(Post),
/// }
/// ```
///
/// Keys: `sql_source`, `name`, `fields(…)`, `crate`. Keys on a field: `name`.
#[proc_macro_attribute]
pub fn svc_interface(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, abstract_type::interface)
}

/// A union: an enum over object types.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// # #[svc_type(sql_source = "v_post")]
/// # struct Post { id: Uuid, created_at: DateTime<Utc> }
/// #[svc_union(sql_source = "v_search")]
/// enum SearchResult {
///     User(User),
///     Post(Post),
/// }
/// ```
///
/// Keys: `sql_source`, `name`, `crate`.
#[proc_macro_attribute]
pub fn svc_union(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, abstract_type::union)
}

/// The result of a mutation: a union of a success and an error, with the fields common to all
/// results.
///
/// ```
/// use svc::prelude::*;
///
/// # #[svc_type(sql_source = "v_user")]
/// # struct User { id: Uuid, name: String }
/// # #[svc_input]
/// # struct NewUser { name: String }
/// #[svc_result]
/// enum CreateUserResult {
///     Success { user: Option<User> },
///     Error,
/// }
///
/// #[svc::mutation(function = "app.create_user")]
/// async fn create_user(input: NewUser) -> CreateUserResult;
/// ```
///
/// It generates the structs `CreateUserResultSuccess` and `CreateUserResultError`, named
/// `CreateUserSuccess` and `CreateUserError` in GraphQL. The first has the fields `status`,
/// `message`, `updated_fields`, `id` and the fields of its variant; the second has `status`,
/// `message`, `code`, `errors` and the fields of its variant. The first field of a variant is the
/// entity; `cascade` and `metadata` are filled from the function's columns of these names, and
/// further fields from the keys of its `metadata`.
///
/// The structs have the enum's derives, conditions and lints, and the attributes of their variants.
/// So `#[serde(tag = "…")]` on the enum and `#[serde(rename_all = "…")]` on a variant work as they
/// do without svc.
///
/// Keys on the enum: `name`, `crate`. Keys on a variant: `name`. Keys on a field: as for
/// [`svc_type`](macro@svc_type).
#[proc_macro_attribute]
pub fn svc_result(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, result::expand)
}

#[doc = include_str!("docs/svc_scalar.md")]
#[proc_macro_attribute]
pub fn svc_scalar(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, scalar::expand)
}

/// Includes the calls of the program's own `async` function in the metrics of client operations:
/// how long each takes, and whether its `Result` is an error. It is the function
/// `svc::metrics::with_metrics` around the whole body.
///
/// ```
/// use svc::metrics::with_metrics;
/// use svc::prelude::*;
///
/// #[with_metrics(operation_type = "mutation", name = "importUsers")]
/// async fn import(lines: &[String]) -> Result<usize> {
///     Ok(lines.len())
/// }
/// ```
///
/// Keys: `operation_type`, `"query"` by default; `name`, by default the function's; `crate`.
#[proc_macro_attribute]
pub fn with_metrics(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, metered::expand)
}

/// Runs each call of the program's own `async` function in the span of an operation that the
/// program executes itself. It is the function `svc::trace::trace_graphql_operation` around the
/// whole body.
///
/// ```
/// use svc::prelude::*;
/// use svc::trace::trace_graphql_operation;
///
/// #[trace_graphql_operation("mutation", "ImportUsers")]
/// async fn import(lines: &[String]) -> Result<usize> {
///     Ok(lines.len())
/// }
/// ```
///
/// It takes the type of the operation, which is `query`, `mutation` or `subscription`, and its
/// name. If the function returns a `Result`, the status of the span tells whether it is an error.
/// Its key is `crate`.
#[proc_macro_attribute]
pub fn trace_graphql_operation(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, traced::operation)
}

/// Runs each call of the program's own `async` function in the span of a statement that the program
/// sends through sqlx, or to another database. It is the function
/// `svc::trace::trace_database_query` around the whole body, without the text of the statement.
///
/// ```
/// use svc::prelude::*;
/// use svc::trace::trace_database_query;
///
/// #[trace_database_query("SELECT", "tb_order")]
/// async fn count_orders(pool: &svc::sqlx::PgPool) -> Result<i64> {
///     Ok(svc::sqlx::query_scalar("SELECT count(*) FROM tb_order").fetch_one(pool).await?)
/// }
/// ```
///
/// It takes the operation and the table. If the function returns a `Result`, the status of the span
/// tells whether it is an error. Its key is `crate`.
#[proc_macro_attribute]
pub fn trace_database_query(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, traced::statement)
}

#[doc = include_str!("docs/test.md")]
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, database_test::expand)
}

fn expand_with(args: TokenStream, item: TokenStream, family: Family) -> TokenStream {
    let mut errors = errors::Errors::default();
    let mut tokens = family(args.into(), item.into(), &mut errors);

    // Beside the item, so that its name still resolves where the program uses it.
    tokens.extend(errors.into_tokens());
    tokens.into()
}
