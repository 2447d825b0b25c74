//! The code behind root fields and methods, which is opaque to the schema that holds it.

use std::any::Any;
use std::fmt;

use super::{Call, Events, Outcome};
use svc_core::Error;
use svc_core::schema::{BoxFuture, Code, Outcomes};

/// The function that calls a resolver.
#[derive(Clone, Copy)]
pub enum Resolver {
    /// A plain `fn`.
    Sync(for<'a> fn(Call<'a>) -> Outcome<'a>),
    /// An `async fn`.
    Async(for<'a> fn(Call<'a>) -> BoxFuture<'a, Outcome<'a>>),
    /// A function that returns a stream of events.
    Stream(for<'a> fn(Call<'a>) -> BoxFuture<'a, Events<'a>>),
}

/// The function that calls a method.
#[derive(Clone, Copy)]
pub enum Method {
    /// A plain `fn`: no future is made.
    Sync(for<'a> fn(&'a dyn Any, Call<'a>) -> Outcome<'a>),
    /// An `async fn`.
    Async(for<'a> fn(&'a dyn Any, Call<'a>) -> BoxFuture<'a, Outcome<'a>>),
    /// A function that takes all objects of a level.
    Batch(BatchMethod),
}

/// The function that calls a method for many objects.
pub(crate) type BatchMethod = for<'a> fn(Vec<&'a dyn Any>, Call<'a>) -> BoxFuture<'a, Outcomes<'a>>;

impl Code for Resolver {}
impl Code for Method {}

impl Resolver {
    /// The resolver that a root field was registered with.
    pub(crate) fn of(code: &'static dyn Code) -> Self {
        let foreign = Self::Sync(|_| {
            Err(Error::internal(
                "the code of the root field is not a resolver",
            ))
        });

        (code as &dyn Any)
            .downcast_ref()
            .copied()
            .unwrap_or(foreign)
    }
}

impl Method {
    /// The method that a field was registered with.
    pub(crate) fn of(code: &'static dyn Code) -> Self {
        let foreign =
            Self::Sync(|_, _| Err(Error::internal("the code of the field is not a method")));
        (code as &dyn Any)
            .downcast_ref()
            .copied()
            .unwrap_or(foreign)
    }

    /// The cost of a method that declares none: 10 for an `async` one, which may send a statement
    /// or call another service for each object, so that the default complexity allows a thousand
    /// such calls; 1 for a plain one, which only computes. A batch method counts for each object as
    /// well, because each is a key for the service that it calls.
    pub(crate) fn default_cost(self) -> u32 {
        match self {
            Self::Sync(_) => 1,
            Self::Async(_) | Self::Batch(_) => 10,
        }
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync(_) => "Sync",
            Self::Async(_) => "Async",
            Self::Stream(_) => "Stream",
        })
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync(_) => "Sync",
            Self::Async(_) => "Async",
            Self::Batch(_) => "Batch",
        })
    }
}
