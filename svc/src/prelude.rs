//! The items that most programs import: `use svc::prelude::*;`.

pub use async_graphql::{ID, InputValueError, InputValueResult, MaybeUndefined, ScalarType};
pub use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
pub use futures_util::Stream;
pub use rust_decimal::Decimal;
pub use uuid::Uuid;

#[cfg(feature = "auth")]
pub use crate::auth::UserContext;
pub use crate::authz::{AuthorizationDecision, AuthorizationRequest, RowDecision};
pub use crate::repository::{Find, FindOne};
pub use crate::sql::{asc, col, desc};
pub use crate::{
    Aggregate, AppOptions, Connection, Context, CursorPage, Error, ErrorCode, Many, One, OrderBy,
    Page, Patch, Result, SvcConfig, Where, create_svc_app, mutations, queries, subscriptions,
    svc_enum, svc_input, svc_interface, svc_result, svc_scalar, svc_type, svc_union, types,
};
