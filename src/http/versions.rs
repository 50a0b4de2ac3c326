//! `/-/versions`: what the program was made of. Asked once, at the start.

use rusqlite::Connection;
use serde_json::{Value, json};

/// The release of Datasette whose URLs, JSON and configuration we speak.
const DATASETTE: &str = "1.0a41";

/// The versions as JSON, with what `--version-note` has to say.
///
/// # Errors
/// When SQLite cannot open a database in memory.
pub fn versions(note: Option<&str>) -> Result<Value, rusqlite::Error> {
    let memory = Connection::open_in_memory()?;
    let fts_versions: Vec<&str> = ["FTS5", "FTS4", "FTS3"]
        .into_iter()
        .filter(|fts| {
            let probe = format!("create virtual table v{fts} using {fts} (data)");
            memory.execute_batch(&probe).is_ok()
        })
        .collect();
    let has_json = memory
        .query_row("select json('{}')", [], |_| Ok(()))
        .is_ok();
    let compile_options = memory
        .prepare("pragma compile_options")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<String>, _>>()?;
    let mut turntable = json!({"version": env!("CARGO_PKG_VERSION")});
    if let Some(note) = note {
        turntable["note"] = note.into();
    }
    Ok(json!({
        "turntable": turntable,
        "datasette": {"version": DATASETTE, "note": note.unwrap_or("the API that Turntable speaks")},
        "rust": {"version": env!("TURNTABLE_RUSTC")},
        "sqlite": {
            "version": rusqlite::version(),
            "fts_versions": fts_versions,
            "extensions": {"json1": has_json},
            "compile_options": compile_options,
        },
    }))
}
