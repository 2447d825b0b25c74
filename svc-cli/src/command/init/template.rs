//! The templates: files embedded in this binary.

use clap::ValueEnum;
use minijinja::{Environment, UndefinedBehavior, context};

use super::{Address, Dependency, Name};
use crate::failure::{Failure, Result};

/// The program to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Users.
    Basic,
    /// Users, posts and comments.
    Blog,
    /// Products, stock, customers and orders.
    Ecommerce,
}

/// The facts about a project that its files contain.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) name: Name,
    pub(crate) database: Address,
    /// The dependency on svc.
    pub(crate) svc: Dependency,
    /// Whether a parent folder has a manifest.
    pub(crate) nested: bool,
}

/// A list of paths in a project, each with the path of its text in `templates/`.
macro_rules! files {
    ($($path:literal <- $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../templates/", $file)))),*]
    };
}

/// Files that are rendered.
const RENDERED: &[(&str, &str)] = files![
    "Cargo.toml" <- "common/Cargo.toml.jinja",
    ".env" <- "common/env.jinja",
    ".github/workflows/ci.yml" <- "common/ci.yml.jinja",
    "Dockerfile" <- "common/Dockerfile.jinja",
    "docker-compose.yml" <- "common/docker-compose.yml.jinja",
    "README.md" <- "common/README.md.jinja",
];

/// Files of every project.
const COMMON: &[(&str, &str)] = files![
    ".dockerignore" <- "common/dockerignore",
    ".gitignore" <- "common/gitignore",
    "src/main.rs" <- "common/src/main.rs",
    "src/lib.rs" <- "common/src/lib.rs",
    "db/seeds/README.md" <- "common/db/seeds/README.md",
    "db/migrations/README.md" <- "common/db/migrations/README.md",
    "db/environments/README.md" <- "common/db/environments/README.md",
];

const BASIC: &[(&str, &str)] = files![
    "src/types/mod.rs" <- "basic/types.rs",
    "src/queries/mod.rs" <- "basic/queries.rs",
    "src/mutations/mod.rs" <- "basic/mutations.rs",
    "db/migrations/001_tables.sql" <- "basic/migrations/001_tables.sql",
    "db/schema/001_users.sql" <- "basic/schema/001_users.sql",
    "db/seeds/001_users.sql" <- "basic/seeds/001_users.sql",
    "tests/api.rs" <- "basic/api.rs",
];

const BLOG: &[(&str, &str)] = files![
    "src/types/mod.rs" <- "blog/types/mod.rs",
    "src/types/user.rs" <- "blog/types/user.rs",
    "src/types/post.rs" <- "blog/types/post.rs",
    "src/types/comment.rs" <- "blog/types/comment.rs",
    "src/queries/mod.rs" <- "blog/queries.rs",
    "src/mutations/mod.rs" <- "blog/mutations/mod.rs",
    "src/mutations/publishing.rs" <- "blog/mutations/publishing.rs",
    "db/migrations/001_tables.sql" <- "blog/migrations/001_tables.sql",
    "db/schema/001_users.sql" <- "blog/schema/001_users.sql",
    "db/schema/002_posts.sql" <- "blog/schema/002_posts.sql",
    "db/schema/003_comments.sql" <- "blog/schema/003_comments.sql",
    "db/schema/004_functions.sql" <- "blog/schema/004_functions.sql",
    "db/seeds/001_users.sql" <- "blog/seeds/001_users.sql",
    "db/seeds/002_posts.sql" <- "blog/seeds/002_posts.sql",
    "tests/api.rs" <- "blog/api.rs",
];

const ECOMMERCE: &[(&str, &str)] = files![
    "src/types/mod.rs" <- "ecommerce/types/mod.rs",
    "src/types/product.rs" <- "ecommerce/types/product.rs",
    "src/types/customer.rs" <- "ecommerce/types/customer.rs",
    "src/types/order.rs" <- "ecommerce/types/order.rs",
    "src/queries/mod.rs" <- "ecommerce/queries.rs",
    "src/mutations/mod.rs" <- "ecommerce/mutations/mod.rs",
    "src/mutations/ordering.rs" <- "ecommerce/mutations/ordering.rs",
    "db/migrations/001_tables.sql" <- "ecommerce/migrations/001_tables.sql",
    "db/schema/001_customers.sql" <- "ecommerce/schema/001_customers.sql",
    "db/schema/002_products.sql" <- "ecommerce/schema/002_products.sql",
    "db/schema/003_orders.sql" <- "ecommerce/schema/003_orders.sql",
    "db/schema/004_functions.sql" <- "ecommerce/schema/004_functions.sql",
    "db/seeds/001_shop.sql" <- "ecommerce/seeds/001_shop.sql",
    "tests/api.rs" <- "ecommerce/api.rs",
];

impl Template {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Blog => "blog",
            Self::Ecommerce => "ecommerce",
        }
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Basic => BASIC,
            Self::Blog => BLOG,
            Self::Ecommerce => ECOMMERCE,
        }
    }
}

/// The files of a new project: paths and texts.
pub(crate) fn files(template: Template, values: &Values) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for (path, text) in RENDERED {
        files.push((
            (*path).to_owned(),
            render(text, values, &values.database.url)?,
        ));
    }

    // It is committed, so it must not have a given address.
    let example = include_str!("../../../templates/common/env.jinja");
    files.push((
        ".env.example".to_owned(),
        render(example, values, &values.database.own)?,
    ));
    let plain = COMMON.iter().chain(template.files());
    files.extend(plain.map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));

    Ok(files)
}

fn render(text: &str, values: &Values, database_url: &str) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_keep_trailing_newline(true);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let context = context! {
        name => values.name.given,
        package => values.name.package,
        database => values.name.database,
        database_url => quoted(database_url),
        port => values.database.port,
        svc => values.svc.manifest(),
        install => values.svc.install(),
        checkout => values.svc.checkout().map(|folder| folder.to_string_lossy().into_owned()),
        nested => values.nested,
    };

    environment
        .render_str(text, context)
        .map_err(|error| Failure::new(format!("a template is wrong: {error}")))
}

/// A value of `.env`, quoted if necessary.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@%?&=+,~".contains(c);
    if value.chars().all(plain) {
        value.to_owned()
    } else {
        // A quoted value cannot contain its quote; in a URL, `%27` has the same meaning.
        format!("'{}'", value.replace('\'', "%27"))
    }
}
