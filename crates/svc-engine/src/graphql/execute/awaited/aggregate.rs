//! Aggregates that resolvers await.

use crate::graphql::find::{computed, group_counts};
use crate::repository::{Find, GroupCount};
use crate::sql::{Column, col};
use svc_core::Error;
use svc_core::scalar::parse_decimal;
use svc_core::schema::{AggregateFunction, SvcType};

/// Values that are computed over all rows that match, regardless of the limit and offset.
impl<T: SvcType> Find<T> {
    /// Returns the sum of a numeric column, as exact as `numeric`; none without values.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, price: Decimal }
    /// #[svc::query]
    /// async fn turnover(ctx: &Context<'_>) -> Result<Option<Decimal>> {
    ///     Ok(ctx.db().find::<Order>().sum("price").await?)
    /// }
    /// ```
    ///
    /// # Errors
    /// When the database is unreachable, the column is unknown, or it holds no numbers.
    pub async fn sum(
        self,
        column: impl AsRef<str>,
    ) -> Result<Option<rust_decimal::Decimal>, Error> {
        number(self.computed(AggregateFunction::Sum, column).await?)
    }

    /// Returns the average of a numeric column, rounded to a float; none without values.
    ///
    /// # Errors
    /// Like [`sum`](Self::sum).
    pub async fn avg(self, column: impl AsRef<str>) -> Result<Option<f64>, Error> {
        let text = self.computed(AggregateFunction::Avg, column).await?;
        Ok(text.map(|text| text.parse()).transpose()?)
    }

    /// Returns the smallest value of a column, as the text that PostgreSQL writes; none without
    /// values.
    ///
    /// # Errors
    /// When the database is unreachable, the column is unknown, or its values have no order.
    pub async fn min(self, column: impl AsRef<str>) -> Result<Option<String>, Error> {
        self.computed(AggregateFunction::Min, column).await
    }

    /// Returns the largest value of a column, as the text that PostgreSQL writes; none without
    /// values.
    ///
    /// # Errors
    /// Like [`min`](Self::min).
    pub async fn max(self, column: impl AsRef<str>) -> Result<Option<String>, Error> {
        self.computed(AggregateFunction::Max, column).await
    }

    /// Returns the values of a column, each once, in order, as text; `None` is null.
    ///
    /// # Errors
    /// When the database is unreachable, the column is unknown, or there are more values than
    /// [`Limits::max_page`](crate::Limits::max_page).
    pub async fn distinct(self, column: impl AsRef<str>) -> Result<Vec<Option<String>>, Error> {
        let groups = self.group_counts([column.as_ref()]).await?;
        Ok(groups
            .into_iter()
            .filter_map(|group| group.key.into_iter().next())
            .collect())
    }

    /// Returns the number of rows for each combination of values of some columns, in the order of
    /// the values.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, city: Option<String> }
    /// #[svc::query]
    /// async fn largest_city(ctx: &Context<'_>) -> Result<Option<String>> {
    ///     let groups = ctx.db().find::<Order>().group_counts(["city"]).await?;
    ///     let largest = groups.into_iter().max_by_key(|group| group.count);
    ///     Ok(largest.and_then(|group| group.key.into_iter().next().flatten()))
    /// }
    /// ```
    ///
    /// # Errors
    /// When the database is unreachable, a column is unknown, or there are more groups than
    /// [`Limits::max_page`](crate::Limits::max_page).
    pub async fn group_counts<C: AsRef<str>>(
        self,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Vec<GroupCount>, Error> {
        let columns: Vec<Column> = columns.into_iter().map(col).collect();
        let (db, spec) = self.into_parts();
        group_counts(&db, &spec, columns).await
    }

    async fn computed(
        self,
        function: AggregateFunction,
        column: impl AsRef<str>,
    ) -> Result<Option<String>, Error> {
        let (db, spec) = self.into_parts();
        computed(&db, &spec, function, col(column)).await
    }
}

fn number(text: Option<String>) -> Result<Option<rust_decimal::Decimal>, Error> {
    let exact = |text: String| {
        let number = parse_decimal(&text);
        number.ok_or_else(|| {
            Error::internal(format!(
                "the sum {text} has more digits than a Decimal holds"
            ))
        })
    };

    text.map(exact).transpose()
}
