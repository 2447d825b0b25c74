//! Measures what the README's smallest program costs to build from nothing, with each set of
//! features.

use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use crate::build::{Cost, cargo_in};

/// The sets of features, and how they are called in the table.
const SETS: [(&str, &str); 7] = [
    ("as it comes", "[\"embedded\"]"),
    (
        "without `sqlx`",
        "[\"embedded\", \"graphiql\", \"logging\", \"scalars\", \"tls\"], default-features = false",
    ),
    ("`auth`", "[\"embedded\", \"auth\"]"),
    ("`idp`", "[\"embedded\", \"idp\"]"),
    ("`native-auth`", "[\"embedded\", \"native-auth\"]"),
    ("`sessions`", "[\"embedded\", \"sessions\"]"),
    ("`redis`", "[\"embedded\", \"redis\"]"),
];

/// Prints the table; `before` is another checkout, whose program as it comes is the first row.
/// `sets` are the names of those to build, or none for all.
pub(crate) fn measure(folder: &Path, before: Option<&Path>, sets: &[String]) -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut rows = Vec::new();
    if let Some(before) = before {
        rows.push(("before", Program::new(folder, before, SETS[0].1)?.build()?));
    }
    let is_wanted =
        |name: &str| sets.is_empty() || sets.iter().any(|set| *set == name.replace('`', ""));
    for (name, features) in SETS.into_iter().filter(|(name, _)| is_wanted(name)) {
        rows.push((name, Program::new(folder, &repository, features)?.build()?));
    }
    let Some((_, (_, first))) = rows.first() else {
        return Err(Error::other(format!(
            "there is no set of features of these names: {}",
            sets.join(", ")
        )));
    };
    let first = first.cpu;
    let mut table = String::new();
    for (name, (crates, cost)) in rows {
        let _ = writeln!(
            table,
            "| {name} | {crates} | {:.0} s | {:.2} |",
            cost.cpu,
            cost.cpu / first
        );
    }
    println!("<!-- begin smallest -->\n{}\n", report::hardware());
    println!(
        "| the smallest program | crates | CPU of `cargo build` | ratio |\n|---|---:|---:|---:|"
    );
    println!("{table}<!-- end smallest -->");
    Ok(())
}

/// The smallest program on one checkout of svc.
struct Program {
    folder: PathBuf,
}

impl Program {
    fn new(folder: &Path, checkout: &Path, features: &str) -> Result<Self> {
        let folder = folder.join("smallest");
        let source = checkout.join("examples/quickstart/src");
        fs::create_dir_all(folder.join("src"))?;
        for file in ["main.rs", "schema.sql"] {
            fs::copy(source.join(file), folder.join("src").join(file))?;
        }
        // The versions that this checkout is tested with.
        fs::copy(checkout.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let manifest = format!(
            "[package]\nname = \"smallest\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             svc = {{ path = {:?}, features = {features} }}\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n",
            checkout.join("svc").display().to_string(),
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        Ok(Self { folder })
    }

    /// Builds it from nothing; the number of crates that were compiled, and their cost.
    fn build(&self) -> Result<(usize, Cost)> {
        let target = self.folder.join("target");
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        let mut command = cargo_in(&self.folder, &target);
        // A program that is built once keeps nothing for a next build.
        command
            .args(["build", "--color", "never"])
            .env("CARGO_INCREMENTAL", "0");
        let (cost, printed) = Cost::of(command)?;
        let crates = printed
            .lines()
            .filter(|line| line.trim_start().starts_with("Compiling "))
            .count();
        if crates == 0 {
            return Err(Error::other("cargo compiled nothing"));
        }
        eprintln!("{crates} crates, {:.1} s, {:.1} s CPU", cost.wall, cost.cpu);
        Ok((crates, cost))
    }
}
