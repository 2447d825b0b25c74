//! `svc generate crud`.

use std::fs;

use minijinja::{Value, context};

use super::{Crud, is_plain, render};
use crate::failure::{Failure, Result};
use crate::program::{self, Description, Field, Type, snake_case};
use crate::project::Project;
use crate::terminal;

/// The marks of `src/mutations/mod.rs`, above which modules and lists are added.
const MODULES: &str = "// svc: modules";
const MUTATIONS: &str = "// svc: mutations";

/// Columns that the database fills.
const FILLED: [&str; 4] = ["id", "created_at", "updated_at", "deleted_at"];

/// The Rust types of scalars that the prelude has.
const SCALARS: [(&str, &str, &str); 11] = [
    ("String", "String", "text"),
    ("Int", "i32", "integer"),
    ("BigInt", "i64", "bigint"),
    ("Float", "f64", "double precision"),
    ("Boolean", "bool", "boolean"),
    ("ID", "ID", "text"),
    ("UUID", "Uuid", "uuid"),
    ("DateTime", "DateTime<Utc>", "timestamptz"),
    ("Date", "NaiveDate", "date"),
    ("Time", "NaiveTime", "time"),
    ("Decimal", "Decimal", "numeric"),
];

pub(super) fn run(project: &Project, arguments: &Crud) -> Result<()> {
    let program = program::build(project, &arguments.choice)?;
    let description = program::describe(project, &program)?;
    let ty = find(&description, &arguments.type_name)?;
    let snake = snake_case(&ty.name);
    let table = arguments.table.clone().unwrap_or_else(|| program::table_of(&ty.source, &ty.name));
    if !is_plain(&table) {
        let failure = Failure::new(format!("`{table}` cannot be the name of the table"));
        return Err(failure.hint("name it: --table tb_user"));
    }
    let sql_file = sql_file(project, &snake)?;
    let values = values(ty, &snake, &table, &sql_file)?;
    let rust_file = format!("src/mutations/{snake}_mutations.rs");
    let module = project.root().join("src/mutations/mod.rs");
    let list = fs::read_to_string(&module).map_err(|error| {
        Failure::new(format!("cannot read src/mutations/mod.rs: {error}")).hint("svc init makes a project that has it")
    })?;
    let rust = render(include_str!("../../templates/generate/crud.rs.jinja"), values.clone())?;
    let sql = render(include_str!("../../templates/generate/crud.sql.jinja"), values)?;
    write_new(project, &rust_file, &rust)?;
    write_new(project, &sql_file, &sql)?;
    match add(&list, &format!("{snake}_mutations")) {
        Some(text) => fs::write(&module, text).map_err(Failure::io("write src/mutations/mod.rs"))?,
        None => terminal::warning(format_args!(
            "src/mutations/mod.rs has no marks `{MODULES}` and `{MUTATIONS}`; add the module {snake}_mutations and its \
             `all()` yourself"
        )),
    }
    terminal::print(&format!("{rust_file}\n{sql_file}\n"))?;
    terminal::hint("apply the functions: svc migrate up");
    Ok(())
}

fn find<'a>(description: &'a Description, name: &str) -> Result<&'a Type> {
    let names = || description.types.iter().map(|ty| ty.name.as_str()).collect::<Vec<_>>().join(", ");
    description.types.iter().find(|ty| ty.name == name).ok_or_else(|| {
        Failure::new(format!("the schema has no type `{name}` with rows")).hint(format!("it has {}", names()))
    })
}

/// A file behind all those of `db/schema`, since it needs their tables.
fn sql_file(project: &Project, snake: &str) -> Result<String> {
    let folder = project.root().join("db/schema");
    fs::create_dir_all(&folder).map_err(Failure::io("make db/schema"))?;
    let names = fs::read_dir(folder).map_err(Failure::io("read db/schema"))?.flatten();
    let number = |name: String| name[..name.find(|c: char| !c.is_ascii_digit()).unwrap_or(0)].parse::<u32>().ok();
    let highest = names.filter_map(|entry| number(entry.file_name().to_string_lossy().into_owned())).max();
    Ok(format!("db/schema/{:03}_{snake}_functions.sql", highest.unwrap_or(0).saturating_add(1)))
}

fn values(ty: &Type, snake: &str, table: &str, sql_file: &str) -> Result<Value> {
    let id = ty.fields.iter().find(|field| field.stored.as_deref() == Some("id")).and_then(scalar);
    let (id, id_sql) = id.ok_or_else(|| {
        Failure::new(format!("{} has no field `id` of a scalar type", ty.name)).hint("its rows need one to be found by")
    })?;
    let fields: Vec<Value> = ty
        .fields
        .iter()
        .filter(|field| field.stored.as_deref().is_some_and(|stored| is_plain(stored) && !FILLED.contains(&stored)))
        .filter_map(|field| {
            let (rust_type, _) = scalar(field)?;
            Some(context! { rust => field.stored, stored => field.stored, ty => rust_type, required => field.is_required() })
        })
        .collect();
    if fields.is_empty() {
        return Err(Failure::new(format!("{} has no fields that could be written", ty.name)));
    }
    Ok(context! {
        name => ty.name, snake => snake, table => table, sql_file => sql_file, fields => fields, id => id, id_sql => id_sql
    })
}

/// The types of a scalar field in Rust and SQL.
fn scalar(field: &Field) -> Option<(&'static str, &'static str)> {
    let name = field.ty.trim_end_matches('!');
    SCALARS.iter().find(|(scalar, ..)| *scalar == name).map(|(_, rust, sql)| (*rust, *sql))
}

fn write_new(project: &Project, path: &str, text: &str) -> Result<()> {
    use std::io::Write as _;
    let file = fs::File::create_new(project.root().join(path));
    let mut file = file.map_err(|error| {
        Failure::new(format!("cannot make {path}: {error}")).hint("move the file that is there out of the way")
    })?;
    file.write_all(text.as_bytes()).map_err(Failure::io(format!("write {path}")))
}

/// The list of mutations with one more module.
fn add(list: &str, module: &str) -> Option<String> {
    let (head, rest) = list.split_once(MODULES)?;
    let (middle, tail) = rest.split_once(MUTATIONS)?;
    Some(format!("{head}pub mod {module};\n{MODULES}{middle}{module}::all(),\n        {MUTATIONS}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_added_to_the_list() {
        let list = include_str!("../../templates/basic/mutations.rs");
        let twice = add(&add(list, "a").unwrap(), "b").unwrap();
        assert!(twice.contains("pub mod a;\npub mod b;\n// svc: modules\n"), "{twice}");
        assert!(twice.contains("    [\n        a::all(),\n        b::all(),\n        // svc: mutations\n"), "{twice}");
        assert_eq!(add("", "a"), None);
    }
}
