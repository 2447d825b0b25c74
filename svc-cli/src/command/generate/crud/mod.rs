//! `svc generate crud`.

mod message;
mod model;
mod table;

use std::fs;

use minijinja::{Value, context};

use super::{Crud, formatted, is_plain, render};
use crate::database;
use crate::failure::{Failure, Result};
use crate::program::{self, Description, Type, snake_case};
use crate::project::Project;
use crate::terminal;
use table::Table;

/// The marks of `src/mutations/mod.rs`, above which modules and their functions are inserted.
const MODULES: &str = "// svc: modules";
const MUTATIONS: &str = "// svc: mutations";

pub(super) fn run(project: &Project, arguments: &Crud) -> Result<()> {
    let program = program::build(project, &arguments.choice)?;
    let description = program::describe(project, &program, None)?;
    let ty = find(&description, &arguments.type_name)?;
    let snake = snake_case(&ty.name);
    let name = arguments
        .table
        .clone()
        .unwrap_or_else(|| program::table_of(&ty.source, &ty.name));
    if !name.split('.').all(is_plain) || name.matches('.').count() > 1 {
        let failure = Failure::usage(format!("`{name}` cannot be the name of the table"));
        return Err(failure.hint("name it: --table tb_user"));
    }

    let module = project.root().join("src/mutations/mod.rs");
    let list = fs::read_to_string(&module).map_err(|error| {
        Failure::new(format!("cannot read src/mutations/mod.rs: {error}"))
            .hint("svc init creates it in new projects")
    })?;
    let table = table_of(project, &name)?;
    let values = values(ty, &description, table.as_ref(), &name, arguments)?;
    let rust = formatted(&render(
        include_str!("../../../../templates/generate/crud.rs.jinja"),
        values,
    )?);
    let rust_file = format!("src/mutations/{snake}_mutations.rs");
    write_new(project, &rust_file, &rust)?;

    match add(&list, &format!("{snake}_mutations")) {
        Some(text) => {
            fs::write(&module, text).map_err(Failure::io("write src/mutations/mod.rs"))?;
        }
        None => terminal::warning(format_args!(
            "src/mutations/mod.rs has no list of functions between `{MODULES}` and `{MUTATIONS}`; declare the module \
             {snake}_mutations and call its `add` yourself"
        )),
    }

    terminal::print(&format!("{rust_file}\n"))?;
    tell_of_guards(project, arguments);

    Ok(())
}

fn find<'a>(description: &'a Description, name: &str) -> Result<&'a Type> {
    let names = || {
        description
            .types
            .iter()
            .map(|ty| ty.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };

    description
        .types
        .iter()
        .find(|ty| ty.name == name)
        .ok_or_else(|| {
            Failure::new(format!("the schema has no type `{name}` with rows"))
                .hint(format!("it has {}", names()))
        })
}

/// The table in the database; none, with a warning, if it does not exist.
fn table_of(project: &Project, name: &str) -> Result<Option<Table>> {
    let unknown = "so what it needs and refuses is not known; look through what is written, or make it first: \
        svc db start, svc migrate up";
    let Ok(url) = project.database_url() else {
        terminal::warning(format_args!(
            "no database is set to look for {name} in, {unknown}"
        ));
        return Ok(None);
    };

    database::block_on(async {
        let client = match database::connect(&url).await {
            Ok(client) => client,
            Err(failure) => {
                terminal::warning(format_args!("{}, {unknown}", failure.message()));
                return Ok(None);
            }
        };

        let table = table::read(&client, name).await?;
        if table.is_none() {
            terminal::warning(format_args!("the database has no table {name}, {unknown}"));
        }

        Ok(table)
    })
}

