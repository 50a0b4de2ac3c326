//! A folder in the place of files: its databases, configuration, templates and
//! static files are found by their names.
//! <https://docs.datasette.io/en/latest/settings.html#configuration-directory-mode>

use std::path::{Path, PathBuf};

use crate::start::StartError;

/// Endings of database files, in the order in which Datasette lists them.
const ENDINGS: [&str; 3] = ["db", "sqlite", "sqlite3"];
/// Endings of configuration files; the first that is there counts.
pub(crate) const FORMATS: [&str; 3] = ["json", "yaml", "yml"];

/// What a folder holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Database files, by ending and name.
    pub databases: Vec<PathBuf>,
    /// `datasette.json`, `.yaml` or `.yml`
    pub config: Option<PathBuf>,
    /// `metadata.json`, `.yaml` or `.yml`
    pub metadata: Option<PathBuf>,
    /// `inspect-data.json`
    pub inspect_file: Option<PathBuf>,
    /// `templates/`
    pub templates: Option<PathBuf>,
    /// `static/`
    pub statics: Option<PathBuf>,
    /// `plugins/`
    pub plugins: Option<PathBuf>,
}

impl Folder {
    /// Takes the one folder out of what is to be served, if there is one, and looks into it.
    ///
    /// # Errors
    /// There are two, or it can't be read, or its settings are in the file of Datasette 0.x.
    pub fn take(files: &mut Vec<PathBuf>) -> Result<Option<Self>, StartError> {
        let folders: Vec<PathBuf> = files.extract_if(.., |path| path.is_dir()).collect();
        match folders.as_slice() {
            [] => Ok(None),
            [path] => Self::read(path).map(Some),
            [first, second, ..] => Err(StartError::Usage(format!(
                "one folder can be served, not two: {} and {}",
                first.display(),
                second.display()
            ))),
        }
    }

    fn read(path: &Path) -> Result<Self, StartError> {
        let file = |name: &str| Some(path.join(name)).filter(|path| path.is_file());
        let folder = |name: &str| Some(path.join(name)).filter(|path| path.is_dir());
        let of_formats = |stem: &str| {
            let mut names = FORMATS.iter().map(|format| format!("{stem}.{format}"));
            names.find_map(|name| file(&name))
        };
        Ok(Self {
            databases: databases(path).map_err(|error| {
                StartError::Environment(format!("cannot read {}: {error}", path.display()))
            })?,
            config: of_formats("datasette"),
            metadata: of_formats("metadata"),
            inspect_file: file("inspect-data.json"),
            templates: folder("templates"),
            statics: folder("static"),
            plugins: folder("plugins"),
            path: path.to_owned(),
        })
    }
}

/// The databases, without hidden files, among which systems keep their own.
pub(crate) fn databases(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let rank = ENDINGS.iter().position(|known| Some(*known) == ending);
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if let Some(rank) = rank
            && !is_hidden
            && path.is_file()
        {
            found.push((rank, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_folder_holds_is_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for file in [
            "b.db",
            "c.sqlite",
            "a.sqlite3",
            "a.db",
            ".hidden.db",
            "notes.txt",
            "metadata.yml",
            "metadata.yaml",
            "datasette.json",
            "datasette.yaml",
            "inspect-data.json",
        ] {
            std::fs::write(at(file), "").unwrap();
        }
        for sub in ["templates", "static", "plugins", "not.db"] {
            std::fs::create_dir(at(sub)).unwrap();
        }
        let mut files = vec![PathBuf::from("more.db"), folder.path().to_owned()];
        let found = Folder::take(&mut files).unwrap().expect("a folder");
        assert_eq!(files, [PathBuf::from("more.db")]);
        let expected = Folder {
            path: folder.path().to_owned(),
            databases: ["a.db", "b.db", "c.sqlite", "a.sqlite3"].map(at).to_vec(),
            config: Some(at("datasette.json")),
            metadata: Some(at("metadata.yaml")),
            inspect_file: Some(at("inspect-data.json")),
            templates: Some(at("templates")),
            statics: Some(at("static")),
            plugins: Some(at("plugins")),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn an_empty_folder_holds_nothing_and_two_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let found = Folder::take(&mut vec![folder.path().to_owned()]).unwrap();
        let empty = Folder {
            path: folder.path().to_owned(),
            ..Folder::default()
        };
        assert_eq!(found, Some(empty));
        let mut two = vec![folder.path().to_owned(), std::env::temp_dir()];
        assert!(matches!(Folder::take(&mut two), Err(StartError::Usage(_))));
        assert_eq!(Folder::take(&mut vec!["a.db".into()]), Ok(None));
    }
}
