//! Circles among modules.
//!
//! Each folder of a crate is a level of its own, and what lies in it directly (files, and folders
//! with all they hold) are its parts. A part depends on another when a path inside of it names
//! something inside the other. The folder's own `mod.rs` (`lib.rs` at the top) is not a part of the
//! level: it is the folder, and parts may use what it defines. What it only passes on from a part
//! (`pub use part::Item`) is the part's, so that no circle hides behind it; what it passes on from
//! elsewhere counts as the folder's. Tests count for nothing.
//!
//! Parts that depend on each other, directly or through others, are a circle.

mod graph;
mod resolve;

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::tidy::circles::graph::{Circle, circles};
use crate::tidy::circles::resolve::edges;
use crate::tidy::known::Known;
use crate::tidy::source::Source;

/// The crates whose folders are checked.
const ROOTS: [&str; 6] = [
    "crates/svc-auth/src",
    "crates/svc-core/src",
    "crates/svc-engine/src",
    "crates/svc-postgres/src",
    "crates/svc-telemetry/src",
    "svc/src",
];

/// Circles that are not known, with what makes them.
pub(crate) fn check(sources: &[Source], known: &mut Known, show_all: bool) -> Vec<String> {
    let mut found = Vec::new();
    let all = ROOTS.map(|root| circles(&edges(Path::new(root), sources)));
    for circle in all.into_iter().flatten() {
        let is_known = known.circle(&circle.folder, &circle.parts);
        if !is_known {
            found.push(shown(&circle));
        } else if show_all {
            println!("{}\n", shown(&circle));
        }
    }

    found
}

/// The circle, with each dependency in it and the lines that make it, the fewest first.
fn shown(circle: &Circle) -> String {
    let mut text = format!("{}: a circle of {}", circle.folder, circle.parts.join(", "));
    for (from, to, places) in &circle.edges {
        text += &format!(
            "\n    {from} needs {to} ({}): {}",
            places.len(),
            places.join(" ")
        );
    }

    text
}
