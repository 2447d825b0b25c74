//! The ways past policies, found by one statement, as they are read with each catalog check.

use super::finding::Finding;
use super::{functions, tables};
use crate::catalog::functions::{split, texts};
use crate::driver::{DedicatedConnection, DriverError};
use crate::{Param, Statement};

/// The tables behind views, and the role that each is read as: the view's owner through an ordinary
/// view, or the service's role through a view with `security_invoker`, whichever views come before
/// it.
const REACH: &str = include_str!("reach.sql");

/// The tables read past their policies, and the functions that run as a role that bypasses
/// policies.
const PASSED: &str = include_str!("passed.sql");

/// A row of the catalog: the problem, the queried view or table (none where the service calls a
/// function), the table or function, the role that reads or runs it, the view of another owner and
/// the materialized view on the way, and whether views can read as their caller.
type Row = (
    String,
    Option<String>,
    String,
    String,
    Option<String>,
    Option<String>,
    bool,
);

/// The ways past the policies, in a fixed order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Behind views and tables.
    pub(super) unbound: Vec<Finding>,
    /// Functions that the service calls, which may be intended.
    pub(super) called: Vec<Finding>,
}

impl Verdict {
    /// Checks the tables behind these views and tables, and these functions.
    pub(super) async fn read(
        connection: &mut DedicatedConnection,
        quoted: &[String],
        called: &[&str],
    ) -> Result<Self, DriverError> {
        let (schemas, names) = split(called);
        let mut statement = reached(PASSED, quoted);
        statement.params.extend([schemas, names].map(texts));
        let rows: Vec<Row> = connection.rows(&statement).await?;
        let mut verdict = Self::default();
        for (problem, root, subject, reader, switch, stored, has_invoker) in rows {
            let passes_all = problem == "definer of all";
            match root {
                None => verdict
                    .called
                    .push(functions::finding(None, &subject, &reader, passes_all)),
                Some(view) if problem.starts_with("definer") => {
                    verdict.unbound.push(functions::finding(
                        Some(&view),
                        &subject,
                        &reader,
                        passes_all,
                    ));
                }
                Some(root) => {
                    let read = tables::Read {
                        root,
                        table: subject,
                        reader,
                        switch,
                        stored,
                    };
                    verdict.unbound.push(read.finding(&problem, has_invoker));
                }
            }
        }

        Ok(verdict)
    }
}

/// A statement over the tables that views lead to.
pub(super) fn reached(sql: &str, quoted: &[String]) -> Statement {
    Statement::new(format!("{REACH}{sql}"), vec![Param::Texts(quoted.to_vec())])
}
