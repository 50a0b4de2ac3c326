//! What was typed and has no effect here, to be told when the program starts.

use super::folder::Folder;
use super::typed::TypedServe;

/// A sentence for each.
pub(super) fn of(typed: &TypedServe, folder: Option<&Folder>) -> Vec<String> {
    let in_folder = folder.and_then(|folder| folder.plugins.as_ref());
    let plugins = typed.plugins_dir.iter().chain(in_folder).map(|path| {
        format!(
            "plugins are not supported: {} is left alone",
            path.display()
        )
    });
    let internal = typed.internal.iter().map(|path| {
        format!(
            "--internal: no internal database is kept, {} is left alone",
            path.display()
        )
    });
    let pdb = typed
        .pdb
        .then(|| "--pdb: there is no Python debugger, nothing is done".to_owned());
    let empty = folder
        .filter(|folder| {
            folder.databases.is_empty() && typed.files.is_empty() && typed.immutable.is_empty()
        })
        .map(|folder| {
            format!(
                "there is no database (*.db, *.sqlite, *.sqlite3) in {}",
                folder.path.display()
            )
        });
    plugins.chain(internal).chain(pdb).chain(empty).collect()
}