fn values(
    ty: &Type,
    description: &Description,
    table: Option<&Table>,
    table_name: &str,
    arguments: &Crud,
) -> Result<Value> {
    let id = ty
        .fields
        .iter()
        .find(|field| field.stored.as_deref() == Some("id"))
        .and_then(model::scalar);

    let id = id.ok_or_else(|| {
        Failure::new(format!("{} has no field `id` of a scalar type", ty.name))
            .hint("the mutations find rows by it")
    })?;
    let fields = model::written(ty, description, table);
    if fields.is_empty() {
        return Err(Failure::new(format!("{} has no writable fields", ty.name))
            .hint("--table names the table of the rows if it is not named after the view"));
    }

    let missing = table
        .map(|table| model::missing(&fields, table))
        .unwrap_or_default()
        .join(", ");
    if !missing.is_empty() {
        terminal::warning(format_args!(
            "{table_name} wants values of {missing}, which no field of {} gives: the mutation that creates rows is left \
             out. Give the columns a default, or write a function of the database",
            ty.name
        ));
    }

    let snake = snake_case(&ty.name);
    let noun = snake.replace('_', " ");
    let constraints = table.into_iter().flat_map(|table| &table.constraints);
    let messages: Vec<_> = constraints
        .filter_map(|constraint| message::of(constraint, &noun, &fields))
        .collect();

    Ok(context! {
        name => ty.name, snake => snake, noun => noun, path => rust_path(ty), table => table_name, fields => fields,
        id => id, key => table.and_then(model::key), missing => missing, messages => messages,
        guard => guard(arguments),
    })
}

/// The path of the type for a module of the same crate. Types in `types` are reexported there,
/// regardless of their file.
fn rust_path(ty: &Type) -> String {
    match ty.path.split_once("::") {
        Some((_, path)) if !path.starts_with("types::") => format!("crate::{path}"),
        _ => format!("crate::types::{}", ty.name),
    }
}

/// The guard of each mutation; none for open mutations.
fn guard(arguments: &Crud) -> Option<String> {
    match arguments.role.as_slice() {
        _ if arguments.open => None,
        [] => Some("#[svc::requires_auth]".to_owned()),
        [role] => Some(format!("#[svc::requires_role({role:?})]")),
        roles => {
            let roles: Vec<String> = roles.iter().map(|role| format!("{role:?}")).collect();
            Some(format!("#[svc::requires_any_role({})]", roles.join(", ")))
        }
    }
}

fn tell_of_guards(project: &Project, arguments: &Crud) {
    if arguments.open {
        terminal::warning("the mutations are open to everyone");
        return;
    }

    if arguments.role.is_empty() {
        terminal::hint(
            "any logged-in user may call them; to restrict them, pass --role or edit the guards in the file",
        );
    }

    if program::has_feature(project, "auth") == Some(false) {
        terminal::hint("guards need the feature `auth` of svc: cargo add svc --features auth");
    }
}

fn write_new(project: &Project, path: &str, text: &str) -> Result<()> {
    use std::io::Write as _;
    let file = fs::File::create_new(project.root().join(path));
    let mut file = file.map_err(|error| {
        Failure::new(format!("cannot create {path}: {error}"))
            .hint("move the existing file out of the way")
    })?;
    file.write_all(text.as_bytes())
        .map_err(Failure::io(format!("write {path}")))
}

/// The list of mutations with an additional module.
fn add(list: &str, module: &str) -> Option<String> {
    let (head, rest) = list.split_once(MODULES)?;
    let (middle, tail) = rest.split_once(MUTATIONS)?;

    // Older projects list the mutations of modules here, instead of their functions.
    let takes_functions = middle.contains("fn(AppOptions) -> AppOptions");

    takes_functions.then(|| {
        format!(
            "{head}pub mod {module};\n{MODULES}{middle}{module}::add,\n        {MUTATIONS}{tail}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_added_to_the_list() {
        let list = include_str!("../../../../templates/basic/mutations.rs");
        let twice = add(&add(list, "a").unwrap(), "b").unwrap();
        assert!(
            twice.contains("pub mod a;\npub mod b;\n// svc: modules\n"),
            "{twice}"
        );
        assert!(
            twice.contains("= &[\n        a::add,\n        b::add,\n        // svc: mutations\n"),
            "{twice}"
        );
        assert_eq!(add("", "a"), None);

        assert_eq!(add("// svc: modules\n[\n// svc: mutations\n]", "a"), None);
    }
}
