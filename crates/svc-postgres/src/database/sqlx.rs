//! Transactions of sqlx, and the repository's statements in them.

use ::sqlx::postgres::PgColumn;
use ::sqlx::{AssertSqlSafe, Column as _, PgConnection, PgPool, Postgres, Row as _, Transaction};

use super::Database;
use super::pattern_error::Waits;
use crate::sqlx_pool::{arguments, untested, within};
use crate::statement::recorder::{self, StatementKind};
use crate::{DbError, Oid, Rows, Session, Statement};

impl Database {
    /// The pool of sqlx.
    pub fn sqlx_pool(&self) -> &PgPool {
        self.sqlx.pool()
    }

    /// Begins a transaction of sqlx with the session variables of a request.
    pub async fn begin_sqlx(
        &self,
        session: &Session,
    ) -> Result<Transaction<'static, Postgres>, DbError> {
        self.reached().await?;
        session.check()?;
        let (pool, settings) = (self.sqlx.pool(), self.driver.transaction_settings());

        // Each connection of the pool may have died since its last use.
        let mut left = pool.options().get_max_connections();

        loop {
            match untested(within(self.deadline, begin_on(pool, session, settings))).await {
                Ok(transaction) => return Ok(transaction),
                Err(error) if DbError::is_closed(&error) && left > 0 => left -= 1,
                Err(error) => {
                    let error = DbError::from(error);
                    return Err(match session.setup() {
                        Some(setup) => error.of_values(setup),
                        None => error,
                    });
                }
            }
        }
    }
}

async fn begin_on(
    pool: &PgPool,
    session: &Session,
    settings: Option<&str>,
) -> Result<Transaction<'static, Postgres>, ::sqlx::Error> {
    let mut transaction = pool.begin().await?;
    if let Some(settings) = settings {
        ::sqlx::raw_sql(AssertSqlSafe(settings))
            .execute(&mut *transaction)
            .await?;
    }

    if let Some(setup) = session.setup() {
        let arguments = arguments(setup)?;
        ::sqlx::query_with(AssertSqlSafe(&*setup.text), arguments)
            .execute(&mut *transaction)
            .await?;
    }

    Ok(transaction)
}

/// The rows of a statement.
pub(crate) async fn fetch_by_sqlx(
    database: &Database,
    connection: &mut PgConnection,
    statement: &Statement,
) -> Result<Rows, DbError> {
    // Its text depends on clients' filters, and sqlx bounds its prepared statements by number, not
    // by size.
    let query = ::sqlx::query_with(AssertSqlSafe(&*statement.text), arguments(statement)?)
        .persistent(false);
    let recording = recorder::begin(statement, StatementKind::Read);
    let rows = query.fetch_all(connection).await;

    recording.inspect(|recording| recording.ended(rows.as_ref().ok().map(Vec::len)));
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => return Err(database.error_of(statement, error.into(), Waits::Yes).await),
    };

    let fits = rows
        .first()
        .is_none_or(|row| statement.text.fits(row.columns().iter().map(oid)));

    if fits {
        Ok(Rows::Sqlx(rows))
    } else {
        Err(DbError::Changed)
    }
}

/// The type of a column.
fn oid(column: &PgColumn) -> Oid {
    column.type_info().oid().map_or(0, |oid| oid.0)
}
