//! The features of svc enabled in a program.

use std::process::Stdio;

use serde::Deserialize;

use super::cargo::cargo;
use crate::project::Project;

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Option<Resolve>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    id: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    features: Vec<String>,
}

/// Whether svc has a feature in a project; none if cargo does not report it.
pub(crate) fn has_feature(project: &Project, feature: &str) -> Option<bool> {
    let mut cargo = cargo();
    cargo
        .args(["metadata", "--format-version=1"])
        .current_dir(project.root());
    let output = cargo
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;

    has(&serde_json::from_slice(&output.stdout).ok()?, feature)
}

fn has(metadata: &Metadata, feature: &str) -> Option<bool> {
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name == "svc")?;

    // The resolved features, because a dependency may enable more than the manifest of the program
    // does.
    let node = metadata
        .resolve
        .as_ref()?
        .nodes
        .iter()
        .find(|node| node.id == package.id)?;

    Some(node.features.iter().any(|name| name == feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_are_those_of_svc() {
        let metadata = r#"{"packages": [{"name": "svc", "id": "path+x#svc"}, {"name": "b", "id": "b"}],
            "resolve": {"nodes": [{"id": "b", "features": ["idp"]}, {"id": "path+x#svc", "features": ["auth", "tls"]}]}}"#;
        let metadata = serde_json::from_str(metadata).unwrap();
        assert_eq!(has(&metadata, "auth"), Some(true));
        assert_eq!(has(&metadata, "idp"), Some(false));
    }
}
