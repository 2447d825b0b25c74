//! The name of svc in a program's dependencies.
//!
//! The name comes from the compiler's arguments. It only affects an error message: generated code
//! has to be the same for tools that expand macros without a compiler.

use std::env;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The name that `Cargo.toml` gives svc, if it is not `svc`.
pub(crate) fn other_name() -> Option<&'static str> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();

    // `env::args` panics at an argument that is not UTF-8.
    let arguments = || env::args_os().filter_map(|argument| argument.into_string().ok());
    NAME.get_or_init(|| renamed(arguments())).as_deref()
}

/// The message about the other name, once per program.
pub(crate) fn message() -> Option<String> {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);

    // The message is true for every attribute, and one is enough.
    let name = other_name().filter(|_| !IS_TOLD.swap(true, Ordering::Relaxed))?;
    Some(format!(
        "`svc` is named `{name}` in Cargo.toml; write `crate = {name}` in this attribute and in \
         the others of svc"
    ))
}

/// The name of svc in `--extern name=path`, unless a crate is named `svc`.
fn renamed(arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut name = None;
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        // `--extern name=path` is two arguments, and `--extern=name=path` is one.
        let dependency = match argument.strip_prefix("--extern") {
            Some("") => arguments.next()?,
            Some(rest) => rest.strip_prefix('=').unwrap_or_default().to_owned(),
            None => continue,
        };

        // Options may precede the name, as in `priv,noprelude:svc=…`.
        let (before, file) = dependency.split_once('=').unwrap_or((&dependency, ""));
        match before.rsplit(':').next() {
            // The usual name wins, even if another version of svc has another name.
            Some("svc") => return None,
            Some(other) if is_svc(file) => name = Some(other.to_owned()),
            _ => {}
        }
    }

    name
}

/// Whether a file is svc by Cargo's naming: `libsvc-0123456789abcdef.rmeta`.
fn is_svc(file: &str) -> bool {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.and_then(|stem| stem.strip_prefix("libsvc"))
        .is_some_and(|hash| hash.is_empty() || hash.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::renamed;

    fn name(arguments: &str) -> Option<String> {
        renamed(arguments.split(' ').map(str::to_owned))
    }

    #[test]
    fn another_name_is_found() {
        let other = Some("framework".to_owned());
        assert_eq!(
            name("rustc --extern serde=/d/libserde-1.rlib --extern framework=/d/libsvc-2.rmeta -O"),
            other
        );

        assert_eq!(
            name("rustc --extern=priv,noprelude:framework=libsvc.rlib"),
            other
        );
    }

    #[test]
    fn svc_under_its_own_name_or_absent_has_no_other_name() {
        for arguments in [
            "rustc --extern svc=/d/libsvc-1.rlib --extern old=/d/libsvc-2.rlib",
            "rustc --extern old=/d/libsvc-2.rlib --extern=priv:svc=/d/libsvc-1.rlib",
            "rustc --extern mine=/d/libsvc_macros-1.so --extern",
            "rustc --extern svc",
            "rustc @arguments",
            "",
        ] {
            assert_eq!(name(arguments), None, "{arguments}");
        }
    }
}
