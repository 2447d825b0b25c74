//! One type of forty fields over three layouts.

macro_rules! layout {
    ($(#[$doc:meta])* $name:ident, $source:literal) => {
        $(#[$doc])*
        mod $name {
            use svc::prelude::*;

            /// A row with many fields.
            #[svc_type(sql_source = $source)]
            pub(super) struct Wide {
                id: Uuid,
                text_1: String,
                int_1: i32,
                time_1: DateTime<Utc>,
                float_1: f64,
                bool_1: bool,
                text_2: String,
                int_2: i32,
                time_2: DateTime<Utc>,
                float_2: f64,
                bool_2: bool,
                text_3: String,
                int_3: i32,
                time_3: DateTime<Utc>,
                float_3: f64,
                bool_3: bool,
                text_4: String,
                int_4: i32,
                time_4: DateTime<Utc>,
                float_4: f64,
                bool_4: bool,
                text_5: String,
                int_5: i32,
                time_5: DateTime<Utc>,
                float_5: f64,
                bool_5: bool,
                text_6: String,
                int_6: i32,
                time_6: DateTime<Utc>,
                float_6: f64,
                bool_6: bool,
                text_7: String,
                int_7: i32,
                time_7: DateTime<Utc>,
                float_7: f64,
                bool_7: bool,
                text_8: String,
                int_8: i32,
                time_8: DateTime<Utc>,
                float_8: f64,
                bool_8: bool,
            }

            #[svc::query]
            async fn wide() -> Vec<Wide>;

            pub(super) fn operations(options: AppOptions) -> AppOptions {
                options.queries(queries![wide])
            }
        }
    };
}

layout! {
    /// A column for each field.
    columns, "c_wide"
}

layout! {
    /// A view that builds `data` from the columns.
    data, "v_wide"
}

layout! {
    /// A table that stores `data`.
    tv, "tv_wide"
}

use svc::prelude::*;
use svc::{Limits, Server};

use crate::Layout;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// More than the dearest request costs.
const COMPLEXITY: u64 = 1_000_000;

/// Serves the table of a layout; pages may have as many rows as there are.
#[tokio::main(worker_threads = 2)]
pub(crate) async fn serve(layout: Layout, port: u16) -> svc::Result<()> {
    let limits = Limits {
        complexity: COMPLEXITY,
        max_page: crate::wide::ROWS,
        ..Limits::default()
    };
    let options = AppOptions::new()
        .config(SvcConfig::from_env()?)
        .limits(limits);
    let options = match layout {
        Layout::Columns => columns::operations(options),
        Layout::Data => data::operations(options),
        Layout::Tv => tv::operations(options),
    };
    run(options, port).await
}

/// Serves an application until the process ends.
pub(crate) async fn run(options: AppOptions, port: u16) -> svc::Result<()> {
    let app = create_svc_app(options).await?;
    Server::bind(([127, 0, 0, 1], port))
        .await?
        .run(app, std::future::pending())
        .await;
    Ok(())
}
