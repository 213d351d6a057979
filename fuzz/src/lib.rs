//! The properties of the main package's tests, for the fuzzer. Nothing is tested here that is not
//! tested there as well.

#[allow(dead_code, reason = "the seeds are used by the main package's tests")]
#[path = "../../tests/properties/mod.rs"]
mod properties;

/// Panics if the property of this name does not hold for these bytes.
pub fn check(name: &str, data: &[u8]) {
    (properties::target(name).check)(data);
}
