//! Documents: the rules of GraphQL's language, where no other subject has them.

mod fragments;
mod variable_usages;
