//! `turntable inspect`: what is known of files that nobody changes, as JSON.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::typed::TypedInspect;
use crate::db::{Extension, Inspected, extension};
use crate::start::StartError;

/// What is to be inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspect {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Where to write; `None` to print.
    pub out: Option<PathBuf>,
    /// What to load first.
    pub extensions: Arc<[Extension]>,
}

impl Inspect {
    pub(super) fn meant(typed: TypedInspect) -> Self {
        Self {
            files: typed.files,
            // A hyphen is Datasette's way to say standard output.
            out: typed.inspect_file.filter(|path| path.as_os_str() != "-"),
            extensions: typed.load_extension.into(),
        }
    }

    /// Reads the files. What is to be printed: nothing, if it was written to a file.
    ///
    /// # Errors
    /// A file that can't be read or written.
    pub fn run(&self) -> Result<String, StartError> {
        extension::check(&self.extensions).map_err(StartError::Environment)?;
        let mut found = Map::new();
        let mut taken = HashSet::new();
        for path in &self.files {
            let named = path.display();
            if !path.is_file() {
                return Err(StartError::Environment(format!("no such file: {named}")));
            }
            let inspected = Inspected::file(path, &self.extensions).map_err(|reason| {
                StartError::Environment(format!("cannot inspect {named}: {reason}"))
            })?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let name = crate::db::registry::free_name(&stem, &mut taken);
            found.insert(name, inspected.to_json());
        }
        if self.files.is_empty() {
            // As in Datasette: without files there is the database in memory.
            let empty = json!({"hash": null, "size": 0, "file": null, "tables": {}});
            found.insert("_memory".to_owned(), empty);
        }
        let text = format!("{:#}\n", Value::Object(found));
        match &self.out {
            None => Ok(text),
            Some(out) => std::fs::write(out, text)
                .map(|()| String::new())
                .map_err(|error| {
                    StartError::Environment(format!("cannot write {}: {error}", out.display()))
                }),
        }
    }
}
