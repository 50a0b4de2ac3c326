//! SQLite extensions that the command line names. Each connection loads them
//! when it is opened; SQL can't load any.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use rusqlite::Connection;

use super::ffi;

/// The name that stands for `SpatiaLite`, wherever it is installed.
const SPATIALITE: &str = "spatialite";
/// Where packages of the usual systems put it.
const SPATIALITE_PLACES: [&str; 8] = [
    "/usr/lib/x86_64-linux-gnu/mod_spatialite.so",
    "/usr/lib/aarch64-linux-gnu/mod_spatialite.so",
    "/usr/lib64/mod_spatialite.so",
    "/usr/lib/mod_spatialite.so",
    "/usr/lib/mod_spatialite.so.8",
    "/usr/local/lib/mod_spatialite.so",
    "/usr/local/lib/mod_spatialite.dylib",
    "/opt/homebrew/lib/mod_spatialite.dylib",
];

/// A library and where to enter it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    path: PathBuf,
    /// `None` for the one that SQLite derives from the library's name.
    entry_point: Option<String>,
}

impl FromStr for Extension {
    type Err = String;

    /// Reads `PATH`, `PATH:ENTRYPOINT` or `spatialite`.
    fn from_str(word: &str) -> Result<Self, String> {
        if word == SPATIALITE {
            return SPATIALITE_PLACES
                .into_iter()
                .find(|place| Path::new(place).exists())
                .map(Self::whole)
                .ok_or_else(|| "SpatiaLite is in none of the usual places: give its path".into());
        }
        // A colon may be part of the path: `C:\…`.
        let is_name = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        match word.rsplit_once(':') {
            Some((path, entry_point))
                if !path.is_empty() && is_name(entry_point) && !Path::new(word).exists() =>
            {
                Ok(Self {
                    path: path.into(),
                    entry_point: Some(entry_point.to_owned()),
                })
            }
            _ if word.is_empty() => Err("a path is expected".to_owned()),
            _ => Ok(Self::whole(word)),
        }
    }
}

impl Extension {
    fn whole(path: &str) -> Self {
        Self {
            path: path.into(),
            entry_point: None,
        }
    }

    /// Loads it into one connection.
    pub fn load(&self, connection: &Connection) -> rusqlite::Result<()> {
        ffi::load_extension(connection, &self.path, self.entry_point.as_deref())
    }
}

/// Loads each once, to see that it can be done.
///
/// # Errors
/// One sentence on the first that can't be loaded.
pub fn check(extensions: &[Extension]) -> Result<(), String> {
    for extension in extensions {
        Connection::open_in_memory()
            .and_then(|connection| extension.load(&connection))
            .map_err(|error| {
                let path = extension.path.display();
                format!("cannot load the extension {path}: {error}")
            })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str) -> Result<(PathBuf, Option<String>), String> {
        let extension: Extension = word.parse()?;
        Ok((extension.path, extension.entry_point))
    }

    #[test]
    fn a_word_is_a_path_and_perhaps_an_entry_point() {
        assert_eq!(read("./ext"), Ok(("./ext".into(), None)));
        assert_eq!(
            read("./ext.so:sqlite3_ext_b_init"),
            Ok(("./ext.so".into(), Some("sqlite3_ext_b_init".into())))
        );
        assert_eq!(read(r"C:\lib\ext"), Ok((r"C:\lib\ext".into(), None)));
        assert!(read("").is_err());
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let missing: Extension = "/no/such/extension".parse().expect("a path");
        let error = check(&[missing]).expect_err("missing");
        assert!(error.contains("/no/such/extension"), "{error}");
    }

    #[test]
    fn sql_loads_nothing() {
        let connection = Connection::open_in_memory().unwrap();
        let _ = "/no/such/extension"
            .parse::<Extension>()
            .map(|extension| extension.load(&connection));
        let error = connection
            .query_row(
                "select load_extension('/no/such/extension')",
                [],
                |_| Ok(()),
            )
            .expect_err("not allowed");
        assert!(error.to_string().contains("not authorized"), "{error}");
    }
}
