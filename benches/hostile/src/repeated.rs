//! Documents that combine what they hold in many ways.

use std::fmt::Write as _;

use crate::documents::{Attack, numbered, raw};

/// Errors far into a document, fragments in many combinations, filters and orders that nest.
pub(crate) fn documents() -> Vec<(&'static str, String)> {
    let fields = "next{id}".repeat(1_000);
    let shared = format!("fragment f on Node{{{fields}}}");
    let keys = |names: usize, length: usize| {
        numbered(names, |n| format!("{}{n:05}:\"\"", "k".repeat(length)))
    };
    vec![
        ("3,700 repeated fields after 900,000 spaces", {
            format!(
                "{}{{users(where:{{{}}}){{id}}}}",
                " ".repeat(900_000),
                "OR:[]".repeat(3_700)
            )
        }),
        ("1,550 refused fields after 900,000 spaces", {
            format!(
                "{}{{{}}}",
                " ".repeat(900_000),
                "users(limit:-1){id}".repeat(1_550)
            )
        }),
        ("3,000 unknown fields after 900,000 spaces", {
            format!(
                "{}{{{}}}",
                " ".repeat(900_000),
                numbered(3_000, |n| format!("nope{n} "))
            )
        }),
        ("700 operations over one fragment", {
            numbered(700, |n| format!("query q{n}{{start{{...f}}}}")) + &shared
        }),
        ("250 operations over 80 fragments", {
            numbered(250, |n| format!("query q{n}{{start{{...g0}}}}"))
                + &numbered(80, |n| {
                    format!(
                        "fragment g{n} on Node{{...g{} next{{id id id id id}}}}",
                        n + 1
                    )
                })
                + "fragment g80 on Node{id}"
        }),
        ("a tree of 600 fragments", {
            "{start{...g0}}".to_owned()
                + &numbered(600, |n| match (2 * n + 1, 2 * n + 2) {
                    (one, other) if other < 600 => {
                        format!("fragment g{n} on Node{{...g{one}...g{other}}}")
                    }
                    _ => format!("fragment g{n} on Node{{id}}"),
                })
        }),
        ("600 fragments that each spread one of 3,000 fields", {
            let spreads = numbered(600, |n| format!("...g{n}"));
            let fragments = numbered(600, |n| format!("fragment g{n} on Node{{...f}}"));
            format!(
                "{{start{{{spreads}}}}}{fragments}fragment f on Node{{{}}}",
                "id ".repeat(3_000)
            )
        }),
        (
            "99 subsets of fragments beside 1,000 objects",
            subsets(99, "...f") + &small() + &shared,
        ),
        ("99 subsets of fragments", subsets(99, "") + &small()),
        ("subsets that double on 14 levels", doubling(14, 30)),
        ("subsets that double on 7 levels", doubling(7, 80)),
        ("1,300 fragments in a chain", chain(1_300, 0)),
        (
            "99 fragments in a chain, in 45 inline fragments each",
            chain(99, 45),
        ),
        ("two objects of 2,400 keys", {
            let keys = keys(2_400, 1);
            format!("{{echo(json:{{{keys}}})echo(json:{{{keys}}})}}")
        }),
        ("two objects of 2,400 long keys", {
            let keys = keys(2_400, 180);
            format!("{{echo(json:{{{keys}}})echo(json:{{{keys}}})}}")
        }),
        (
            "an object of 4,500 keys",
            format!("{{echo(json:{{{}}})}}", keys(4_500, 1)),
        ),
        ("1,200 variables in 4,000 places", {
            let names = |n: usize| format!("$v{}{n:05}", "v".repeat(100));
            let declared = numbered(1_200, |n| format!("{}:JSON", names(n)));
            let used = numbered(4_000, |n| names(1_199 - n % 1_200));
            format!("query({declared}){{echo(json:[{used}])}}")
        }),
        (
            "a filter through 20 relations",
            format!("{{users(where:{}){{id}}}}", relations(20)),
        ),
        (
            "a filter through 40 relations",
            format!("{{users(where:{}){{id}}}}", relations(40)),
        ),
        ("3,300 comparisons", {
            format!(
                "{{users(where:{{OR:[{}]}}){{id}}}}",
                "{name:{eq:\"x\"}}".repeat(1_600)
            )
        }),
        ("12 keys of an order in a relation", {
            let key = "{author:{name:ASC}}";
            format!("{{posts(order_by:[{}]){{id}}}}", key.repeat(12))
        }),
        (
            "1,000 keys of an order",
            format!(
                "{{posts(order_by:[{}]){{id}}}}",
                "{title:ASC}".repeat(1_000)
            ),
        ),
        ("relations in 6 levels", {
            let inner = "posts(limit:1){author{".repeat(6) + "id" + &"}}".repeat(6);
            format!("{{users(limit:1){{{inner}}}}}")
        }),
        ("introspection 8 times", {
            let ty = (0..8).fold("name".to_owned(), |ty, _| {
                format!("kind name ofType{{{ty}}}")
            });
            let fields =
                format!("name description fields{{name args{{name type{{{ty}}}}}type{{{ty}}}}}");
            format!(
                "{{{}}}",
                numbered(8, |n| format!("s{n}:__schema{{types{{{fields}}}}}"))
            )
        }),
        ("introspection of 4,000 names", {
            format!(
                "{{__schema{{types{{fields{{{}}}}}}}}}",
                "name ".repeat(4_000)
            )
        }),
    ]
}

