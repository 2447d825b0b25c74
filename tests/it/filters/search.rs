//! Full text search.
