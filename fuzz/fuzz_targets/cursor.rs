//! Cursors of pages.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| svc::fuzzing::cursor(bytes));
