//! Tests that need whole applications.

mod gate;
mod hooks;
mod settings;
