//! Books and their shelves over three layouts.

macro_rules! books {
    ($(#[$doc:meta])* $name:ident, $shelf:literal, $book:literal) => {
        $(#[$doc])*
        mod $name {
            use svc::prelude::*;

            /// A shelf of many books.
            #[svc_type(sql_source = $shelf)]
            struct Shelf {
                id: i32,
                #[relation(to = "shelf_id", connection)]
                books: Many<Book>,
            }

            /// A book with a key of each kind.
            #[svc_type(sql_source = $book)]
            struct Book {
                id: i32,
                score: i32,
                level: i32,
                rank: Option<i32>,
            }

            #[svc::query]
            async fn books() -> Connection<Book>;
            #[svc::query]
            async fn shelf(id: i32) -> Option<Shelf>;

            pub(super) fn operations(options: AppOptions) -> AppOptions {
                options.queries(queries![books, shelf])
            }
        }
    };
}

books! {
    /// A column for each field.
    columns, "c_shelf", "c_book"
}

books! {
    /// A view of a table that stores `data`.
    data, "v_shelf", "v_book"
}

books! {
    /// A table that stores `data`.
    tv, "tv_shelf", "tv_book"
}

use svc::{AppOptions, Limits, SvcConfig};

use crate::Layout;
use crate::app::run;

/// More than the dearest request costs.
const COMPLEXITY: u64 = 10_000;

/// Serves the books of a layout.
#[tokio::main(worker_threads = 2)]
pub(crate) async fn serve(layout: Layout, port: u16) -> svc::Result<()> {
    let limits = Limits {
        complexity: COMPLEXITY,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig::from_env()?)
        .auto_camel_case(true)
        .limits(limits);
    let options = match layout {
        Layout::Columns => columns::operations(options),
        Layout::Data => data::operations(options),
        Layout::Tv => tv::operations(options),
    };
    run(options, port).await
}
