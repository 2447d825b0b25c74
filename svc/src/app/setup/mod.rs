//! Parts of an application, each built or checked from its settings and options.

pub(super) mod authentication;
mod event_hub;
mod filtered_writes;
#[cfg(feature = "native-auth")]
pub(super) mod native_accounts;
mod open_operations;
mod protection;
mod response_cache;
mod row_rules;
#[cfg(not(feature = "upload"))]
pub(super) mod uploads;
#[cfg_attr(
    not(feature = "testing"),
    allow(unreachable_pub, dead_code, reason = "tests of programs check views")
)]
mod view_check;

pub(super) use event_hub::{database_channels, event_hub};
pub(super) use filtered_writes::warn_of_row_bounds;
pub(super) use open_operations::warn_of_open;
pub(super) use protection::protection;
pub(super) use response_cache::response_cache;
pub(super) use row_rules::row_policies;
#[cfg(feature = "testing")]
pub use view_check::check_views;
pub(super) use view_check::start_findings;
