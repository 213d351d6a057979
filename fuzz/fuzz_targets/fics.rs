//! The property `fics` of `tests/properties/`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meitner_fuzz::check("fics", data));
