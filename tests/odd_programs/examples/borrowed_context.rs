//! Answers that borrow from the context.
#![deny(warnings, rust_2018_idioms)]

use svc::prelude::*;

#[svc::query]
pub fn plain<'a>(ctx: &'a Context<'_>) -> Result<&'a str> {
    Ok(ctx.header("x-name").unwrap_or("nobody"))
}

#[svc::query]
pub async fn waits<'a>(ctx: &'a Context<'_>) -> Result<&'a str> {
    Ok(ctx.header("x-name").unwrap_or("nobody"))
}

#[svc::query]
pub async fn inner<'b>(ctx: &Context<'b>, n: i32) -> Option<&'b str> {
    let _ = n;
    ctx.header("x-name")
}

#[svc_type]
#[derive(Debug)]
pub struct Thing {
    pub name: String,
}

#[svc_type]
impl Thing {
    fn from_context<'a>(&self, ctx: &'a Context<'_>) -> Option<&'a str> {
        ctx.header("x-name")
    }
    async fn either<'a>(&'a self, ctx: &'a Context<'_>) -> Result<&'a str> {
        Ok(ctx.header("x-name").unwrap_or(&self.name))
    }
}

fn main() {
    let _ = queries![plain, waits, inner];
}
