//! The buffers that PostgreSQL reads for pages by cursor, at several places in a list.

mod app;
mod tables;

pub(crate) use app::serve;

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use svc_embedded::{Database, Options};
use testbed::{Client, Request, STEADY, Server, psql};

use crate::Layout;
use tables::{ORDERS, ROWS};

/// The maximum buffers of a page, as a multiple of the more expensive page at an end of the list.
/// One end can be cheap, because rows without a key are neighbors on disk.
const BOUND: f64 = 2.0;
/// PostgreSQL settles for a plan after five calls.
const CALLS: usize = 8;

/// The lists, each with the text before and after its arguments: all books, and the books of a
/// shelf.
const LISTS: [(&str, &str, &str); 2] = [
    ("root", "list: books", ""),
    ("children", "shelf(id: 1) { list: booksConnection", "}"),
];

/// Where nulls begin and end.
const AT_NULLS: [&str; 4] = [
    "first: 1, where: {rank: {isnull: true}}",
    "last: 1, where: {rank: {isnull: true}}",
    "first: 1, where: {rank: {isnull: false}}",
    "last: 1, where: {rank: {isnull: false}}",
];

/// The direction of the pages.
#[derive(Debug, Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// The arguments for the size of a page and for its cursor.
    fn arguments(self) -> (&'static str, &'static str) {
        match self {
            Self::Forward => ("first", "after"),
            Self::Backward => ("last", "before"),
        }
    }

    /// The pages at both ends whose cursors lead to the second and to the last page.
    fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Forward => ["first: 20", "last: 21"],
            Self::Backward => ["last: 20", "first: 21"],
        }
    }
}

/// Prints the buffers of all lists; returns the figures out of bounds.
///
/// The PostgreSQL of the other measurements does not count buffers by statement, so this one has its
/// own.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn measure(layouts: &[Layout]) -> Result<Vec<String>> {
    let options = Options::temporary()
        .setting("shared_preload_libraries", "pg_stat_statements")
        .setting("shared_buffers", "512MB")
        .setting("max_wal_size", "4GB")
        .setting("autovacuum", "off")
        .setting("jit", "off");
    let database = Database::start(options).await?;
    let measured = measure_on(&database.url(), layouts);
    database.stop().await;
    measured
}

fn measure_on(url: &str, layouts: &[Layout]) -> Result<Vec<String>> {
    tables::seed(url)?;
    let version = psql(url, "SHOW server_version")?;
    println!(
        "<!-- begin cursors -->\n{} PostgreSQL {}.\n",
        report::hardware(),
        version.split(' ').next().unwrap_or_default()
    );
    println!(
        "Buffers of a page of 20 of {ROWS} rows\n\n\
         | layout | list | order | read | ends | second | middle | at nulls | last | most, times the ends |\n\
         |---|---|---|---|---:|---:|---:|---:|---:|---:|"
    );
    let mut failed = Vec::new();
    for layout in layouts {
        measure_layout(url, *layout, &mut failed)?;
    }
    println!("<!-- end cursors -->");
    Ok(failed)
}

fn measure_layout(url: &str, layout: Layout, failed: &mut Vec<String>) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["serve-pages", &layout.name()])
        .env("DATABASE_URL", url)
        .env("SVC_DATABASE_POOL_SIZE", "1")
        .envs(STEADY);
    let server = Server::start(command, &Request::new("{ __typename }", &json!({})))?;
    let mut client = server.client()?;
    for list in LISTS {
        for (order, _) in ORDERS {
            for direction in [Direction::Forward, Direction::Backward] {
                let mut pages = Pages {
                    url,
                    client: &mut client,
                    list,
                    order,
                    direction,
                };
                let row = pages.row()?;
                println!("| {} {row}", layout.name());
                if row.times() > BOUND {
                    failed.push(format!("{} {row}", layout.name()));
                }
            }
        }
    }
    Ok(())
}

/// The pages of a list in one order and direction.
struct Pages<'a> {
    url: &'a str,
    client: &'a mut Client,
    list: (&'static str, &'static str, &'static str),
    order: &'static str,
    direction: Direction,
}

impl Pages<'_> {
    /// Measures the pages at all places.
    fn row(&mut self) -> Result<Row> {
        let (size, past) = self.direction.arguments();
        let [second, last] = self.direction.ends();
        let has_nulls = self.order.contains("rank");
        let mut at = |page: &str| -> Result<u32> {
            let info = self.page(page)?["pageInfo"].take();
            // The cursor at the side of the following page.
            let is_start = page.starts_with("last");
            let cursor = &info[if is_start { "startCursor" } else { "endCursor" }];
            ensure!(cursor.is_string(), "no row is at {page}");
            self.buffers(&format!("{size}: 20, {past}: {cursor}"))
        };

        let second = at(second)?;
        let last = at(last)?;
        let middle = at(&format!(
            "first: 1, where: {{id: {{eq: {}}}}}",
            ROWS / 2 + 2
        ))?;
        let mut at_nulls = None;
        for page in AT_NULLS.iter().filter(|_| has_nulls) {
            at_nulls = at_nulls.max(Some(at(page)?));
        }

        let [start, end] = ["first: 20", "last: 20"].map(|page| self.buffers(page));
        Ok(Row {
            names: [self.list.0, self.order, size],
            ends: start?.max(end?),
            others: [Some(second), Some(middle), at_nulls, Some(last)],
        })
    }

    fn page(&mut self, arguments: &str) -> Result<Value> {
        let request = self.request(arguments);
        let mut answer: Value = serde_json::from_slice(self.client.send(&request)?)?;
        let data = &mut answer["data"];
        Ok(match data.get_mut("list") {
            Some(list) => list.take(),
            None => data["shelf"]["list"].take(),
        })
    }

    fn request(&self, arguments: &str) -> Request {
        let ((_, before, after), order) = (self.list, self.order);
        let document = format!(
            "{{ {before}({arguments}, orderBy: [{order}]) {{ edges {{ cursor node {{ id }} }} \
             pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} {after} }}"
        );
        Request::new(&document, &json!({}))
    }

    /// The buffers that a page reads, on average of several calls.
    fn buffers(&mut self, arguments: &str) -> Result<u32> {
        let request = self.request(arguments);
        self.client.send(&request)?;
        psql(self.url, "SELECT pg_stat_statements_reset()")?;
        for _ in 0..CALLS {
            self.client.send(&request)?;
        }
        // The last call may not be counted yet, and the one before `reset` be counted after it.
        let read =
            "SELECT sum(shared_blks_hit + shared_blks_read) / sum(calls) FROM pg_stat_statements
                    WHERE query LIKE 'SELECT %\\_book\"%'";
        let read: f64 = psql(self.url, read)?.parse()?;
        Ok(read.round() as u32)
    }
}

/// The buffers of the pages of a list.
struct Row {
    names: [&'static str; 3],
    /// The buffers of the more expensive page at an end.
    ends: u32,
    /// The buffers of the other pages, in the order of the table.
    others: [Option<u32>; 4],
}

impl Row {
    /// The most buffers of a page, times those at the ends.
    fn times(&self) -> f64 {
        let most = self.others.iter().flatten().max().copied();
        f64::from(most.unwrap_or_default()) / f64::from(self.ends)
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let others = self
            .others
            .map(|read| read.map_or_else(|| "–".to_owned(), |read| read.to_string()));
        write!(
            f,
            "| {} | {} | {} | {:.2} |",
            self.names.join(" | "),
            self.ends,
            others.join(" | "),
            self.times()
        )
    }
}
