//! The packages without features, and with each feature alone.
//!
//! The features of internal crates are not checked by themselves: `svc` forwards its own to them, so
//! the checks of `svc` compile every set that a program can choose.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::passed::{self, Inputs};
use crate::run::{cargo, run};

/// The name of the record of the check.
const CHECK: &str = "features";

/// Checks every package whose features programs choose: without any, and with each alone; then
/// records that they pass.
pub(crate) fn each_feature() -> Result<()> {
    let metadata = metadata()?;
    for (package, feature) in combinations(&metadata) {
        check(package, feature)?;
    }
    passed::write(CHECK, inputs(&metadata)?)
}

/// Checks every package without features, and with each alone if the declarations or conditions of
/// features have changed since the check passed.
pub(crate) fn changed_features() -> Result<()> {
    let metadata = metadata()?;
    if !passed::has_passed(CHECK, inputs(&metadata)?)? {
        eprintln!(
            "features have changed; `cargo xtask features` checks each alone and records it for CI"
        );
        return each_feature();
    }

    for (package, _) in combinations(&metadata)
        .into_iter()
        .filter(|(_, feature)| feature.is_none())
    {
        check(package, None)?;
    }

    Ok(())
}

/// Returns what cargo knows about the packages of the workspace.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    serde_json::from_slice(&output.stdout).context("cannot read cargo's metadata of the workspace")
}

fn check(package: &str, feature: Option<&str>) -> Result<()> {
    let mut command = cargo();
    command.args(["clippy", "--package", package, "--no-default-features"]);
    command.args(
        feature
            .map(|feature| ["--features", feature])
            .into_iter()
            .flatten(),
    );

    run(command.args(["--", "-D", "warnings"]))
}

/// The packages with features that programs choose, each with none and with one of them.
fn combinations(metadata: &Value) -> Vec<(&str, Option<&str>)> {
    let mut combinations = Vec::new();
    for package in packages(metadata).filter(|package| !is_internal(package)) {
        let Some((name, features)) = package["name"]
            .as_str()
            .zip(package["features"].as_object())
        else {
            continue;
        };

        if !features.is_empty() {
            combinations.push((name, None));
        }
        let alone = features.keys().filter(|feature| *feature != "default");
        combinations.extend(alone.map(|feature| (name, Some(feature.as_str()))));
    }

    combinations
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// Whether the package is an internal part of `svc`, by `package.metadata.svc.internal`.
fn is_internal(package: &Value) -> bool {
    package["metadata"]["svc"]["internal"] == true
}

/// The declarations of features, and the conditions in the sources of packages that have features.
fn inputs(metadata: &Value) -> Result<Inputs> {
    let mut inputs = Inputs::default();
    for package in packages(metadata) {
        if package["features"]
            .as_object()
            .is_none_or(serde_json::Map::is_empty)
        {
            continue;
        }

        inputs.add(&package["features"].to_string());
        let manifest = package["manifest_path"]
            .as_str()
            .context("a package has no manifest")?;
        let folder = Path::new(manifest)
            .parent()
            .context("a manifest has no folder")?;

        add_conditions(&mut inputs, &folder.join("src"), folder)?;
    }

    Ok(inputs)
}

/// Adds each line of the Rust files below a folder that names a feature, with the path of its file.
fn add_conditions(inputs: &mut Inputs, folder: &Path, package: &Path) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();

    for path in paths {
        if path.is_dir() {
            add_conditions(inputs, &path, package)?;
            continue;
        }

        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }

        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let file = path
            .strip_prefix(package)
            .unwrap_or(&path)
            .to_string_lossy();

        for line in text.lines().filter(|line| line.contains("feature = \"")) {
            inputs.add(&file);
            inputs.add(line.trim());
        }
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::combinations;

    #[test]
    fn each_feature_is_checked_alone() {
        let metadata = json!({ "packages": [
            { "name": "a", "features": { "default": ["x"], "x": [], "y": ["x"] } },
            { "name": "b", "features": {} },
            {
                "name": "c",
                "features": { "z": [] },
                "metadata": { "svc": { "internal": true } },
            },
        ] });
        assert_eq!(
            combinations(&metadata),
            [("a", None), ("a", Some("x")), ("a", Some("y"))]
        );
    }
}
