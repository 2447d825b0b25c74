//! The ways of running a root field without its admission, none of which compiles.
//! `tests/it/requests/unadmitted.rs` compiles this crate with each file, and expects the errors
//! that its lines name, and no other.

#[cfg(svc_unadmitted = "calls")]
mod calls;
// The compiler looks at what is private only when all types fit.
#[cfg(svc_unadmitted = "literals")]
mod literals;
