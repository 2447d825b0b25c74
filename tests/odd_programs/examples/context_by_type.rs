//! The context under other names, and other types under its name.
#![allow(dead_code)]

use svc::Context as Ctx;
use svc::prelude::{svc_enum, svc_input, svc_type};

type Borrowing<'a> = svc::Context<'a>;
type Borrowed<'a> = &'a svc::Context<'a>;

#[svc_input]
struct Context {
    tenant: String,
}

mod other {
    use svc::prelude::svc_enum;

    #[svc_enum]
    pub enum Context {
        Inside,
    }
}

#[svc::query]
async fn renamed(ctx: &Ctx<'_>, n: i32) -> i32 {
    let _ = ctx.db();
    n
}

#[svc::query]
fn elided(ctx: &Ctx, n: i32) -> i32 {
    let _ = ctx.db();
    n
}

#[svc::query]
fn alias(n: i32, ctx: &Borrowing<'_>) -> i32 {
    let _ = ctx.db();
    n
}

#[svc::query]
fn alias_of_the_reference(n: i32, ctx: Borrowed<'_>) -> i32 {
    let _ = ctx.db();
    n
}

#[svc::mutation]
async fn own(context: Context, maybe: Option<Context>, ctx: &svc::Context<'_>) -> String {
    let _ = (maybe, ctx.db());
    context.tenant
}

#[svc_type]
struct Thing {
    context: other::Context,
}

#[svc_type]
impl Thing {
    fn one(&self, c: &Ctx<'_>, context: Context) -> i32 {
        let _ = (c.db(), context);
        1
    }
    async fn two(&self, n: i32, c: &svc::Context<'_>) -> i32 {
        let _ = c.db();
        n
    }
}

#[svc_enum]
enum Last {
    Context,
}

fn main() {}
