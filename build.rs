//! Builds the files of `static/` and `templates/` into the program: one sorted
//! table for each folder, written where `include!` finds it. A dozen lines that
//! the compiler checks are easier to trust than a dependency, and
//! `include_bytes!` already tells Cargo which files to watch.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut source = String::new();
    for (folder_name, table, kind, macro_name) in [
        ("static", "STATIC_FILES", "[u8]", "include_bytes"),
        ("templates", "TEMPLATE_FILES", "str", "include_str"),
    ] {
        println!("cargo:rerun-if-changed={folder_name}");
        let folder = root.join(folder_name);
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        files.sort();
        let _ = writeln!(source, "pub(crate) static {table}: &[(&str, &{kind})] = &[");
        for file in files {
            let name = file
                .strip_prefix(&folder)
                .map(|name| name.to_string_lossy().replace('\\', "/"))
                .unwrap_or_default();
            // Relative to the checkout, so that one that was moved still builds.
            let path = format!("/{folder_name}/{name}");
            let _ = writeln!(
                source,
                "    ({name:?}, {macro_name}!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
            );
        }
        source.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), source)?;
    println!("cargo:rustc-env=TURNTABLE_RUSTC={}", compiler_version());
    Ok(())
}

/// All files below a folder, without editors' backups and hidden files.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// `1.95.0` of `rustc 1.95.0 (…)`; empty when the compiler does not say.
fn compiler_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    process::Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .and_then(|text| text.split_whitespace().nth(1).map(str::to_owned))
        .unwrap_or_default()
}
