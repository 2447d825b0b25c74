//! Manifests of trusted documents.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| svc::fuzzing::manifest(bytes));
