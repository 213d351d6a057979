//! The built program against an arena in this process: signals, exit codes, the log.
#![cfg(unix)]

mod configure;
mod exit;
mod harness;
mod health;
mod log;
mod memory;
mod reload;
mod restart;
mod secrets;
mod service;
