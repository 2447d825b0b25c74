//! Converts the response to an introspection query to a schema definition.

use std::fmt::Write as _;

use serde::Deserialize;

const TYPE_REF: &str = "kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name } } } } } } }";

/// The introspection queries to try, the newest form first.
pub(super) fn queries() -> [String; 2] {
    let query = |one_of: &str, repeatable: &str, all: &str| {
        let input = format!("name description defaultValue type {{ {TYPE_REF} }}");
        format!(
            "{{ __schema {{ queryType {{ name }} mutationType {{ name }} subscriptionType {{ name }} \
             types {{ kind name description {one_of} interfaces {{ name }} possibleTypes {{ name }} \
             enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }} \
             inputFields{all} {{ {input} }} \
             fields(includeDeprecated: true) {{ name description isDeprecated deprecationReason \
             args{all} {{ {input} }} type {{ {TYPE_REF} }} }} }} \
             directives {{ name description {repeatable} locations args {{ {input} }} }} }} }}"
        )
    };

    [
        query(
            "isOneOf specifiedByURL",
            "isRepeatable",
            "(includeDeprecated: true)",
        ),
        query("", "", ""),
    ]
}

#[derive(Deserialize)]
struct Answer {
    data: Option<Data>,
    #[serde(default)]
    errors: Vec<Error>,
}

#[derive(Deserialize)]
struct Error {
    message: String,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "__schema")]
    schema: Schema,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    query_type: Option<Named>,
    mutation_type: Option<Named>,
    subscription_type: Option<Named>,
    types: Vec<Type>,
    directives: Vec<Directive>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Type {
    kind: String,
    name: String,
    description: Option<String>,
    #[serde(rename = "specifiedByURL")]
    specified_by_url: Option<String>,
    is_one_of: Option<bool>,
    interfaces: Option<Vec<Named>>,
    possible_types: Option<Vec<Named>>,
    enum_values: Option<Vec<Field>>,
    input_fields: Option<Vec<Input>>,
    fields: Option<Vec<Field>>,
}

/// A field, or a value of an enum, which has no type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Field {
    name: String,
    description: Option<String>,
    #[serde(default)]
    args: Vec<Input>,
    #[serde(rename = "type")]
    ty: Option<TypeRef>,
    is_deprecated: bool,
    deprecation_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    name: String,
    description: Option<String>,
    default_value: Option<String>,
    #[serde(rename = "type")]
    ty: TypeRef,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeRef {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<TypeRef>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Directive {
    name: String,
    description: Option<String>,
    is_repeatable: Option<bool>,
    locations: Vec<String>,
    args: Vec<Input>,
}

/// The types and directives present in every schema.
const SCALARS: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];
const DIRECTIVES: [&str; 5] = ["skip", "include", "deprecated", "specifiedBy", "oneOf"];

/// The schema in a response, or the reason why it has none.
pub(super) fn read(answer: &[u8]) -> Result<String, String> {
    let answer: Answer = serde_json::from_slice(answer)
        .map_err(|_| "its response is not a GraphQL response".to_owned())?;
    let message = answer.errors.into_iter().next().map(|error| error.message);
    let data = answer
        .data
        .ok_or_else(|| message.unwrap_or_else(|| "the response has no data".to_owned()))?;
    Ok(write(&data.schema))
}

fn write(schema: &Schema) -> String {
    let mut sdl = String::from("schema {\n");
    let roots = [
        ("query", &schema.query_type),
        ("mutation", &schema.mutation_type),
    ];
    for (operation, root) in roots
        .into_iter()
        .chain([("subscription", &schema.subscription_type)])
    {
        if let Some(root) = root {
            let _ = writeln!(sdl, "  {operation}: {}", root.name);
        }
    }

    sdl.push_str("}\n");

    // Names with two underscores are reserved for introspection, and a schema must not define them.
    let own = |ty: &&Type| !ty.name.starts_with("__") && !SCALARS.contains(&ty.name.as_str());
    schema
        .types
        .iter()
        .filter(own)
        .for_each(|ty| write_type(&mut sdl, ty));

    for directive in schema
        .directives
        .iter()
        .filter(|directive| !DIRECTIVES.contains(&directive.name.as_str()))
    {
        describe(&mut sdl, directive.description.as_deref());
        let repeatable = if directive.is_repeatable == Some(true) {
            " repeatable"
        } else {
            ""
        };

        let (arguments, locations) = (arguments(&directive.args), directive.locations.join(" | "));
        let _ = writeln!(
            sdl,
            "directive @{}{arguments}{repeatable} on {locations}",
            directive.name
        );
    }

    sdl
}

