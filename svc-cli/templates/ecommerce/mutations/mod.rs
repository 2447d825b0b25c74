//! Mutations. `svc generate crud` adds modules and lists to this file, above its two marks.

use svc::prelude::*;

pub mod ordering;
// svc: modules

/// Adds the mutations to the service.
pub fn add(options: AppOptions) -> AppOptions {
    [
        ordering::all(),
        // svc: mutations
    ]
    .into_iter()
    .fold(options, AppOptions::mutations)
}
