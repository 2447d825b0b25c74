//! Operations, type conditions and variables.

use rand::Rng as _;

use super::super::document::Selection;
use super::Breaker;
pub(super) fn executable_definitions(b: &mut Breaker<'_>) {
    let other = b.one(&[
        "type X { a: Int }",
        "extend type User { x: Int }",
        "schema { query: Query }",
        "directive @d on FIELD",
        "scalar S",
        "enum E { A }",
        "input I { a: Int }",
        "union U = User",
        "interface I { a: Int }",
        "\"described\" type X { a: Int }",
        "extend schema @skip(if: true)",
    ]);
    b.document.others.push(other.to_owned());
}

pub(super) fn unique_operation_names(b: &mut Breaker<'_>) {
    let mut again = b.document.operations[0].clone();
    b.document.operations[0].name = Some("Same".to_owned());
    again.name = Some("Same".to_owned());
    if b.random.random_bool(0.3) {
        again.kind = "mutation";
        again.set = vec![Selection::Raw("__typename".to_owned())];
    }
    b.document.operations.push(again);
}

pub(super) fn lone_anonymous_operation(b: &mut Breaker<'_>) {
    let other = b.one(&[
        "{ __typename }",
        "query { __typename }",
        "mutation { fail }",
        "query ($x: Int) { echo(int: $x) }",
    ]);
    b.document.others.push(other.to_owned());
}

pub(super) fn single_field_subscriptions(b: &mut Breaker<'_>) {
    let other = b.one(&[
        "subscription S { a b }",
        "subscription S { users { id } }",
        "subscription S { __typename }",
    ]);
    b.document.operations[0].name = Some("First".to_owned());
    b.document.others.push(other.to_owned());
}

pub(super) fn known_type_names(b: &mut Breaker<'_>) {
    match b.random.random_range(0..4) {
        0 => b.insert("... on Nope { id }"),
        1 => {
            b.fragment("OnNope", "Nope", "id");
            b.insert("...OnNope");
        }
        2 => {
            b.declare("nope", "Nope", None);
            b.insert_root("x1: echo(int: $nope)");
        }
        _ => {
            b.declare("nope", "[Nope!]!", None);
            b.insert_root("x1: echo(ints: $nope)");
        }
    }
}

pub(super) fn fragments_on_composite_types(b: &mut Breaker<'_>) {
    let ty = b.one(&["String", "Int", "Role", "Shape", "By", "ID", "UserWhere"]);
    if b.random.random_bool(0.5) {
        b.insert(format!("... on {ty} {{ id }}"));
    } else {
        b.fragment("OnLeaf", ty, "id");
        b.insert("...OnLeaf");
    }
}

pub(super) fn variables_are_input_types(b: &mut Breaker<'_>) {
    let ty = b.one(&["User", "[User]", "Found!", "Node", "[Written!]!", "Query"]);
    b.declare("out", ty, None);
    b.insert_root("x1: echo(shape: $out)");
}

pub(super) fn unique_variable_names(b: &mut Breaker<'_>) {
    let ty = b.one(&["Int", "Int!", "String"]);
    b.declare("same", "Int", None);
    b.declare("same", ty, None);
    b.insert_root("x1: echo(int: $same)");
}

pub(super) fn no_undefined_variables(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "__typename @skip(if: $undefined)",
        "__typename @include(if: $undefined)",
        "... @include(if: $undefined) { __typename }",
    ]);
    if b.random.random_bool(0.5) {
        b.insert(text);
    } else {
        let text = b.one(&[
            "x1: echo(int: $undefined)",
            "x1: echo(ints: [1, $undefined])",
            "x1: echo(shape: {name: $undefined})",
            "x1: echo(by: {shape: {name: \"\", tags: [$undefined]}})",
            "users(where: {name: {eq: $undefined}}) { x1: echo(word: $undefined) }",
        ]);
        b.insert_root(text);
    }
}

pub(super) fn no_unused_variables(b: &mut Breaker<'_>) {
    let (ty, default) = b.one(&[
        ("Int", None),
        ("Shape!", None),
        ("Boolean", Some("true")),
        ("[Role]", Some("[READER]")),
    ]);
    b.declare("unused", ty, default);
    if b.random.random_bool(0.3) {
        b.fragment("Apart", "Query", "x1: echo(int: $unused)");
    }
}
