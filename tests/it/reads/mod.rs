//! Rows: fields without a body, relations, pages, aggregates, and reads of resolvers.

mod aggregates;
mod bad_rows;
mod computed_data;
mod indexes;
mod items;
mod pages;
mod projection;
mod relations;
mod repository;
mod resolvers;
mod statements;
mod ties;
mod views;
