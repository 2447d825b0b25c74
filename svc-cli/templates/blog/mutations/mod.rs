//! Mutations. `svc generate crud` adds modules to this file, above the two markers.

use svc::prelude::*;

pub mod publishing;
// svc: modules

/// Adds the mutations to the service.
pub fn add(options: AppOptions) -> AppOptions {
    let modules: &[fn(AppOptions) -> AppOptions] = &[
        publishing::add,
        // svc: mutations
    ];
    modules.iter().fold(options, |options, add| add(options))
}
