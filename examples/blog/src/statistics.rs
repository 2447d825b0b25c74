//! Figures: from a view with only columns, one with only `data`, and computed over users.

use svc::prelude::*;

use crate::user::User;

/// The totals. Their view has columns only, and one row.
#[svc_type(sql_source = "v_statistics")]
#[derive(Debug)]
pub struct Statistics {
    /// All users.
    pub users: i64,
    /// All posts.
    pub posts: i64,
    /// All comments.
    pub comments: i64,
}

/// A month with posts. Its view has nothing but `data`.
#[svc_type(sql_source = "v_month")]
#[derive(Debug)]
pub struct Month {
    /// Year and month.
    pub id: ID,
    /// Its first day.
    pub first_day: NaiveDate,
    /// The number of posts that were published.
    pub posts: i64,
}

/// Returns the totals.
#[svc::query]
pub async fn statistics() -> Statistics;

/// The months with posts.
#[svc::query]
pub async fn months() -> Vec<Month>;

/// Aggregates over users: how many have which role, when the first one joined.
#[svc::query]
pub async fn user_statistics() -> Aggregate<User>;
