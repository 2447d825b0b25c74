//! The places of allocations, for a reader.

use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::counter::{Allocation, Counts, Kind};

/// The crates whose functions are left out: they allocate for their callers, or run everything.
const HIDDEN: [&str; 6] = ["__rustc", "alloc", "allocations", "core", "std", "tokio"];

/// The number of functions that are shown, the innermost first.
const DEPTH: usize = 12;

/// Allocations of equal size with equal functions around them.
struct Group {
    kind: Kind,
    bytes: usize,
    functions: Vec<String>,
    count: usize,
}

/// Writes the allocations of a request to standard error, past the capture of tests, in the order
/// of their first occurrence.
pub(crate) fn print(request: &str, counts: Counts, allocations: &[Allocation]) {
    let mut text = format!("\n{request}: {counts}, {} bytes\n", counts.bytes);
    for (number, group) in groups(allocations).iter().enumerate() {
        let kind = match group.kind {
            Kind::Allocation => "allocated",
            Kind::Reallocation => "added by reallocation",
        };
        let (number, count, bytes) = (number + 1, group.count, group.bytes);
        let _ = writeln!(text, "{number:4}. {count} × {bytes} bytes {kind}");
        for function in &group.functions {
            let _ = writeln!(text, "          {function}");
        }
    }

    io::stderr()
        .write_all(text.as_bytes())
        .expect("standard error");
}

fn groups(allocations: &[Allocation]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for Allocation { kind, bytes, place } in allocations {
        let functions = functions(place);
        let known = groups.iter_mut().find(|group| {
            group.kind == *kind && group.bytes == *bytes && group.functions == functions
        });
        match known {
            Some(group) => group.count += 1,
            None => groups.push(Group {
                kind: *kind,
                bytes: *bytes,
                functions,
                count: 1,
            }),
        }
    }

    groups
}

/// Returns the functions of a place, the innermost first, each with its line where the build has
/// it.
///
/// The text of a backtrace has a line such as `5: svc_core::exact_json::write` for each function,
/// and often a line such as `at ./crates/svc-core/src/exact_json.rs:7:5` behind it.
fn functions(place: &Backtrace) -> Vec<String> {
    let text = place.to_string();
    let mut functions: Vec<String> = Vec::new();
    let mut is_shown = false;

    for line in text.lines().map(str::trim) {
        if let Some(file) = line.strip_prefix("at ") {
            let last = functions.last_mut().filter(|_| is_shown);
            last.into_iter()
                .for_each(|function| function.extend([" ", file]));
            continue;
        }

        let name = line.split_once(": ").map_or(line, |(_, name)| name);
        is_shown = name.contains("::") && !HIDDEN.contains(&crate_of(name));
        if is_shown {
            if functions.len() == DEPTH {
                break;
            }
            functions.push(name.to_owned());
        }
    }

    functions
}

/// Returns the crate of a function such as
/// `<&mut svc_core::exact_json::Text as core::fmt::Write>::write_str`.
fn crate_of(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '&', '*', '(', '[']);
    let name = ["mut ", "dyn "]
        .iter()
        .fold(name, |name, word| name.strip_prefix(word).unwrap_or(name));

    name.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default()
}

#[test]
fn the_crate_of_a_function_is_found_in_its_name() {
    for (name, expected) in [
        ("svc_engine::graphql::run::{{closure}}", "svc_engine"),
        (
            "<&mut svc_core::exact_json::Text as core::fmt::Write>::write_str",
            "svc_core",
        ),
        (
            "<alloc::vec::Vec<T,A> as core::clone::Clone>::clone",
            "alloc",
        ),
        ("_start", "_start"),
    ] {
        assert_eq!(crate_of(name), expected, "{name}");
    }
}
