//! The reference, and the list of the public items in it.
//!
//! Rustdoc resolves re-exports and expands macros, so its pages show the public API as programs see
//! it. `svc/public-api.txt` lists it with all features.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::features::metadata;
use crate::run::{cargo, run};

const LIST: &str = "svc/public-api.txt";

/// The most lines that a message shows of each side.
const SHOWN: usize = 10;

/// The parts of an item, by the prefix of their anchors in its page.
const PARTS: [(&str, &str); 6] = [
    ("associatedconstant.", "constant"),
    ("associatedtype.", "type"),
    ("method.", "fn"),
    ("structfield.", "field"),
    ("tymethod.", "fn"),
    ("variant.", "variant"),
];

/// Marks documentation in a page.
const DOCUMENTATION: &str = "class=\"docblock\"";

/// The sections of a page that show what other items give to this one.
const SECTIONS_OF_OTHERS: [&str; 5] = [
    " id=\"deref-methods",
    " id=\"trait-implementations\"",
    " id=\"synthetic-implementations\"",
    " id=\"foreign-impls\"",
    " id=\"implementors\"",
];

/// A field, variant, method or associated item.
#[derive(Debug, PartialEq)]
struct Part {
    name: String,
    kind: &'static str,
    is_documented: bool,
}

/// A new part without documentation is visible in the list: the internal crates allow
/// `missing_docs`.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, .. } = self;
        write!(f, "{name} {kind}")?;
        if !self.is_documented {
            f.write_str(" (undocumented)")?;
        }
        Ok(())
    }
}

/// Builds the reference without warnings, and compares its items with the list; with `bless`,
/// writes the list.
pub(crate) fn reference(bless: bool) -> Result<()> {
    let mut command = cargo();
    command
        .args(["doc", "--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings");
    run(&mut command)?;

    let metadata = metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .context("cargo has not named its target directory")?;
    let documented = public_api(&Path::new(target).join("doc/svc"))?;

    if bless {
        let text = documented.into_iter().collect::<Vec<_>>().join("\n") + "\n";
        return fs::write(LIST, text).with_context(|| format!("cannot write {LIST}"));
    }

    let listed = read(Path::new(LIST))?;
    let listed = listed.lines().map(str::to_owned).collect();
    match difference(&listed, &documented) {
        None => Ok(()),
        Some(difference) => bail!(
            "the public API of svc differs from {LIST}:\n{difference}If this is intended, run \
             `cargo xtask reference --bless`"
        ),
    }
}

/// Returns the items, their parts, the modules and the re-exports in the reference of svc, one on
/// each line.
fn public_api(folder: &Path) -> Result<BTreeSet<String>> {
    let mut items = BTreeSet::new();
    add_module(&mut items, folder, "svc")?;
    for link in anchors(&read(&folder.join("all.html"))?, "<li><a href=\"") {
        let Some((path, kind)) = item(link) else {
            continue;
        };

        let page = read(&folder.join(link))?;
        items.extend(
            parts(&page)
                .into_iter()
                .map(|part| format!("{path}::{part}")),
        );
        items.insert(format!("{path} {kind}"));
    }

    Ok(items)
}

/// Adds the modules in a module, and its re-exports, which have no pages there.
fn add_module(items: &mut BTreeSet<String>, folder: &Path, path: &str) -> Result<()> {
    let page = read(&folder.join("index.html"))?;
    let names = anchors(&page, " id=\"reexport.");
    items.extend(names.map(|name| format!("{path}::{name} re-export")));

    for link in anchors(&page, "<a class=\"mod\" href=\"") {
        let Some(name) = link.strip_suffix("/index.html") else {
            continue;
        };
        // Other links lead to modules of other crates.
        if name.contains('/') {
            continue;
        }

        let module = format!("{path}::{name}");
        add_module(items, &folder.join(name), &module)?;
        items.insert(format!("{module} module"));
    }

    Ok(())
}

/// Returns the path and the kind of the item on a page such as `auth/struct.Bearer.html`.
fn item(link: &str) -> Option<(String, &str)> {
    let (folder, page) = link.rsplit_once('/').unwrap_or(("", link));
    let (kind, name) = page.strip_suffix(".html")?.split_once('.')?;
    let modules = folder.split('/').filter(|module| !module.is_empty());
    let path = std::iter::once("svc").chain(modules).chain([name]);

    Some((path.collect::<Vec<_>>().join("::"), kind))
}

/// Returns the fields, variants, methods and associated items on a page.
fn parts(page: &str) -> Vec<Part> {
    let end = SECTIONS_OF_OTHERS
        .iter()
        .filter_map(|section| page.find(section))
        .min();
    let own = &page[..end.unwrap_or(page.len())];

    let mut parts: Vec<Part> = Vec::new();
    for section in own.split(" id=\"").skip(1) {
        parts.extend(part(section));
        // The documentation of a part comes after its anchor, and before the next part.
        if let Some(part) = parts.last_mut() {
            part.is_documented |= section.contains(DOCUMENTATION);
        }
    }

    parts
}

/// Returns the part whose anchor a section of a page begins with.
fn part(section: &str) -> Option<Part> {
    let (anchor, _) = section.split_once('"')?;
    let (name, kind) = PARTS
        .iter()
        .find_map(|(prefix, kind)| Some((anchor.strip_prefix(prefix)?, *kind)))?;

    // The heading above the fields of a variant has an anchor, too.
    if name.ends_with(".fields") {
        return None;
    }

    // Rustdoc numbers anchors with the same name, as of methods of several `impl` blocks.
    let name = name.split_once('-').map_or(name, |(name, _)| name);
    let (name, kind) = match name.split_once(".field.") {
        Some((variant, field)) => (format!("{variant}::{field}"), "field"),
        None => (name.to_owned(), kind),
    };

    Some(Part {
        name,
        kind,
        is_documented: false,
    })
}

/// The values of an attribute, given the text before them.
fn anchors<'p>(page: &'p str, before: &str) -> impl Iterator<Item = &'p str> {
    page.split(before)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0))
}

