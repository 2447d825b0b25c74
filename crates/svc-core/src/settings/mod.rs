//! Settings: one table defines the struct, the defaults, the environment variables, the allowed
//! values, `Debug`, and the page of the book.

mod environment;
mod error;
mod group;
mod kinds;
mod origins;
mod used;
mod variables;

pub use error::ConfigError;

pub use environment::{check_text, unknown};
pub use group::{Group, from_environment};
pub use kinds::{
    Count, Flag, Kind, Maybe, Milliseconds, Otherwise, Parsed, Path, Seconds, Secret, Text,
    Whether, or_never,
};
pub use origins::{BETWEEN, Origins, is_origin, items};
#[cfg(any(feature = "auth", feature = "sessions"))]
pub use used::use_value;
pub use used::{is_set, is_used, tell_once, tell_overridden, tell_unused, use_group, use_variable};
pub use variables::{Variables, variable};

/// The maximum time-out: a year, as clocks are limited.
pub const MAX_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 60 * 60);

/// A setting, as shown in the book.
#[cfg(any(test, feature = "test-support"))]
#[derive(Debug, Clone)]
pub struct Row {
    /// The variables that set it; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// Its field, such as `database.url`.
    pub field: String,
    pub default: String,
    pub allowed: String,
    pub doc: String,
}

/// Items for the tests of this crate and of crates that enable `test-support`.
#[cfg(any(test, feature = "test-support"))]
#[doc(hidden)]
#[macro_export]
macro_rules! test_support {
    ($($items:tt)*) => { $($items)* };
}

/// Items for tests, which this build has none of.
#[cfg(not(any(test, feature = "test-support")))]
#[doc(hidden)]
#[macro_export]
macro_rules! test_support {
    ($($items:tt)*) => {};
}

/// Declares a struct of settings. A setting is one line: its documentation, its field and type, its
/// default, its variables, and the kind of its values.
#[doc(hidden)]
#[macro_export]
macro_rules! __settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $ty:ty = $default:expr, [$first:literal $(, $other:literal)*], $kind:expr;)*
            $(groups { $($(#[doc = $group_doc:literal])+ $group:ident: $group_ty:ty;)* })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\n`", $first, "`", $(", or else `", $other, "`",)* "; default `", stringify!($default), "`.")]
                pub $field: $ty,
            )*
            $($($(#[doc = $group_doc])+ pub $group: $group_ty,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($($group: Default::default(),)*)? }
            }
        }

        impl $name {
            /// Reads the variables that are set; the other settings have their defaults.
            #[doc(hidden)]
            pub fn read(
                variables: &$crate::settings::Variables<'_>,
            ) -> Result<Self, $crate::settings::ConfigError> {
                Ok(Self {
                    $($field: $crate::settings::Kind::<$ty>::read(&$kind, variables, &[$first $(, $other)*])?
                        .unwrap_or_else(|| $default),)*
                    $($($group: <$group_ty>::read(variables)?,)*)?
                })
            }

            /// Calls `visit` with the variables of each setting, the first of which counts, and
            /// whether its value is another than in `other`.
            #[doc(hidden)]
            pub fn compare(&self, other: &Self, visit: &mut dyn FnMut(&[&'static str], bool)) {
                $(visit(&[$first $(, $other)*], self.$field != other.$field);)*
                $($(self.$group.compare(&other.$group, visit);)*)?
            }

            /// Calls `visit` with each variable that is set, and whether the field has the value
            /// that it gives.
            #[doc(hidden)]
            pub fn compare_with(
                &self,
                variables: &$crate::settings::Variables<'_>,
                visit: &mut dyn FnMut(&'static str, bool),
            ) {
                $({
                    let names: &[&'static str] = &[$first $(, $other)*];
                    if let Some((name, _)) = variables.first(names) {
                        let given = $crate::settings::Kind::<$ty>::read(&$kind, variables, names);
                        visit(name, given.is_ok_and(|given| given.as_ref() == Some(&self.$field)));
                    }
                })*
                $($(self.$group.compare_with(variables, visit);)*)?
            }

            $crate::test_support! {
            /// The settings as the book shows them.
            #[doc(hidden)]
            #[must_use]
            pub fn rows(prefix: &str) -> Vec<$crate::settings::Row> {
                let rows = vec![$({
                    let kind = $kind;
                    $crate::settings::Row {
                        variables: &[$first $(, $other)*],
                        field: format!("{prefix}{}", stringify!($field)),
                        default: $crate::settings::Kind::<$ty>::shown(&kind, &$default),
                        allowed: $crate::settings::Kind::<$ty>::allowed(&kind),
                        doc: [$($doc),+].concat().trim().to_owned(),
                    }
                },)*];

                $($(let rows = [rows, <$group_ty>::rows(concat!(stringify!($group), "."))].concat();)*)?
                rows
            }
            }
        }

        impl $crate::settings::Group for $name {
            fn of(variables: &$crate::settings::Variables<'_>) -> Result<Self, $crate::settings::ConfigError> {
                Self::read(variables)
            }

            fn names() -> Vec<&'static str> {
                let mut all = Vec::new();
                Self::default().compare(&Self::default(), &mut |names, _| all.extend(names));
                all
            }

            fn visit_set(
                &self,
                variables: &$crate::settings::Variables<'_>,
                visit: &mut dyn FnMut(&'static str, bool),
            ) {
                self.compare_with(variables, visit);
            }
        }

        /// Shows the settings, but nothing of what is secret.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(
                        stringify!($field),
                        &format_args!("{}", $crate::settings::Kind::<$ty>::debugged(&$kind, &self.$field)),
                    ))*
                    $($(.field(stringify!($group), &self.$group))*)?
                    .finish()
            }
        }
    };
}

pub use crate::__settings as settings;
