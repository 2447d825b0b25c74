//! The engine of svc: from a GraphQL document to bytes.
//!
//! Every root field runs by an `Admission`, which only `authz` makes.
//!
//! This crate is internal: it is published because `svc` needs it, and it changes without notice.
//! Programs depend on `svc`, which re-exports the public part.
//!
//! | Contents | Module |
//! |---|---|
//! | Documents, plans, execution, completion, subscriptions | `engine` |
//! | The only code that writes `SELECT` for reads | `sql` |
//! | The gate, authorizers, guards and row policies | `authz` |
//! | `svc::db`: the database as resolvers see it | `repository` |
//! | Requests: their parts, context and data | `request` |
//! | Statuses and errors of database functions | `mutation` |
//! | Event sources and queues of subscribers | `events` |
//! | Cached responses | `response_cache` |
//! | State that all requests share | `application` |
//! | Files of clients | `upload` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![allow(
    missing_docs,
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::should_implement_trait,
    rustdoc::private_intra_doc_links,
    reason = "internal: the part that svc re-exports is documented"
)]

#[doc(hidden)]
pub mod __private;
pub mod application;
pub mod authz;
pub mod engine;
pub mod events;
pub mod mutation;
pub mod repository;
pub mod request;
pub mod response_cache;
pub mod sql;
pub mod upload;

pub use application::{LimitMode, Limits};
pub use engine::{Operation, OperationError, OperationRegistry, ResponseCache, Returns};
pub use mutation::{Constraint, MutationError, Patch};
pub use repository::{Aggregate, Connection, CursorPage, OrderBy, Page, Where};
pub use request::{Context, RequestContext, Transport};
pub use response_cache::ResponseCacheConfig;
pub use upload::UploadConfig;
#[cfg(feature = "upload")]
pub use upload::{Upload, UploadedFile};
