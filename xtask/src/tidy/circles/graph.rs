//! Parts that depend on each other.

use std::collections::{BTreeMap, BTreeSet};

/// Per folder: which part needs which, and the places that say so.
#[derive(Debug, Default)]
pub(super) struct Edges {
    folders: BTreeMap<String, BTreeMap<(String, String), Vec<String>>>,
}

impl Edges {
    pub(super) fn add(&mut self, folder: String, from: &str, to: &str, place: String) {
        let edges = self.folders.entry(folder).or_default();
        let places = edges.entry((from.to_owned(), to.to_owned())).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
}

/// Parts of a folder that depend on each other.
#[derive(Debug)]
pub(super) struct Circle {
    pub(super) folder: String,
    pub(super) parts: Vec<String>,
    /// From, to, and where; those with the fewest places first.
    pub(super) edges: Vec<(String, String, Vec<String>)>,
}

/// All circles; a part is in one at most.
pub(super) fn circles(edges: &Edges) -> Vec<Circle> {
    edges
        .folders
        .iter()
        .flat_map(|(folder, edges)| circles_of(folder, edges))
        .collect()
}

fn circles_of(folder: &str, edges: &BTreeMap<(String, String), Vec<String>>) -> Vec<Circle> {
    let parts: BTreeSet<&String> = edges.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> = parts
        .iter()
        .map(|part| (*part, reach(part, edges)))
        .collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for part in parts {
        let circle: Vec<String> = reached[part]
            .iter()
            .filter(|&&other| reached[other].contains(part))
            .map(|&other| other.clone())
            .collect();

        if circle.is_empty() || !seen.insert(circle.clone()) {
            continue;
        }

        let inside = edges
            .iter()
            .filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let mut inside: Vec<_> = inside
            .map(|((from, to), places)| (from.clone(), to.clone(), places.clone()))
            .collect();
        inside.sort_by_key(|(_, _, places)| places.len());

        circles.push(Circle {
            folder: folder.to_owned(),
            parts: circle,
            edges: inside,
        });
    }

    circles
}

/// The parts that a part needs, directly or through others; itself only when it lies on a circle.
fn reach<'a>(
    part: &String,
    edges: &'a BTreeMap<(String, String), Vec<String>>,
) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![part];
    while let Some(next) = open.pop() {
        for (_, to) in edges.keys().filter(|(from, _)| from == next) {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }

    reached
}