fn write_type(sdl: &mut String, ty: &Type) {
    describe(sdl, ty.description.as_deref());
    let names = |names: &Option<Vec<Named>>, between: &str| {
        names
            .iter()
            .flatten()
            .map(|named| named.name.as_str())
            .collect::<Vec<_>>()
            .join(between)
    };

    let name = &ty.name;
    let implements = match names(&ty.interfaces, " & ") {
        interfaces if interfaces.is_empty() => String::new(),
        interfaces => format!(" implements {interfaces}"),
    };

    let _ = match ty.kind.as_str() {
        "SCALAR" => {
            let url = ty
                .specified_by_url
                .as_deref()
                .map(|url| format!(" @specifiedBy(url: {})", quoted(url)));
            writeln!(sdl, "scalar {name}{}", url.unwrap_or_default())
        }
        "UNION" => writeln!(sdl, "union {name} = {}", names(&ty.possible_types, " | ")),
        "ENUM" => writeln!(
            sdl,
            "enum {name} {{\n{}}}",
            fields(ty.enum_values.iter().flatten())
        ),
        "INPUT_OBJECT" => {
            let one_of = if ty.is_one_of == Some(true) {
                " @oneOf"
            } else {
                ""
            };

            let inputs: String = ty
                .input_fields
                .iter()
                .flatten()
                .map(|field| input(field) + "\n")
                .collect();

            writeln!(sdl, "input {name}{one_of} {{\n{inputs}}}")
        }
        kind => {
            let keyword = if kind == "INTERFACE" {
                "interface"
            } else {
                "type"
            };
            writeln!(
                sdl,
                "{keyword} {name}{implements} {{\n{}}}",
                fields(ty.fields.iter().flatten())
            )
        }
    };
}

fn fields<'a>(fields: impl Iterator<Item = &'a Field>) -> String {
    let mut text = String::new();
    for field in fields {
        describe(&mut text, field.description.as_deref());
        let ty = field
            .ty
            .as_ref()
            .map(|ty| format!(": {}", type_ref(ty)))
            .unwrap_or_default();

        let deprecated = match (field.is_deprecated, &field.deprecation_reason) {
            (false, _) => String::new(),
            (true, None) => " @deprecated".to_owned(),
            (true, Some(reason)) => format!(" @deprecated(reason: {})", quoted(reason)),
        };

        let _ = writeln!(
            text,
            "  {}{}{ty}{deprecated}",
            field.name,
            arguments(&field.args)
        );
    }

    text
}

fn arguments(arguments: &[Input]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    format!(
        "(\n{}\n)",
        arguments.iter().map(input).collect::<Vec<_>>().join("\n")
    )
}

fn input(input: &Input) -> String {
    let mut text = String::new();
    describe(&mut text, input.description.as_deref());

    // The specification has a default value as a text in the syntax of GraphQL, so it is not
    // quoted.
    let default = input
        .default_value
        .as_deref()
        .map(|value| format!(" = {value}"))
        .unwrap_or_default();

    let _ = write!(text, "  {}: {}{default}", input.name, type_ref(&input.ty));

    text
}

fn type_ref(ty: &TypeRef) -> String {
    match (ty.kind.as_str(), &ty.of_type) {
        ("NON_NULL", Some(inner)) => format!("{}!", type_ref(inner)),
        ("LIST", Some(inner)) => format!("[{}]", type_ref(inner)),
        _ => ty.name.clone().unwrap_or_default(),
    }
}

fn describe(text: &mut String, description: Option<&str>) {
    if let Some(description) = description {
        let _ = writeln!(text, "{}", quoted(description));
    }
}

/// A GraphQL string literal, which has the same escapes as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
