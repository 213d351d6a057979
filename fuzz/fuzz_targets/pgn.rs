//! The property `pgn` of `tests/properties/`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| meitner_fuzz::check("pgn", data));
