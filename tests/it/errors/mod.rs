//! Errors and requests, as those who run the service find them: in the log and in the error
//! tracker.

mod codes;
mod json;
mod on_error;
mod one_id;
mod refused;
mod requests;
mod service;
mod slow;
mod tracked;
mod tracker_trouble;
