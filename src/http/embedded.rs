//! What the build script put into the program: name and content of each file.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