/// Describes the first lines that only one of two lists has; `None` if they are equal.
fn difference(listed: &BTreeSet<String>, documented: &BTreeSet<String>) -> Option<String> {
    let mut text = String::new();
    for (sign, these, others) in [('-', listed, documented), ('+', documented, listed)] {
        let lines: Vec<_> = these.difference(others).collect();
        for line in lines.iter().take(SHOWN) {
            let _ = writeln!(text, "{sign} {line}");
        }
        if let Some(more @ 1..) = lines.len().checked_sub(SHOWN) {
            let _ = writeln!(text, "{sign} and {more} more");
        }
    }

    (!text.is_empty()).then_some(text)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{difference, item, parts};

    #[test]
    fn the_link_of_a_page_has_the_path_and_the_kind() {
        assert_eq!(
            item("auth/struct.Bearer.html"),
            Some(("svc::auth::Bearer".to_owned(), "struct"))
        );
        assert_eq!(
            item("macro.types.html"),
            Some(("svc::types".to_owned(), "macro"))
        );
        assert_eq!(item("index.html"), None);
    }

    #[test]
    fn methods_of_implemented_traits_are_no_parts() {
        let page = r##"<a href="#method.find">find</a>
            <section id="method.find" class="method"></section>
            <div class="docblock">Finds.</div>
            <section id="method.find-1" class="method">
            <section id="variant.Ended" class="variant">
            <h4 id="variant.Ended.fields">Fields</h4>
            <span id="variant.Ended.field.at" class="x"></span>
            <div class="docblock">When.</div>
            <h2 id="trait-implementations" class="section-header">
            <section id="method.fmt" class="method trait-impl">"##;
        assert_eq!(
            parts(page)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            [
                "find fn",
                "find fn (undocumented)",
                "Ended variant (undocumented)",
                "Ended::at field",
            ]
        );
    }

    #[test]
    fn a_renamed_item_is_shown_on_both_sides() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let (listed, documented): (BTreeSet<_>, BTreeSet<_>) = (
            list(&["svc::A struct", "svc::B struct"]),
            list(&["svc::A struct", "svc::C struct"]),
        );

        assert_eq!(
            difference(&listed, &documented).as_deref(),
            Some("- svc::B struct\n+ svc::C struct\n")
        );
        assert_eq!(difference(&listed, &listed), None);
    }
}
