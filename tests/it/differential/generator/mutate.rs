//! Breaks documents: for each validation rule some ways that (mostly) break it.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use super::document::{Document, FieldNode, Fragment, Operation, Selection};

/// The rules, by the names of graphql-js, and how each is broken.
pub(super) const RULES: [(&str, Break); 26] = [
    ("ExecutableDefinitionsRule", executable_definitions),
    ("UniqueOperationNamesRule", unique_operation_names),
    ("LoneAnonymousOperationRule", lone_anonymous_operation),
    ("SingleFieldSubscriptionsRule", single_field_subscriptions),
    ("KnownTypeNamesRule", known_type_names),
    ("FragmentsOnCompositeTypesRule", fragments_on_composite_types),
    ("VariablesAreInputTypesRule", variables_are_input_types),
    ("ScalarLeafsRule", scalar_leafs),
    ("FieldsOnCorrectTypeRule", fields_on_correct_type),
    ("UniqueFragmentNamesRule", unique_fragment_names),
    ("KnownFragmentNamesRule", known_fragment_names),
    ("NoUnusedFragmentsRule", no_unused_fragments),
    ("PossibleFragmentSpreadsRule", possible_fragment_spreads),
    ("NoFragmentCyclesRule", no_fragment_cycles),
    ("UniqueVariableNamesRule", unique_variable_names),
    ("NoUndefinedVariablesRule", no_undefined_variables),
    ("NoUnusedVariablesRule", no_unused_variables),
    ("KnownDirectivesRule", known_directives),
    ("UniqueDirectivesPerLocationRule", unique_directives),
    ("KnownArgumentNamesRule", known_argument_names),
    ("UniqueArgumentNamesRule", unique_argument_names),
    ("ValuesOfCorrectTypeRule", values_of_correct_type),
    ("ProvidedRequiredArgumentsRule", provided_required_arguments),
    ("VariablesInAllowedPositionRule", variables_in_allowed_position),
    ("OverlappingFieldsCanBeMergedRule", overlapping_fields),
    ("UniqueInputFieldNamesRule", unique_input_field_names),
];

/// Breaks a document.
pub(super) type Break = fn(&mut Breaker<'_>);

/// A document that is being broken.
pub(super) struct Breaker<'a> {
    pub(super) random: &'a mut StdRng,
    pub(super) document: &'a mut Document,
}

impl Breaker<'_> {
    fn one<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(self.random).unwrap()
    }

    /// Puts text into a random selection set.
    fn insert(&mut self, text: impl Into<String>) {
        self.insert_where(&|_| true, text);
    }

    /// Puts text into a random selection set of one of these types, or of the root.
    fn insert_where(&mut self, fits: &dyn Fn(&str) -> bool, text: impl Into<String>) {
        let mut count = 0;
        self.document.visit(&mut |parent, _| count += usize::from(fits(parent)));
        let chosen = self.random.random_range(0..count.max(1));
        let (mut index, text, random) = (0, text.into(), &mut *self.random);
        self.document.visit(&mut |parent, set| {
            if fits(parent) {
                if index == chosen {
                    set.insert(random.random_range(0..=set.len()), Selection::Raw(text.clone()));
                }
                index += 1;
            }
        });
    }

    /// Puts text into a query's root.
    fn insert_root(&mut self, text: impl Into<String>) {
        self.query().set.push(Selection::Raw(text.into()));
    }

    /// A query of the document; one is added when there is none.
    fn query(&mut self) -> &mut Operation {
        let found = self.document.operations.iter().position(|operation| operation.kind == "query");
        let index = found.unwrap_or_else(|| {
            let name = Some("Added".to_owned());
            self.document.operations.push(Operation {
                kind: "query",
                name,
                variables: Vec::new(),
                directives: Vec::new(),
                set: vec![Selection::Raw("__typename".to_owned())],
            });
            self.document.operations.len() - 1
        });
        &mut self.document.operations[index]
    }

    /// Declares a variable in a query.
    fn declare(&mut self, name: &str, ty: &str, default: Option<&str>) {
        let variable =
            super::document::Variable { name: name.to_owned(), ty: ty.to_owned(), default: default.map(str::to_owned) };
        self.query().variables.push(variable);
    }

    /// Changes a random field.
    fn change(&mut self, fits: &dyn Fn(&str, &FieldNode) -> bool, change: &mut dyn FnMut(&mut FieldNode)) {
        let mut count = 0;
        self.fields(&mut |parent, field| count += usize::from(fits(parent, field)));
        let chosen = self.random.random_range(0..count.max(1));
        let mut index = 0;
        self.fields(&mut |parent, field| {
            if fits(parent, field) {
                if index == chosen {
                    change(field);
                }
                index += 1;
            }
        });
    }

    fn fields(&mut self, visit: &mut dyn FnMut(&str, &mut FieldNode)) {
        self.document.visit(&mut |parent, set| {
            for selection in set {
                if let Selection::Field(field) = selection {
                    visit(parent, field);
                }
            }
        });
    }

    fn fragment(&mut self, name: &str, on: &str, text: &str) {
        let set = vec![Selection::Raw(text.to_owned())];
        self.document.fragments.push(Fragment { name: name.to_owned(), on: on.to_owned(), set });
    }
}

