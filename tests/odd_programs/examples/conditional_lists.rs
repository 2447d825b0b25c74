//! `#[cfg]` in lists of functions and types.
#![deny(warnings)]

use svc::prelude::*;

#[svc_type]
struct Thing {
    id: i32,
}

#[svc::query]
fn one() -> Thing {
    Thing { id: 1 }
}

#[svc::query]
#[cfg(any())]
fn never() -> i32 {
    1
}

#[svc::mutation]
fn touch() -> i32 {
    1
}

mod a {
    pub mod b {
        #[svc::query]
        pub fn two() -> i32 {
            2
        }
    }
}

fn main() {
    let _ = queries![
        one,
        #[cfg(any())]
        never,
        #[cfg(all())]
        a::b::two,
    ];
    let _ = queries![
        #[cfg(any())]
        never
    ];
    let _ = mutations![
        touch,
        #[cfg(any())]
        missing
    ];
    let _ = types![
        Thing,
        #[cfg(any())]
        Missing
    ];
    let _ = (queries![], mutations![], types![]);
}
