//! Faults that outside looks found, one file each: small requests that cost much, wrong or stuck answers, leaks.

mod line_01_document_memory;
mod line_02_locations;
mod line_03_cost;
mod line_04_deadlines;
mod line_05_log_lines;
mod line_06_connections;
mod line_06_documents;
mod line_07_changed_views;
mod line_08_numbers;
mod line_09;
mod line_10_idle_connections;
mod line_11_sent_once;
mod line_12_bad_rows;
mod line_13_cached_pages;
mod line_14_values;
mod line_15_tls;
mod line_16_raised;
mod line_16_rollback;
mod line_17_row_security;
mod line_18_caching;
mod line_18_messages;
mod line_18_passwords;
mod line_19_panics;
mod line_20_refusals;
mod line_21_patterns;
mod raw;
