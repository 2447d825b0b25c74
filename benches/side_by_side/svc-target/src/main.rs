//! The workloads served by svc: `svc-target LAYOUT PORT`, LAYOUT one of
//!   columns  views with a column for each field (`c_*` of columns.sql)
//!   data     views with few columns and the rest in `data` (`v_user`, and `d_*` of data.sql)
//!   tv       projection tables: as `data`, but stored (`tv_*`)
//!   text     as `tv`, but `data` is `json` (`tj_*`)
//!
//! Queries are fields without a body, and the mutation calls its function. `BENCH_VARIABLES` has it set two session
//! variables for each request: from `headers`, or from the `user`.

mod layout;

use svc::db::SessionVariables;
use svc::prelude::*;
use svc::{Limits, Server};

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A hundred rows of eight fields cost 900; posts with their comments more.
const COMPLEXITY: u64 = 100_000;

#[tokio::main(worker_threads = 2)]
async fn main() -> svc::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let layout = arguments.next().unwrap_or_default();
    let port = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(54_906);
    let config = SvcConfig {
        schema: svc::SchemaConfig { auto_camel_case: true, ..SvcConfig::from_env()?.schema },
        ..SvcConfig::from_env()?
    };
    let options = AppOptions::new().config(config).limits(Limits { complexity: COMPLEXITY, ..Limits::default() });
    let options = match layout.as_str() {
        "columns" => layout::columns::operations(options),
        "data" => layout::data::operations(options),
        "tv" => layout::tv::operations(options),
        "text" => layout::text::operations(options),
        other => return Err(Error::internal(format!("{other:?} is not a layout; give columns, data, tv or text"))),
    };
    let app = create_svc_app(options.session_variables(session_variables()?)).await?;
    Server::bind(([127, 0, 0, 1], port)).await?.run(app, std::future::pending()).await;
    Ok(())
}

/// The same variables from one source or the other; none, if none is named.
fn session_variables() -> svc::Result<SessionVariables> {
    let variables = SessionVariables::new();
    match std::env::var("BENCH_VARIABLES").as_deref() {
        Err(_) => Ok(variables),
        Ok("headers") => Ok(variables.header("app.user_id", "x-user-id").header("app.tenant_id", "x-tenant-id")),
        Ok("user") => Ok(variables.user_id("app.user_id").claim("app.tenant_id", "tenant")),
        Ok(other) => Err(Error::internal(format!("BENCH_VARIABLES is {other:?}; it must be headers or user"))),
    }
}
