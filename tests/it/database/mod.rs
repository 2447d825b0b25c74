//! The database: connections that come and go, deadlines, changed views, policies and sessions.

mod away;
mod broken_fields;
mod changed_views;
mod deadlines;
mod idle_connections;
mod messages;
mod mistakes;
mod passwords;
mod pool;
mod pooler;
mod role_names;
mod row_security;
mod session_settings;
mod share;
mod sqlstates;
mod states;
mod tenancy;
mod transactions;
mod unchecked_texts;
mod urls;
mod view_check;