fn executable_definitions(b: &mut Breaker<'_>) {
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

fn unique_operation_names(b: &mut Breaker<'_>) {
    let mut again = b.document.operations[0].clone();
    b.document.operations[0].name = Some("Same".to_owned());
    again.name = Some("Same".to_owned());
    if b.random.random_bool(0.3) {
        again.kind = "mutation";
        again.set = vec![Selection::Raw("__typename".to_owned())];
    }
    b.document.operations.push(again);
}

fn lone_anonymous_operation(b: &mut Breaker<'_>) {
    let other =
        b.one(&["{ __typename }", "query { __typename }", "mutation { fail }", "query ($x: Int) { echo(int: $x) }"]);
    b.document.others.push(other.to_owned());
}

fn single_field_subscriptions(b: &mut Breaker<'_>) {
    let other = b.one(&["subscription S { a b }", "subscription S { users { id } }", "subscription S { __typename }"]);
    b.document.operations[0].name = Some("First".to_owned());
    b.document.others.push(other.to_owned());
}

fn known_type_names(b: &mut Breaker<'_>) {
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

fn fragments_on_composite_types(b: &mut Breaker<'_>) {
    let ty = b.one(&["String", "Int", "Role", "Shape", "By", "ID", "UserWhere"]);
    if b.random.random_bool(0.5) {
        b.insert(format!("... on {ty} {{ id }}"));
    } else {
        b.fragment("OnLeaf", ty, "id");
        b.insert("...OnLeaf");
    }
}

fn variables_are_input_types(b: &mut Breaker<'_>) {
    let ty = b.one(&["User", "[User]", "Found!", "Node", "[Written!]!", "Query"]);
    b.declare("out", ty, None);
    b.insert_root("x1: echo(shape: $out)");
}

fn scalar_leafs(b: &mut Breaker<'_>) {
    match b.random.random_range(0..4) {
        0 => b.change(&|_, field| !field.set.is_empty(), &mut |field| field.set.clear()),
        1 => b.change(&|_, field| field.set.is_empty(), &mut |field| {
            field.set = vec![Selection::Raw("id".to_owned())];
        }),
        2 => b.insert("__typename { id }"),
        _ => b.insert_root("x1: users x2: echo { __typename } __schema"),
    }
}

fn fields_on_correct_type(b: &mut Breaker<'_>) {
    let name = b.one(&["nope", "title", "users", "__schema", "__type", "name", "__nope", "replies", "id", "ID"]);
    match b.random.random_range(0..3) {
        0 => b.insert(name),
        1 => b.insert_where(&|parent| matches!(parent, "Found" | "Node" | "Written"), "title name"),
        _ => b.change(&|_, _| true, &mut |field| field.name = name.to_owned()),
    }
}

fn unique_fragment_names(b: &mut Breaker<'_>) {
    b.fragment("Twice", "Query", "__typename");
    let (on, text) = b.one(&[("Query", "__typename"), ("User", "id"), ("Query", "users { id }")]);
    b.fragment("Twice", on, text);
    b.insert_where(&|parent| parent == "Query", "...Twice");
}

fn known_fragment_names(b: &mut Breaker<'_>) {
    let text = b.one(&["...Missing", "...Missing @skip(if: true)", "... on Query { ...missing }", "...F0_999"]);
    b.insert(text);
}

fn no_unused_fragments(b: &mut Breaker<'_>) {
    b.fragment("Unused", "User", "id");
    if b.random.random_bool(0.5) {
        b.fragment("Unused2", "Query", "users { ...Unused }");
    }
}

fn possible_fragment_spreads(b: &mut Breaker<'_>) {
    let on = b.one(&["User", "Post", "Comment", "Query", "Mutation", "Found", "Written", "Node", "Part", "ShakyData"]);
    if b.random.random_bool(0.5) {
        b.insert(format!("... on {on} {{ __typename }}"));
    } else {
        b.fragment("Odd", on, "__typename");
        b.insert("...Odd");
    }
}

fn no_fragment_cycles(b: &mut Breaker<'_>) {
    let text = b.one(&["...Round", "users { id } ... on Query { ...Round }", "...Round2", "... { ...Round3 }"]);
    b.fragment("Round", "Query", text);
    if text.contains("Round2") {
        b.fragment("Round2", "Query", "__typename ...Round");
    } else if text.contains("Round3") {
        b.fragment("Round3", "Query", "nodes { ... on User { ...Round4 } }");
        b.fragment("Round4", "User", "remark { author { ...Round4 } }");
    }
    b.insert_where(&|parent| parent == "Query", "...Round");
}

fn unique_variable_names(b: &mut Breaker<'_>) {
    let ty = b.one(&["Int", "Int!", "String"]);
    b.declare("same", "Int", None);
    b.declare("same", ty, None);
    b.insert_root("x1: echo(int: $same)");
}

fn no_undefined_variables(b: &mut Breaker<'_>) {
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

fn no_unused_variables(b: &mut Breaker<'_>) {
    let (ty, default) =
        b.one(&[("Int", None), ("Shape!", None), ("Boolean", Some("true")), ("[Role]", Some("[READER]"))]);
    b.declare("unused", ty, default);
    if b.random.random_bool(0.3) {
        b.fragment("Apart", "Query", "x1: echo(int: $unused)");
    }
}

fn known_directives(b: &mut Breaker<'_>) {
    let directive =
        b.one(&["@nope", "@deprecated", "@specifiedBy(url: \"\")", "@oneOf", "@nope(if: true)", "@Skip(if: true)"]);
    match b.random.random_range(0..5) {
        0 => b.query().directives.push(directive.to_owned()),
        1 => b.query().directives.push("@skip(if: false)".to_owned()),
        2 => {
            b.declare("d", &format!("Int {directive}"), None);
            b.insert_root("x1: echo(int: $d)");
        }
        3 => b.change(&|_, _| true, &mut |field| field.directives.push(directive.to_owned())),
        _ => b.insert(format!("... {directive} {{ __typename }}")),
    }
}

fn unique_directives(b: &mut Breaker<'_>) {
    let pair = b.one(&[
        "@skip(if: false) @skip(if: true)",
        "@include(if: true) @skip(if: false) @include(if: true)",
        "@skip(if: false) @skip(if: false)",
    ]);
    match b.random.random_range(0..3) {
        0 => b.change(&|_, _| true, &mut |field| field.directives = vec![pair.to_owned()]),
        1 => b.insert(format!("... {pair} {{ __typename }}")),
        _ => b.insert(format!("__typename {pair}")),
    }
}

fn known_argument_names(b: &mut Breaker<'_>) {
    match b.random.random_range(0..5) {
        0 => b.insert("__typename(a: 1)"),
        1 => b.insert("__typename @skip(if: true, unless: false)"),
        2 => b.insert_root("x1: echo(Int: 1)"),
        3 => b.insert_root("x1: users(first: 1) { id }"),
        _ => b.change(&|_, _| true, &mut |field| field.args.push(("nope".to_owned(), "1".to_owned()))),
    }
}

fn unique_argument_names(b: &mut Breaker<'_>) {
    match b.random.random_range(0..4) {
        0 => b.insert("__typename @skip(if: true, if: true)"),
        1 => b.insert_root("x1: echo(int: 1, int: 1)"),
        2 => b.insert_root("x1: users(limit: 1, limit: 2) { id }"),
        _ => b.change(&|_, field| !field.args.is_empty(), &mut |field| field.args.push(field.args[0].clone())),
    }
}

fn values_of_correct_type(b: &mut Breaker<'_>) {
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
    let arg =
        b.one(&["int", "ints", "float", "text", "flag", "id", "role", "roles", "shape", "shapes", "by", "matrix"]);
    match b.random.random_range(0..6) {
        0 => {
            let ty = b.one(&["Int", "Int!", "[Int!]", "Role", "Shape", "By", "Boolean", "String", "ID", "Float!"]);
            b.declare("bad", ty, Some(value));
            b.insert_root("x1: echo(text: $bad, int: $bad, role: $bad, shape: $bad, by: $bad, ints: $bad, id: $bad)");
        }
        1 => b.insert(format!("__typename @skip(if: {value})")),
        2 => {
            // The reference has no filters, so a valid one would not be the same.
            let valid = value.contains("null");
            let arg = if valid { "orderBy" } else { b.one(&["where", "orderBy", "limit", "offset"]) };
            b.insert_root(format!("x1: users({arg}: {value}) {{ id }}"));
        }
        3 => b.insert_root(format!("x1: echoRequired(int: 1, shape: {value}, by: {value}, roles: {value})")),
        _ => b.insert_root(format!("x1: echo({arg}: {value})")),
    }
}

fn provided_required_arguments(b: &mut Breaker<'_>) {
    match b.random.random_range(0..5) {
        0 => b.insert_root("x1: echoRequired"),
        1 => b.insert_root("x1: echoRequired(int: 1, by: {id: 1})"),
        2 => b.insert_root("x1: user { id }"),
        3 => b.insert("__typename @skip"),
        _ => b.insert("... @include { __typename }"),
    }
}

fn variables_in_allowed_position(b: &mut Breaker<'_>) {
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

fn overlapping_fields(b: &mut Breaker<'_>) {
    let text = b.one(&[
        "users { x: id x: name }",
        "users { x: id } users { x: name }",
        "nodes { ... on User { x: name } ... on Post { x: views } }",
        "nodes { ... on User { x: name } ... on Post { x: title } }",
        "nodes { ... on User { x: name } ... on Post { x: body } }",
        "nodes { ... on User { x: tags } ... on Post { x: title } }",
        "nodes { ... on User { x: remark { y: id } } ... on Post { x: author { y: name } } }",
        "nodes { ... on User { x: remark { y: body } } ... on Post { x: comments { y: body } } }",
        "written { author { x: name } ... on Comment { author { x: id } } }",
        "written { ... on Post { author { x: name } } ... on Comment { author { x: nick } } }",
        "x: echo(int: 1) x: echo(int: 2)",
        "x: echo(int: 1) x: echo",
        "x: echo(int: 1, text: \"a\") x: echo(text: \"a\", int: 1)",
        "x: echo(text: \"a\") x: echo(text: \"\"\"a\"\"\")",
        "x: echo(shape: {name: \"a\", size: 1}) x: echo(shape: {size: 1, name: \"a\"})",
        "x: echo(float: 1.0) x: echo(float: 1.00)",
        "x: echo(int: 1) x: echo(int: 01)",
        "x: echo(ints: [1, 2]) x: echo(ints: [2, 1])",
        "x: echo(ints: 1) x: echo(ints: [1])",
        "x: users { id } x: allUsers { id }",
        "x: user(id: 1) { id } x: user(id: \"1\") { id }",
        "x: __typename x: boom { id }",
        "users { x: __typename @skip(if: true) x: id }",
        "users { ...A1 ...A2 }",
        "x: users { id } ... on Query { x: posts { id } }",
        "found { ... on User { x: strict } ... on Comment { x: id } }",
        "found { ... on User { x: role } ... on Comment { x: body } }",
        "found { ... on User { x: grid } ... on Comment { x: body } }",
        "shakyData { x: ints x: perhaps }",
        "nodes { ... on User { x: age } ... on Post { x: views } }",
    ]);
    if text.contains("...A1") {
        b.fragment("A1", "User", "x: id");
        b.fragment("A2", "User", "x: name");
    }
    if b.random.random_bool(0.3) {
        b.fragment("Over", "Query", text);
        b.insert_root("...Over");
    } else {
        b.insert_root(text);
    }
}

fn unique_input_field_names(b: &mut Breaker<'_>) {
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
