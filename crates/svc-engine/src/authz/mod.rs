//! Authorization: the single gate that every root field passes before it runs, on every execution
//! path, and the application's policies, which decide there.

mod admission;
mod arguments;
mod authorizer;
mod cache;
mod decision;
mod dry_run;
mod field_check;
mod gate;
mod guard_check;
mod question;
mod request;
mod rows;

pub use authorizer::{Authorizer, IntoAuthorizer};
#[doc(hidden)]
pub use authorizer::{AuthorizerOf, OwnAuthorizer};
pub use cache::AuthorizationCacheConfig;
pub use decision::{AuthorizationDecision, IntoDecision};
#[cfg(feature = "auth")]
pub use field_check::any_permission;
pub use field_check::field_authorizer_adapter;
#[doc(hidden)]
pub use field_check::{CheckAnswer, FieldCheck};
pub use request::{AuthorizationRequest, OperationType};
pub use rows::RowDecision;

pub(crate) use admission::{Admission, AllAdmitted, Coordinate, Roots};
use arguments::Arguments;
pub use authorizer::DynAuthorizer;
pub use cache::CachedAuthorizer;
pub use dry_run::{TriedRule, TryingAuthorizer};
pub use gate::Gate;
pub(crate) use gate::{bypassed_filter, lost_filter};
pub(crate) use question::{AccessCheck, FieldAccess};
pub(crate) use rows::RequestRules;
pub use rows::{RowPolicies, RowPolicy};
