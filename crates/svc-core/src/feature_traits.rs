//! Methods that need a feature which this build is without. They cannot be called: no type has the
//! feature's trait, whose message names the feature, where rustc would only say that there is no
//! such method. For paths, such as `svc::Upload`, rustc names the feature itself.
//!
//! The results are of any type, so that rustc has no further message about the use of a result.
//! The bounds are `for<'f>`, as rustc refuses others that no type can satisfy.

/// The feature `auth`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `auth` of svc",
    label = "svc is built without the feature `auth`",
    note = "switch it on: cargo add svc --features auth"
)]
pub trait FeatureAuth<'f> {}

/// The feature `embedded`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `embedded` of svc",
    label = "svc is built without the feature `embedded`",
    note = "switch it on: cargo add svc --features embedded"
)]
pub trait FeatureEmbedded<'f> {}

/// The feature `native-auth`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `native-auth` of svc",
    label = "svc is built without the feature `native-auth`",
    note = "switch it on: cargo add svc --features native-auth"
)]
pub trait FeatureNativeAuth<'f> {}

/// The feature `redis`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `redis` of svc",
    label = "svc is built without the feature `redis`",
    note = "switch it on: cargo add svc --features redis"
)]
pub trait FeatureRedis<'f> {}

/// The feature `sessions`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `sessions` of svc",
    label = "svc is built without the feature `sessions`",
    note = "switch it on: cargo add svc --features sessions"
)]
pub trait FeatureSessions<'f> {}

/// The feature `sqlx`, which a build may be without.
#[diagnostic::on_unimplemented(
    message = "this method of `{Self}` needs the feature `sqlx` of svc",
    label = "svc is built without the feature `sqlx`",
    note = "switch it on: cargo add svc --features sqlx"
)]
pub trait FeatureSqlx<'f> {}

/// The error for a call that no build can compile.
#[must_use]
pub fn needed(feature: &str) -> crate::Error {
    crate::Error::internal(format!("the feature `{feature}` of svc is needed"))
}
