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

use access::{field_check, guard_attribute};
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

#[doc = include_str!("docs/subscription.md")]
#[proc_macro_attribute]
pub fn subscription(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, root_field::subscription)
}

/// A guard: the field requires a user. It needs the feature `auth`, and does not compile without
/// it.
///
/// Guards go below `#[svc::query]`, `#[svc::mutation]` or `#[svc::subscription]` on a function, or
/// on a field or a method of an `#[svc_type]`. Several guards must all pass, and nothing of the
/// field runs before them. A request without a user gets the code `UNAUTHENTICATED`; any other
/// missing requirement gets `FORBIDDEN`, and `extensions` list the requirements. The schema lists
/// them in the field's description.
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
        guard_attribute::misplaced("requires_auth", item, errors)
    })
}

/// A guard: the user has a permission, such as `#[svc::requires_permission("posts:write")]`. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_permission(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard_attribute::misplaced("requires_permission", item, errors)
    })
}

/// A guard: the user has a role, such as `#[svc::requires_role("editor")]`. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_role(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard_attribute::misplaced("requires_role", item, errors)
    })
}

/// A guard: the user has at least one of the permissions. See
/// [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_any_permission(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard_attribute::misplaced("requires_any_permission", item, errors)
    })
}

/// A guard: the user has at least one of the roles. See [`requires_auth`](macro@requires_auth).
#[proc_macro_attribute]
pub fn requires_any_role(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, |_, item, errors| {
        guard_attribute::misplaced("requires_any_role", item, errors)
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

#[doc = include_str!("docs/svc_type.md")]
#[proc_macro_attribute]
pub fn svc_type(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, object::expand)
}

#[doc = include_str!("docs/svc_input.md")]
#[proc_macro_attribute]
pub fn svc_input(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, input::expand)
}

#[doc = include_str!("docs/svc_enum.md")]
#[proc_macro_attribute]
pub fn svc_enum(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, enumeration::expand)
}

#[doc = include_str!("docs/svc_interface.md")]
#[proc_macro_attribute]
pub fn svc_interface(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, abstract_type::interface)
}

#[doc = include_str!("docs/svc_union.md")]
#[proc_macro_attribute]
pub fn svc_union(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, abstract_type::union)
}

#[doc = include_str!("docs/svc_result.md")]
#[proc_macro_attribute]
pub fn svc_result(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, result::expand)
}

#[doc = include_str!("docs/svc_scalar.md")]
#[proc_macro_attribute]
pub fn svc_scalar(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, scalar::expand)
}

#[doc = include_str!("docs/with_metrics.md")]
#[proc_macro_attribute]
pub fn with_metrics(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, metered::expand)
}

#[doc = include_str!("docs/trace_graphql_operation.md")]
#[proc_macro_attribute]
pub fn trace_graphql_operation(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_with(args, item, traced::operation)
}

#[doc = include_str!("docs/trace_database_query.md")]
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
