//! The protection on the open internet: forged requests, other origins, identifiers, batches, overload.

mod batches;
mod compression;
mod cors;
mod csrf;
mod overload;
mod request_ids;
