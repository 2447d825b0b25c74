//! Sessions in cookies.

mod browser;
mod cookies;
mod stores;
