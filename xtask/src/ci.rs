//! Everything that has to pass.

use std::time::Instant;

use anyhow::Result;

use crate::deny::deny;
use crate::features::each_feature;
use crate::run::{cargo, run};
use crate::test::{test_on_newest_postgres, test_patiently};
use crate::tidy::{self, tidy};

/// Tests first, as they say most; the summary of the tests comes last.
pub(crate) fn ci() -> Result<()> {
    let start = Instant::now();
    let summary = test_patiently()? + test_on_newest_postgres()?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))?;
    each_feature()?;
    run(cargo().args(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    deny()?;
    tidy(tidy::Options::default())?;
    eprintln!("all checks passed in {} s", start.elapsed().as_secs());
    println!("{summary}");
    Ok(())
}
