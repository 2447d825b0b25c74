//! Mutations. `svc generate crud` adds modules to this file, above its two marks.

use svc::prelude::*;

pub mod ordering;
// svc: modules

/// Adds the mutations to the service.
pub fn add(options: AppOptions) -> AppOptions {
    let modules: &[fn(AppOptions) -> AppOptions] = &[
        ordering::add,
        // svc: mutations
    ];
    modules.iter().fold(options, |options, add| add(options))
}
