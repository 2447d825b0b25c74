//! `#[cfg]` on items, above and below the macro.
#![deny(warnings)]

use svc::prelude::*;

#[cfg(any())]
#[svc_type]
struct Above {
    id: Missing,
}

#[svc_type]
#[cfg(any())]
struct Below {
    id: Missing,
}

#[svc_enum]
#[cfg(any())]
enum Gone {
    A,
}

#[svc::query]
#[cfg(any())]
async fn gone() -> Missing {}

#[svc::query]
#[cfg(all())]
async fn here() -> i32 {
    1
}

fn main() {
    let _ = queries![here];
}
