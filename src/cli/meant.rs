//! What the words mean: databases in their order, and a configuration that is read and checked.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::get::Get;
use super::typed::TypedServe;
use super::{Serve, notes};
use crate::config::{self, Config, file};
use crate::db::{Extension, Inspected, Source, inspect};
use crate::http::listen::{Place, TlsFiles};
use crate::reload::Watched;
use crate::start::StartError;

/// The variable that Datasette reads extensions from, with white space between them.
const EXTENSIONS: &str = "DATASETTE_LOAD_EXTENSION";

/// Checks what was typed and reads the files that it names.
pub(super) fn meant(mut typed: TypedServe, demo: bool) -> Result<Box<Serve>, StartError> {
    let folder = Folder::take(&mut typed.files)?;
    if let Some(folder) = &folder {
        fill_in(&mut typed, folder);
    }
    let config = read_config(&typed)?;
    let extras = typed.extras.parse().map_err(|_| {
        StartError::Usage(format!(
            "--extras takes parallel, sequential or auto, not {:?}",
            typed.extras
        ))
    })?;
    if typed.workers.is_some_and(|n| !(1..=512).contains(&n)) {
        return Err(StartError::Usage("--workers takes 1 to 512".to_owned()));
    }
    let inspected = match &typed.inspect_file {
        Some(path) => inspect::read(path).map_err(StartError::Environment)?,
        None => HashMap::new(),
    };
    Ok(Box::new(Serve {
        create: typed.create,
        place: place(&typed),
        tls: tls(&typed)?,
        config,
        extras,
        workers: typed.workers,
        access_log: typed.access_log,
        cors: typed.cors,
        crossdb: typed.crossdb,
        nolock: typed.nolock,
        extensions: extensions(&mut typed)?.into(),
        secret: typed.secret.clone(),
        root: typed.root,
        template_dir: typed.template_dir.clone(),
        statics: typed.statics.clone(),
        open: typed.open,
        get: Get::meant(&typed)?,
        notes: notes::of(&typed, folder.as_ref()),
        watched: typed.reload.then(|| watched(&typed, folder.as_ref())),
        sources: sources(typed, folder, &inspected, demo),
        inspected,
    }))
}

/// Puts what a folder holds in the place of what was not typed.
fn fill_in(typed: &mut TypedServe, folder: &Folder) {
    let or = |typed: &mut Option<PathBuf>, found: &Option<PathBuf>| {
        if typed.is_none() {
            typed.clone_from(found);
        }
    };
    or(&mut typed.config, &folder.config);
    or(&mut typed.metadata, &folder.metadata);
    or(&mut typed.inspect_file, &folder.inspect_file);
    or(&mut typed.template_dir, &folder.templates);
    if let (true, Some(statics)) = (typed.statics.is_empty(), &folder.statics) {
        typed.statics.push(("static".to_owned(), statics.clone()));
    }
}

/// `_memory` first, then the files, the immutable ones, the preloaded ones and those of the folder.
fn sources(
    typed: TypedServe,
    folder: Option<Folder>,
    inspected: &HashMap<String, Inspected>,
    demo: bool,
) -> Vec<Source> {
    let file = |immutable| move |path| Source::File { path, immutable };
    let in_folder = of_folder(&typed, folder, inspected);
    let no_file = typed.files.is_empty()
        && typed.immutable.is_empty()
        && typed.preload.is_empty()
        && in_folder.is_empty()
        && !demo;
    let memory = (typed.memory || typed.crossdb || no_file).then_some(Source::Memory);
    memory
        .into_iter()
        .chain(typed.files.into_iter().map(file(false)))
        .chain(typed.immutable.into_iter().map(file(true)))
        .chain(typed.preload.into_iter().map(Source::Preload))
        .chain(in_folder)
        .collect()
}

/// The databases of a folder. Those that its `inspect-data.json` tells of are taken for immutable,
/// unless the command line says which are.
fn of_folder(
    typed: &TypedServe,
    folder: Option<Folder>,
    inspected: &HashMap<String, Inspected>,
) -> Vec<Source> {
    let Some(folder) = folder else {
        return Vec::new();
    };
    let decides = typed.immutable.is_empty() && typed.inspect_file == folder.inspect_file;
    let names: HashSet<_> = inspected
        .values()
        .filter_map(|inspected| Path::new(inspected.file.as_ref()?).file_name())
        .filter(|_| decides)
        .collect();
    let source = |path: PathBuf| Source::File {
        immutable: path.file_name().is_some_and(|name| names.contains(name)),
        path,
    };
    folder.databases.into_iter().map(source).collect()
}

/// What was typed or, if nothing was, what the environment says.
fn extensions(typed: &mut TypedServe) -> Result<Vec<Extension>, StartError> {
    let typed = std::mem::take(&mut typed.load_extension);
    match std::env::var(EXTENSIONS) {
        Ok(words) if typed.is_empty() => words
            .split_whitespace()
            .map(|word| {
                word.parse()
                    .map_err(|error| StartError::Usage(format!("{EXTENSIONS}: {error}")))
            })
            .collect(),
        _ => Ok(typed),
    }
}

/// What `--reload` looks at: all files that are read once, at the start.
fn watched(typed: &TypedServe, folder: Option<&Folder>) -> Watched {
    let named = [&typed.config, &typed.metadata, &typed.inspect_file];
    let named = named.into_iter().flatten();
    let still = typed.immutable.iter().chain(&typed.preload);
    Watched {
        files: named.chain(still).cloned().collect(),
        trees: typed.template_dir.iter().cloned().collect(),
        folder: folder.map(|folder| folder.path.clone()),
    }
}

/// Files first, then `--setting` in the order typed, then `--sql-threads`.
fn read_config(typed: &TypedServe) -> Result<Config, StartError> {
    let file = |path: &Option<PathBuf>| match path {
        Some(path) => file::read(path).map_err(StartError::Environment),
        None => Ok(serde_json::Map::new()),
    };
    let metadata = file(&typed.metadata)?;
    let mut configured = file(&typed.config)?;
    for pair in typed.setting.chunks_exact(2) {
        let update = config::from_command_line(&pair[0], &pair[1]).map_err(StartError::Usage)?;
        file::merge(&mut configured, update);
    }
    if let Some(threads) = typed.sql_threads {
        let update = file::nest("settings.num_sql_threads", threads.into());
        file::merge(&mut configured, update);
    }
    // What was typed is checked by now: what is wrong stands in a file.
    let mut config = Config::new(metadata, configured).map_err(|error| {
        let path = typed.config.as_ref().or(typed.metadata.as_ref());
        let path = path.map(|path| format!("{}: ", path.display()));
        StartError::Environment(format!("{}{error}", path.unwrap_or_default()))
    })?;
    config.default_deny = typed.default_deny;
    config.version_note.clone_from(&typed.version_note);
    Ok(config)
}
/// Where to listen: a Unix socket goes before an address.
fn place(typed: &TypedServe) -> Place {
    match &typed.uds {
        Some(path) => Place::Unix(path.clone()),
        None => Place::Tcp {
            host: typed.host.clone(),
            port: typed.port,
        },
    }
}

fn tls(typed: &TypedServe) -> Result<Option<TlsFiles>, StartError> {
    match (&typed.ssl_certfile, &typed.ssl_keyfile) {
        (Some(certificates), key) => Ok(Some(TlsFiles {
            certificates: certificates.clone(),
            key: key.clone(),
        })),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(StartError::Usage(
            "--ssl-keyfile takes a certificate too: --ssl-certfile".to_owned(),
        )),
    }
}
