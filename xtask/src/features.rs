//! Each feature alone.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::run::{cargo, run};

/// Checks every package that has features: without any, and with each alone. All share one target folder.
pub(crate) fn each_feature() -> Result<()> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata = serde_json::from_slice(&output.stdout).context("cannot read what cargo says of the workspace")?;
    for (package, feature) in combinations(&metadata) {
        let mut command = cargo();
        command.args(["clippy", "--package", package, "--no-default-features"]);
        command.args(feature.map(|feature| ["--features", feature]).into_iter().flatten());
        run(command.args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// The packages with features, each with none and with one of them.
fn combinations(metadata: &Value) -> Vec<(&str, Option<&str>)> {
    let mut combinations = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (Some(name), Some(features)) = (package["name"].as_str(), package["features"].as_object()) else {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::combinations;

    #[test]
    fn each_feature_is_checked_alone() {
        let metadata = json!({ "packages": [
            { "name": "a", "features": { "default": ["x"], "x": [], "y": ["x"] } },
            { "name": "b", "features": {} },
        ] });
        assert_eq!(combinations(&metadata), [("a", None), ("a", Some("x")), ("a", Some("y"))]);
    }
}
