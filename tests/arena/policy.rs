//! Which challenges are accepted, and with which reason the others are declined.
