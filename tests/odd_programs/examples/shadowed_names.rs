//! The prelude's names mean something else here.
#![allow(unused, non_camel_case_types)]
#![no_implicit_prelude]

use ::svc::prelude::{
    Context, svc_enum, svc_input, svc_interface, svc_result, svc_scalar, svc_type, svc_union,
};

mod taken {
    pub struct Result;
    pub struct Option;
    pub struct String;
    pub struct Vec;
    pub struct Box;
    pub struct str;
    pub struct usize;
    pub fn Ok() {}
    pub fn Err() {}
    pub fn Some() {}
    pub const None: () = ();
    pub trait Default {}
    pub trait Into {}
    pub trait Send {}
    pub mod core {}
    pub mod std {}
    pub mod svc {}
    pub mod async_graphql {}
    pub mod serde_json {}
    macro_rules! concat {
        () => {};
    }
    macro_rules! module_path {
        () => {};
    }
    pub(crate) use {concat, module_path};
}
use taken::*;

#[svc_type(sql_source = "v_user", implements = [Node])]
struct User {
    id: i32,
    name: ::std::string::String,
    #[svc(skip)]
    skipped: i32,
}

#[svc_type]
impl User {
    fn twice(&self, call: i32, context: i32, this: i32, ctx: &Context<'_>) -> i32 {
        let _ = ctx;
        call + context + this
    }
    async fn later(
        &self,
        arg0: i32,
        registry: i32,
    ) -> ::std::option::Option<&::std::string::String> {
        let _ = arg0 + registry;
        ::std::option::Option::Some(&self.name)
    }
}

#[svc_enum]
enum Role {
    Admin,
    None,
    Some,
    Ok,
}

#[svc_input]
struct Filter {
    value: i32,
    fields: i32,
}

#[svc_input]
enum By {
    Some(i32),
    Ok(::std::string::String),
}

#[svc_interface(fields(id: i32))]
enum Node {
    Some(User),
}

#[svc_union]
enum Any {
    Ok(User),
}

#[svc_result]
enum Made {
    Success { user: User, errors: i32 },
    Error { id: i32 },
}

struct Slug(i32);

#[svc_scalar]
impl ::svc::async_graphql::ScalarType for Slug {
    fn parse(value: ::svc::async_graphql::Value) -> ::svc::async_graphql::InputValueResult<Self> {
        let _ = value;
        ::std::result::Result::Ok(Self(1))
    }
    fn to_value(&self) -> ::svc::async_graphql::Value {
        let _ = self.0;
        ::svc::async_graphql::Value::Null
    }
}

#[::svc::query]
async fn users(id: i32) -> ::std::vec::Vec<User>;

#[::svc::query]
async fn call(call: i32, arg1: Role, by: By) -> Role {
    let _ = (call, by);
    arg1
}

#[::svc::mutation]
fn context(
    context: Filter,
    ctx: &Context<'_>,
    users: i32,
) -> ::std::result::Result<Slug, ::svc::Error> {
    let _ = (context.value, context.fields, ctx, users);
    ::std::result::Result::Ok(Slug(1))
}

#[::svc::mutation(function = "app.make", context = ["call"])]
async fn make(input: Filter, call: i32) -> Made;

#[::svc::mutation]
fn make_here() -> Made {
    MadeError::new("conflict:taken", "taken", 1).into_made()
}

impl MadeError {
    fn into_made(self) -> Made {
        ::std::convert::From::from(self)
    }
}

fn main() {}
