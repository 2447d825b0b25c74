//! Mutations. `svc generate crud` adds modules to this file, above the two markers.

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
