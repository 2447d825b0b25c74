//! Small requests that could cost much: each has a bound.

mod answers;
mod cost;
mod document_memory;
mod introspection_and_length;
mod locations;
mod log_lines;
mod planning;
mod small_documents;
mod tried;
