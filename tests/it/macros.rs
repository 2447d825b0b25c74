//! The macros' messages, and the programs that they take.

/// Mistakes that the macros explain, and odd programs that they take.
#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    for topic in [
        "arguments",
        "authorization",
        "computed",
        "enums",
        "fields",
        "inputs",
        "interfaces",
        "mutations",
        "queries",
        "relations",
        "results",
        "scalars",
        "types",
        "unions",
    ] {
        cases.compile_fail(format!("ui/{topic}/*.rs"));
    }
    cases.pass("ui/pass/*.rs");
}
