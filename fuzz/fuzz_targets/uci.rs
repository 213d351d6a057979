//! The property `uci` of `tests/properties/`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meitner_fuzz::check("uci", data));
