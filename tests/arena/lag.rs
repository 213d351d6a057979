//! Games over a slow line: no flag falls.
