//! The items that most programs import: `use svc::prelude::*;`.

pub use async_graphql::{ID, InputValueError, InputValueResult, MaybeUndefined, ScalarType};
pub use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
pub use futures_util::Stream;
pub use rust_decimal::Decimal;
pub use uuid::Uuid;

pub use crate::{
    AppOptions, SvcConfig, create_svc_app, mutations, queries, subscriptions, svc_enum, svc_input,
    svc_interface, svc_result, svc_scalar, svc_type, svc_union, types,
};
#[cfg(feature = "auth")]
pub use svc_auth::UserContext;
pub use svc_core::{Error, ErrorCode, Many, One, Result};
pub use svc_engine::authz::{AuthorizationDecision, AuthorizationRequest, RowDecision};
pub use svc_engine::repository::{Find, FindOne};
pub use svc_engine::sql::{asc, col, desc};
pub use svc_engine::{Aggregate, Connection, Context, CursorPage, OrderBy, Page, Patch, Where};
