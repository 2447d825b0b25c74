//! Directives, arguments and values.

use rand::Rng as _;

use super::Breaker;
pub(super) fn known_directives(b: &mut Breaker<'_>) {
    let directive = b.one(&[
        "@nope",
        "@deprecated",
        "@specifiedBy(url: \"\")",
        "@oneOf",
        "@nope(if: true)",
        "@Skip(if: true)",
    ]);
    match b.random.random_range(0..5) {
        0 => b.query().directives.push(directive.to_owned()),
        1 => b.query().directives.push("@skip(if: false)".to_owned()),
        2 => {
            b.declare("d", &format!("Int {directive}"), None);
            b.insert_root("x1: echo(int: $d)");
        }
        3 => b.change(&|_, _| true, &mut |field| {
            field.directives.push(directive.to_owned());
        }),
        _ => b.insert(format!("... {directive} {{ __typename }}")),
    }
}

pub(super) fn unique_directives(b: &mut Breaker<'_>) {
    let pair = b.one(&[
        "@skip(if: false) @skip(if: true)",
        "@include(if: true) @skip(if: false) @include(if: true)",
        "@skip(if: false) @skip(if: false)",
    ]);
    match b.random.random_range(0..3) {
        0 => b.change(&|_, _| true, &mut |field| {
            field.directives = vec![pair.to_owned()];
        }),
        1 => b.insert(format!("... {pair} {{ __typename }}")),
        _ => b.insert(format!("__typename {pair}")),
    }
}

pub(super) fn known_argument_names(b: &mut Breaker<'_>) {
    match b.random.random_range(0..5) {
        0 => b.insert("__typename(a: 1)"),
        1 => b.insert("__typename @skip(if: true, unless: false)"),
        2 => b.insert_root("x1: echo(Int: 1)"),
        3 => b.insert_root("x1: users(first: 1) { id }"),
        _ => b.change(&|_, _| true, &mut |field| {
            field.args.push(("nope".to_owned(), "1".to_owned()));
        }),
    }
}

pub(super) fn unique_argument_names(b: &mut Breaker<'_>) {
    match b.random.random_range(0..4) {
        0 => b.insert("__typename @skip(if: true, if: true)"),
        1 => b.insert_root("x1: echo(int: 1, int: 1)"),
        2 => b.insert_root("x1: users(limit: 1, limit: 2) { id }"),
        _ => b.change(&|_, field| !field.args.is_empty(), &mut |field| {
            field.args.push(field.args[0].clone());
        }),
    }
}

pub(super) fn values_of_correct_type(b: &mut Breaker<'_>) {
    let value = b.one(&[
        "1",
        "1.5",
        "\"s\"",
        "true",
        "NOBODY",
        "READER",
        "null",
        "[]",
        "[[]]",
        "{}",
        "{name: 1}",
        "{name: null}",
        "{name: \"\", nope: 1}",
        "{id: 1, name: \"\"}",
        "{id: null}",
        "2147483648",
        "-2147483649",
        "1e400",
        "[1, \"s\"]",
        "[null]",
        "{shape: {}}",
        "{name: \"\", role: \"READER\"}",
        "{name: \"\", inner: {}}",
        "\"READER\"",
        "1e3",
        "-0",
        "{name: \"\", ids: [[null]]}",
        "{name: \"\", ids: 1}",
        "99999999999999999999",
    ]);
    let arg = b.one(&[
        "int", "ints", "float", "text", "flag", "id", "role", "roles", "shape", "shapes", "by",
        "matrix",
    ]);
    match b.random.random_range(0..6) {
        0 => {
            let ty = b.one(&[
                "Int", "Int!", "[Int!]", "Role", "Shape", "By", "Boolean", "String", "ID", "Float!",
            ]);
            b.declare("bad", ty, Some(value));
            b.insert_root("x1: echo(text: $bad, int: $bad, role: $bad, shape: $bad, by: $bad, ints: $bad, id: $bad)");
        }
        1 => b.insert(format!("__typename @skip(if: {value})")),
        2 => {
            // The reference has no filters, so a valid one would not be the same.
            let valid = value.contains("null");
            let arg = if valid {
                "orderBy"
            } else {
                b.one(&["where", "orderBy", "limit", "offset"])
            };
            b.insert_root(format!("x1: users({arg}: {value}) {{ id }}"));
        }
        3 => b.insert_root(format!(
            "x1: echoRequired(int: 1, shape: {value}, by: {value}, roles: {value})"
        )),
        _ => b.insert_root(format!("x1: echo({arg}: {value})")),
    }
}

