//! The protection on the open internet: forged requests, other origins, identifiers, batches,
//! overload, answers that nobody takes.

mod batches;
mod compression;
mod cors;
mod csrf;
mod overload;
mod request_ids;
mod slow_bodies;
mod unread;