/// The variables of the conditions of `combined`.
const VARIABLES: usize = 5;

/// A document with another plan for each combination of its variables, in one of them.
pub(crate) fn combined() -> Attack {
    raw(
        "44 subsets of 7 fragments in 4 relations, 5 conditions",
        |number| {
            let declared = numbered(VARIABLES, |n| format!("$v{n}:Boolean!"));
            let roots = numbered(44, |alias| {
                let spreads = numbered(7, |n| {
                    if (127 - alias) >> n & 1 == 1 {
                        format!("...f{n} ")
                    } else {
                        String::new()
                    }
                });
                format!("a{alias}:users(limit:1){{{spreads}}}")
            });
            let (user, post) = ("id name city", "id title body author_id");
            let fragments = numbered(7, |n| {
                let condition = format!("@include(if:$v{})", n % VARIABLES);
                let inner = format!("posts(limit:1){{{post} author{condition}{{{user}}}}}");
                format!(
                    "fragment f{n} on User{{{user} posts(limit:1){{{post} author{{{user} {inner}}}}}}}"
                )
            });
            let values = numbered(VARIABLES, |n| {
                format!(
                    "{}\"v{n}\":{}",
                    if n > 0 { "," } else { "" },
                    number >> n & 1 == 1
                )
            });
            format!(
                r##"{{"query":"query({declared}){{{roots}}}{fragments} #{}","variables":{{{values}}}}}"##,
                number / 8
            )
        },
    )
}

fn subsets(count: usize, beside: &str) -> String {
    let aliases = numbered(count, |alias| {
        let spreads = numbered(7, |bit| {
            if (alias + 1) >> bit & 1 == 1 {
                format!("...g{bit} ")
            } else {
                String::new()
            }
        });
        format!("a{alias}:start{{{spreads}{beside}}}")
    });
    format!("{{{}}}", aliases.replacen("a0:", "", 1))
}

fn small() -> String {
    numbered(7, |n| {
        format!("fragment g{n} on Node{{next{{next{{next{{id}}}}}}}}")
    })
}

/// Fragments on levels, each of which spreads two of the next level below one field and two others
/// below another.
fn doubling(levels: usize, width: usize) -> String {
    let mut text = "{start{...f0x0}}".to_owned();
    for level in 0..levels {
        for n in 0..width {
            let [a, b, c, d] =
                [1, 5, 11, 17].map(|step| format!("...f{}x{}", level + 1, (n * 7 + step) % width));
            let _ = write!(
                text,
                "fragment f{level}x{n} on Node{{next{{{a}{b}}}other{{{c}{d}}}}}"
            );
        }
    }
    text + &numbered(width, |n| format!("fragment f{levels}x{n} on Node{{id}}"))
}

fn chain(fragments: usize, inline: usize) -> String {
    let (open, close) = ("...{".repeat(inline), "}".repeat(inline));
    let all = numbered(fragments, |n| {
        format!("fragment f{n} on Node{{{open}...f{}{close}}}", n + 1)
    });
    format!("{{start{{...f0}}}}{all}fragment f{fragments} on Node{{id}}")
}

fn relations(levels: usize) -> String {
    let pairs = levels / 2;
    "{posts:{some:{author:".repeat(pairs) + "{name:{eq:\"x\"}}" + &"}}}".repeat(pairs)
}
