//! Sessions in cookies.

mod accounts;
mod at_once;
mod browser;
mod cookies;
mod sockets;
mod stores;
mod undone;
