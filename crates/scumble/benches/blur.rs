//! How long blur takes.

fn main() {}
