//! Figures, from a view with only columns and one with only `data`.

use svc::prelude::*;

/// How much there is. Its view has columns only, and one row.
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
    /// How many posts were published.
    pub posts: i64,
}

/// How much there is.
#[svc::query]
pub async fn statistics() -> Statistics;

/// The months with posts.
#[svc::query]
pub async fn months() -> Vec<Month>;
