//! Types, names and bodies that arrive through `macro_rules!` as identifiers and tokens.
#![allow(dead_code, unused_variables)]
// It would put commas into the tokens that are passed on.
#![cfg_attr(rustfmt, rustfmt_skip)]

use svc::prelude::*;

macro_rules! entity {
    ($(#[$m:meta])* $name:ident { $($field:ident: $t:ident),* $(,)? } $($body:tt)*) => {
        $(#[$m])*
        #[svc_type(sql_source = "v_user")]
        pub struct $name { $(pub $field: $t,)* }
        #[svc_type]
        impl $name { $($body)* }
    };
}
entity!(User { id: Uuid, name: String } fn loud(&self) -> String { self.name.to_uppercase() } async fn later(&self, n: i32) -> i32 { n });

macro_rules! entity_ty {
    ($name:ident, $t:ident) => {
        #[svc_type(sql_source = "v_a")]
        struct $name { id: $t }
        #[svc_type]
        impl $name { fn get(&self) -> $t { self.id } fn arg(&self, x: $t) -> $t { x } }
    };
}
entity_ty!(A, i32);

macro_rules! input {
    ($name:ident, $t:ident, $($f:ident),*) => {
        #[svc_input]
        struct $name { $($f: $t),* }
        #[svc_input]
        enum By { Id($t) }
    };
}
input!(NewUser, String, value, fields, name);

macro_rules! en {
    ($name:ident, $($v:ident),*) => { #[svc_enum] enum $name { $($v),* } };
}
en!(Role, Admin, Member);

macro_rules! union_of {
    ($name:ident, $($v:ident),*) => { #[svc_union] enum $name { $($v($v)),* } };
}
union_of!(Any, User, A);

macro_rules! iface {
    ($name:ident, $f:ident, $t:ident, $($v:ident),*) => { #[svc_interface(fields($f: $t))] enum $name { $($v($v)),* } };
}
iface!(Named, name, String, User);

macro_rules! result {
    ($name:ident, $e:ident) => { #[svc_result] enum $name { Success { user: $e, name: String }, Error } };
}
result!(MakeResult, User);

macro_rules! ops {
    ($q:ident, $ctx:ident, $arg:ident, $t:ident, $ret:ident, $($body:tt)*) => {
        #[svc::query]
        async fn $q($ctx: &Context<'_>, $arg: $t, fields: Option<$t>) -> $ret { $($body)* }
    };
}
ops!(q, ctx, id, Uuid, String, { let _ = ctx; id.to_string() });
macro_rules! planned {
    ($q:ident, $t:ident, $w:ident) => {
        #[svc::query]
        async fn $q(id: Uuid) -> $w<$t>;
    };
}
planned!(users, User, Vec);
macro_rules! func {
    ($q:ident, $t:ident, $i:ident) => {
        #[svc::mutation(function = "app.make")]
        async fn $q(input: $i) -> $t;
    };
}
func!(make, MakeResult, NewUser);

struct Slug(String);
macro_rules! scalar {
    ($t:ident, $($body:tt)*) => {
        #[svc_scalar]
        impl svc::async_graphql::ScalarType for $t { $($body)* }
    };
}
scalar!(Slug, fn parse(_: svc::async_graphql::Value) -> svc::async_graphql::InputValueResult<Self> { Ok(Self(String::new())) }
    fn to_value(&self) -> svc::async_graphql::Value { self.0.clone().into() });

macro_rules! relation {
    ($name:ident, $one:ident, $t:ident) => {
        #[svc_type(sql_source = "v_b")]
        struct $name { id: Uuid, #[relation] user: $one<$t>, #[svc(skip)] cached: $t2 }
    };
    ($name:ident, $one:ident, $t:ident, $t2:ident) => {
        #[svc_type(sql_source = "v_b")]
        struct $name { id: Uuid, #[relation] user: $one<$t>, #[svc(skip)] cached: $t2 }
    };
}
relation!(B, One, User, bool);

fn main() { let _ = (queries![q, users], mutations![make]); }
