//! Fuzzes the function of this name in the library.
#![cfg_attr(fuzzing, no_main)]
netloom_fuzz::fuzz_target!(replica_tables);
