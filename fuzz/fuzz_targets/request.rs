//! Requests: from bytes to an answer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| svc::fuzzing::request(bytes));
