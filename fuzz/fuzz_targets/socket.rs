//! Frames and messages of sockets.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| svc::fuzzing::socket(bytes));
