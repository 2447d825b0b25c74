//! Sessions in cookies.

mod at_once;
mod browser;
mod cookies;
mod stores;
