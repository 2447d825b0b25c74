//! Rows: fields without a body, relations, pages, aggregates, and reads of resolvers.

mod aggregates;
mod bad_rows;
mod broken_values;
mod children;
mod composite_keys;
mod computed_data;
mod default_orders;
mod edges;
mod groups;
mod indexes;
mod items;
mod many_to_many;
mod nodes;
mod pages;
mod projection;
mod relation_keys;
mod relations;
mod relations_of_interfaces;
mod repository;
mod resolvers;
mod row_functions;
mod row_sources;
mod skipped_rows;
mod statements;
mod ties;
mod views;
