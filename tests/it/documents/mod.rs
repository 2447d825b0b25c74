//! Documents: the rules of GraphQL's language, where no other subject has them.

mod fragments;
mod incremental_delivery;
mod literals;
mod one_plan;
mod september_2025;
mod suggestions;
mod variable_usages;
