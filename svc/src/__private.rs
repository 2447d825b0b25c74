//! Items that generated code refers to. Not part of the public API: they change without notice.

pub use svc_engine::__private::*;

pub use crate::__guards as guards;
pub use crate::app::{Mutation, Query, RootField, Subscription};
#[cfg(feature = "testing")]
pub use crate::testing::{TestCase, TestOutcome, run_test};

/// The guards of an item.
#[cfg(feature = "auth")]
#[doc(hidden)]
#[macro_export]
macro_rules! __guards {
    ($guards:expr) => {
        $guards
    };
}

/// The guards of an item: without users, no request would pass them.
#[cfg(not(feature = "auth"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __guards {
    ($guards:expr) => {
        ::core::compile_error!(
            "guards need the feature `auth` of svc: cargo add svc --features auth"
        )
    };
}
