//! Names of projects, and the names of packages and databases derived from them.

use std::path::Path;

use crate::failure::{Failure, Result};

/// Names that cargo rejects, that Windows cannot write, and names of crates that the project
/// depends on.
const RESERVED: [&str; 66] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "svc",
    "test",
    "tokio",
    "tower",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "con",
    "nul",
    "aux",
];

/// The maximum length of a database's name.
const MAX_LENGTH: usize = 63;

/// The name of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// As given.
    pub(crate) given: String,
    /// The package's.
    pub(crate) package: String,
    /// The database's.
    pub(crate) database: String,
}

impl Name {
    /// The name in the last part of a path.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let rules = "a name starts with a letter, followed by letters, digits, `-`, `_` and `.`: svc init my-shop";
        let bad = |why: &str| Failure::usage(format!("`{}` {why}", folder.display())).hint(rules);
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
            return Err(bad("does not end in a name"));
        };
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(bad("does not start with a letter from a to z"));
        }

        if let Some(odd) = name
            .chars()
            .find(|c| !c.is_ascii_alphanumeric() && !"-_.".contains(*c))
        {
            let shown = if odd == ' ' {
                "a space".to_owned()
            } else {
                format!("the character `{}`", odd.escape_default())
            };
            return Err(bad(&format!("has {shown}")));
        }

        if name.len() > MAX_LENGTH {
            return Err(bad(&format!(
                "is longer than {MAX_LENGTH} characters, the maximum length of a database's name"
            )));
        }

        // Cargo allows no dots in the name of a package.
        let package = name.replace('.', "-");
        let package = package.trim_end_matches('-');
        let database = package.replace('-', "_").to_ascii_lowercase();

        if RESERVED.contains(&database.as_str()) {
            return Err(bad(
                "is a reserved word or the name of a crate that the project needs",
            ));
        }

        // Every PostgreSQL server has these databases.
        let taken = ["postgres", "template0", "template1"].contains(&database.as_str());
        let database = if taken {
            format!("{database}_app")
        } else {
            database
        };

        Ok(Self {
            given: name.to_owned(),
            package: package.to_owned(),
            database,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &str) -> (String, String) {
        let name = Name::of(Path::new(folder)).unwrap();
        (name.package, name.database)
    }

    #[test]
    fn package_and_database_names_are_valid() {
        assert_eq!(names("shop"), ("shop".into(), "shop".into()));
        assert_eq!(
            names("some/My-Shop.v2"),
            ("My-Shop-v2".into(), "my_shop_v2".into())
        );
        assert_eq!(names("shop."), ("shop".into(), "shop".into()));
        assert_eq!(names("postgres").1, "postgres_app");
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "", "..", "/", "1shop", "-shop", "_shop", "my shop", "shöp", "a$b", "fn", "Self",
            "test", "svc",
        ] {
            assert!(Name::of(Path::new(name)).is_err(), "{name}");
        }
        assert!(Name::of(Path::new(&"a".repeat(64))).is_err());
    }
}
