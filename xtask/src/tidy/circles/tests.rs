//! A seeded circle is found, with the lines that make it; what is none is not.

use std::path::Path;

use crate::tidy::circles::check;
use crate::tidy::known::Known;
use crate::tidy::source::Source;
use crate::tidy::{sources, tracked_files};

/// The crate that the seeded files belong to.
const ROOT: &str = "svc/src";

fn found(files: &[(&str, &str)], known: &str) -> Vec<String> {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::parse(&Path::new(ROOT).join(path), text).unwrap())
        .collect();
    let mut known = Known::parse(known).unwrap();
    let mut found = check(&sources, &mut known, false);
    found.extend(known.finish(false).unwrap());
    found
}

const SEEDED: [(&str, &str); 4] = [
    ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;"),
    ("a/mod.rs", "mod inner;\npub struct A;"),
    ("a/inner.rs", "fn f() {\n    crate::b::g();\n}"),
    ("b.rs", "use crate::c::C;\npub fn g() {}"),
];

#[test]
fn no_circle_is_found_where_none_is() {
    let files = [
        SEEDED.as_slice(),
        &[(
            "c.rs",
            "pub struct C;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
        )],
    ]
    .concat();
    assert_eq!(found(&files, ""), Vec::<String>::new());
}

#[test]
fn a_seeded_circle_is_shown_with_its_lines() {
    // The type is named where the crate's root passes it on.
    let files = [
        SEEDED.as_slice(),
        &[("c.rs", "pub struct C;\nimpl From<crate::A> for C {}")],
    ]
    .concat();

    let expected = "svc/src: a circle of a, b, c\n    \
                    a needs b (1): svc/src/a/inner.rs:2\n    \
                    b needs c (1): svc/src/b.rs:1\n    \
                    c needs a (1): svc/src/c.rs:2";
    assert_eq!(found(&files, ""), [expected]);

    assert_eq!(found(&files, "circle svc/src: a b c"), Vec::<String>::new());
}

/// One line in a file at the ground, which names the top, is enough.
#[test]
fn a_circle_seeded_among_the_folders_of_svc_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = tracked_files(root).unwrap();
    let mut sources = sources(&files).unwrap();
    let among_folders = |sources: &[Source]| {
        let found = check(sources, &mut Known::parse("").unwrap(), false);
        found
            .into_iter()
            .filter(|circle| circle.starts_with("svc/src: "))
            .collect::<Vec<_>>()
    };

    assert_eq!(among_folders(&sources), Vec::<String>::new());

    let ground = files
        .iter()
        .find(|file| file.path == Path::new("svc/src/rate_limit/mod.rs"))
        .unwrap();
    let seeded = format!(
        "{}\nfn seeded(_: crate::app::SvcConfig) {{}}\n",
        ground.text
    );
    sources.push(Source::parse(&ground.path, &seeded).unwrap());
    let found = among_folders(&sources);
    assert_eq!(found.len(), 1, "{found:?}");
    let line = ground.text.lines().count() + 2;

    assert!(
        found[0].contains(&format!(
            "rate_limit needs app (1): svc/src/rate_limit/mod.rs:{line}"
        )),
        "{}",
        found[0]
    );
}

#[test]
fn files_of_one_folder_may_be_a_circle_too() {
    let files = [
        (
            "a/mod.rs",
            "mod one;\nmod two;\npub(crate) use one::One;\npub struct Shared;",
        ),
        (
            "a/one.rs",
            "pub struct One(super::two::Two, super::Shared);",
        ),
        ("a/two.rs", "use super::One;\npub struct Two;"),
    ];

    let found = found(&files, "");
    assert_eq!(found.len(), 1);

    assert!(
        found[0].starts_with("svc/src/a: a circle of one, two"),
        "{found:?}"
    );
}

#[test]
fn the_list_of_known_circles_may_only_shrink() {
    let two = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A;"),
        ("c.rs", ""),
    ];

    let found = found(&two, "circle svc/src: a b c\ncircle svc/src/gone: x y");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("circle svc/src: a b"), "{found:?}");

    assert!(found[1].contains("circle svc/src/gone: x y"), "{found:?}");
}
