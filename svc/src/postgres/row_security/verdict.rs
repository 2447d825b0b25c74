//! The ways past policies: read in one statement, as they are read with each look at the catalogue.

use super::finding::Finding;
use super::{functions, tables};
use crate::postgres::driver::{DedicatedConnection, DriverError};
use crate::postgres::functions::{split, texts};
use crate::postgres::{Param, Statement};

/// The tables that views lead to, and as whom each is read: as its owner through an ordinary view, and as the
/// service through one with `security_invoker`, whichever views are in front of that.
const REACH: &str = include_str!("reach.sql");

/// Those that are read past their policies, and the functions that run as somebody who passes them.
const PASSED: &str = include_str!("passed.sql");

/// A row of the catalogue: what is wrong, the view or table that is asked for (none where the service calls a
/// function), the table or function, as whom it is read or runs, through which view of another owner, from which
/// materialized view, and whether views can read as their caller.
type Row = (String, Option<String>, String, String, Option<String>, Option<String>, bool);

/// The ways past the policies, in one order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::postgres) struct Verdict {
    /// Those behind views and tables.
    pub(super) unbound: Vec<Finding>,
    /// Functions that the service calls, which may be meant.
    pub(super) called: Vec<Finding>,
}

impl Verdict {
    /// Looks at what lies behind these views and tables, and at these functions.
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
                None => verdict.called.push(functions::finding(None, &subject, &reader, passes_all)),
                Some(view) if problem.starts_with("definer") => {
                    verdict.unbound.push(functions::finding(Some(&view), &subject, &reader, passes_all));
                }
                Some(root) => {
                    let read = tables::Read { root, table: subject, reader, switch, stored };
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
