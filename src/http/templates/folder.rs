//! The templates of a site, read from its `--template-dir` when the program starts.

use std::fs;
use std::path::{Path, PathBuf};

/// Endings of files that are templates. Others may lie beside them.
const ENDINGS: [&str; 5] = ["html", "htm", "xml", "svg", "txt"];
/// Folders in folders at the most: links could go round in a circle.
const DEPTH: usize = 16;

/// One template of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What other templates call it: the path below the folder, with `/`.
    pub name: String,
    /// Where it was read.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
}

/// Reads all templates of a folder, sorted by name.
///
/// # Errors
/// One sentence on a folder or file that cannot be read, or that is not UTF-8.
pub fn read(folder: &Path) -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    collect(folder, "", DEPTH, &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<File>) -> Result<(), String> {
    if depth == 0 {
        return Err(format!("{}: too many folders in folders", folder.display()));
    }
    let failed = |path: &Path, error| format!("cannot read {}: {error}", path.display());
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let entry = entry.map_err(|error| failed(folder, error))?;
        let path = entry.path();
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str() else {
            continue;
        };
        if file_name.starts_with('.') || file_name.ends_with('~') {
            continue;
        }
        let name = format!("{prefix}{file_name}");
        // Follows links; one that leads nowhere may be an editor's lock.
        let Ok(kind) = fs::metadata(&path) else {
            continue;
        };
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), depth - 1, files)?;
        } else if kind.is_file() && is_template(&path) {
            let source = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            files.push(File { name, path, source });
        }
    }
    Ok(())
}

fn is_template(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_found_at_every_depth_and_other_files_are_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, bytes).expect("written");
        };
        write("table.html", b"t");
        write("pages/deep/{x}.html", b"p");
        write(".hidden.html", b"no");
        write("table.html~", b"no");
        write("logo.png", b"\xff\xfe");
        let files = read(folder.path()).expect("read");
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["pages/deep/{x}.html", "table.html"]);
        assert_eq!(files[1].source, "t");
        write("bad.html", b"\xff");
        let error = read(folder.path()).expect_err("not UTF-8");
        assert!(error.contains("bad.html"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_go_round_in_a_circle_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("a link");
        assert!(
            read(folder.path())
                .expect_err("a circle")
                .contains("folders in folders")
        );
    }
}
