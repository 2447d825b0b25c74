//! Functions with the names of primitive types, which keep their meaning.
#![allow(dead_code)]

use svc::prelude::*;

#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    is_new: bool,
}

#[svc::query]
fn bool() -> bool {
    true
}

#[svc::query]
async fn i32(a: Option<i32>) -> i32 {
    a.unwrap_or(1)
}

#[svc::query]
fn str() -> &'static str {
    "a"
}

#[svc::query]
async fn u8() -> Vec<Thing>;

#[svc::query]
fn string(core: i32) -> String {
    core.to_string()
}

#[svc::mutation]
fn f64(value: f64) -> f64 {
    value
}

mod inner {
    #[svc::query]
    pub fn char() -> bool {
        false
    }
}

fn main() {
    let _ = queries![bool, i32, str, u8, string, char];
    let _ = mutations![f64];
    assert!(bool());
}
