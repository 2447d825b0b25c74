//! The user's own macro writes the item.

use svc::prelude::*;

macro_rules! entity {
    ($(#[$meta:meta])* $name:ident, $source:literal, $doc:literal, [$($field:ident: $ty:ty),*], $method:ident -> $out:ty, $default:literal) => {
        $(#[$meta])*
        #[doc = $doc]
        #[svc_type(sql_source = $source)]
        pub struct $name {
            $(pub $field: $ty,)*
        }

        #[svc_type]
        impl $name {
            fn $method(&self, #[svc(default = $default)] count: i32, ctx: &Context<'_>) -> $out {
                let _ = (count, ctx);
                Default::default()
            }
        }
    };
}

entity!(#[derive(Debug)] User, "v_user", "A person.", [id: Uuid, name: Option<String>], posts -> Vec<String>, 5);

macro_rules! queries_of {
    ($list:ident: $ty:ty, $one:ident($arg:ident: $arg_ty:ty) $body:block) => {
        #[svc::query]
        async fn $list() -> Vec<$ty>;

        #[svc::query]
        async fn $one($arg: $arg_ty) -> Option<$ty> $body
    };
}

queries_of!(users: User, user(id: Uuid) { let _ = id; None });

fn main() {
    use svc::__private::Object;

    let meta = <User as Object>::meta();
    assert_eq!(
        (meta.element.description, meta.source),
        (Some("A person."), Some("v_user"))
    );
    assert_eq!(meta.computed[0].args[0].default, Some("5"));
    let _ = queries![users, user];
}
