//! The engine of svc: from a GraphQL document to the bytes of the response.
//!
//! `Engine::run` executes one operation, and `Engine::subscribe` one on a streaming transport.
//! Every root field needs an `Admission`, which only `authz` makes. This crate is independent of
//! transports: the HTTP endpoints are in `svc`.
//!
//! This crate is an internal part of `svc`: it is published because `svc` needs it, and changes
//! without notice. Programs depend on `svc`, which re-exports the public items.
//!
//! | Module | Contents |
//! |---|---|
//! | `graphql` | documents, plans, execution, completion and subscriptions, a folder per step |
//! | `authz` | the gate, authorizers, guards, row policies and masks |
//! | `sql` | the only code that writes `SELECT` for reads |
//! | `repository` | the module `svc::db`: the database as resolvers see it |
//! | `request` | the parts of a request, `Context`, request data and session variables |
//! | `mutation_result` | statuses and errors of database functions |
//! | `events` | sources of events, the hub and the queues of subscribers |
//! | `response_cache` | where responses are cached, and the changes that make them stale |
//! | `shared_state` | the state that all requests share, and their deadlines |
//! | `limits` | the settings `Limits` |
//! | `upload` | files that clients send |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![cfg_attr(
    not(all(
        feature = "auth",
        feature = "redis",
        feature = "sessions",
        feature = "sqlx",
        feature = "testing",
        feature = "upload",
        feature = "websocket",
    )),
    allow(
        unreachable_pub,
        reason = "items that svc uses only with some features are public"
    )
)]
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
pub mod authz;
pub mod events;
pub mod graphql;
pub mod limits;
pub mod mutation_result;
pub mod repository;
pub mod request;
pub mod response_cache;
pub mod shared_state;
pub mod sql;
pub mod upload;

pub use graphql::{
    Operation, OperationError, OperationRegistry, ResponseCache, Returns, ReturnsBatch,
};
pub use limits::{LimitMode, Limits};
pub use mutation_result::{Constraint, MutationError, Patch};
pub use repository::{Aggregate, Connection, CursorPage, OrderBy, Page, Where};
pub use request::{Context, RequestContext, Transport};
pub use response_cache::ResponseCacheConfig;
pub use upload::UploadConfig;
#[cfg(feature = "upload")]
pub use upload::{Upload, UploadedFile};