pub(super) fn provided_required_arguments(b: &mut Breaker<'_>) {
    match b.random.random_range(0..5) {
        0 => b.insert_root("x1: echoRequired"),
        1 => b.insert_root("x1: echoRequired(int: 1, by: {id: 1})"),
        2 => b.insert_root("x1: user { id }"),
        3 => b.insert("__typename @skip"),
        _ => b.insert("... @include { __typename }"),
    }
}

pub(super) fn variables_in_allowed_position(b: &mut Breaker<'_>) {
    let (ty, default) = b.one(&[
        ("Int", None),
        ("Int", Some("null")),
        ("Int", Some("1")),
        ("Int!", None),
        ("[Int]", None),
        ("[Int!]!", None),
        ("Boolean", None),
        ("Boolean", Some("null")),
        ("Boolean", Some("true")),
        ("String!", None),
        ("ID", Some("1")),
        ("Float", None),
        ("Role", None),
        ("Role!", None),
        ("[[Int]]", None),
        ("Shape", None),
        ("By", None),
        ("String", None),
    ]);
    let text = b.one(&[
        "x1: echoRequired(int: $v, shape: {name: \"\"}, by: {id: 1}, roles: [])",
        "x1: echo(int: $v)",
        "x1: echo(ints: $v)",
        "x1: echo(ints: [1, $v])",
        "x1: echo(matrix: $v)",
        "x1: echo(matrix: [$v])",
        "x1: echo(matrix: [[$v]])",
        "x1: echo(by: {id: $v})",
        "x1: echo(by: {name: $v})",
        "x1: echo(by: $v)",
        "x1: echo(float: $v)",
        "x1: echo(id: $v)",
        "x1: echo(role: $v)",
        "x1: echo(roles: [$v])",
        "x1: echo(shape: {name: $v})",
        "x1: echo(shape: {name: \"\", role: $v})",
        "x1: echo(shape: {name: \"\", size: $v})",
        "x1: echo(shape: {name: \"\", inner: $v})",
        "x1: echoDefaults(int: $v)",
        "x1: echoDefaults(text: $v)",
        "x1: user(id: $v) { id }",
        "x1: users(where: {age: {eq: $v}}) { id }",
        "x1: __typename @skip(if: $v)",
        "... @include(if: $v) { x1: __typename }",
        "x1: __type(name: $v) { name }",
    ]);
    b.declare("v", ty, default);
    if b.random.random_bool(0.3) {
        b.fragment("Uses", "Query", text);
        b.insert_root("...Uses");
    } else {
        b.insert_root(text);
    }
}

pub(super) fn unique_input_field_names(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "x1: echo(shape: {name: \"a\", name: \"a\"})",
        "x1: echo(shape: {name: \"a\", inner: {name: \"b\", size: 1, size: 2}})",
        "x1: echo(by: {id: 1, id: 2})",
        "x1: echo(by: {shape: {name: \"a\", name: \"a\"}})",
        "x1: echo(shapes: [{name: \"a\"}, {name: \"a\", role: READER, role: READER}])",
        "x1: users(where: {name: {eq: \"a\", eq: \"b\"}}) { id }",
        "x1: echo(int: {a: 1, a: 2})",
    ]);
    if b.random.random_bool(0.2) {
        b.declare("s", "Shape", Some("{name: \"a\", name: \"b\"}"));
        b.insert_root("x1: echo(shape: $s)");
    } else {
        b.insert_root(text);
    }
}
