//! Errors of a request as a whole, and their locations in the document.

mod location;
mod request_error;
mod source;

pub(super) use location::{LineIndex, Location, MAX_LOCATIONS};
pub use request_error::RequestError;
pub(super) use source::{SourceText, Span};
