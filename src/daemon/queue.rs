//! In which order waiting challenges are taken. Pure.
