//! Mutations. `svc generate crud` adds modules and lists to this file, above its two marks.

use svc::prelude::*;

// svc: modules

/// Adds the mutations to the service.
pub fn add(options: AppOptions) -> AppOptions {
    [
        // svc: mutations
    ]
    .into_iter()
    .fold(options, AppOptions::mutations)
}
