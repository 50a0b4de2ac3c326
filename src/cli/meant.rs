//! What the words mean: databases in their order, and a configuration that is read and checked.

use std::path::PathBuf;

use super::Serve;
use super::typed::TypedServe;
use crate::config::{self, Config, file};
use crate::db::Source;
use crate::start::StartError;

/// Checks what was typed and reads the files that it names.
pub(super) fn meant(typed: TypedServe, demo: bool) -> Result<Box<Serve>, StartError> {
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
    Ok(Box::new(Serve {
        create: typed.create,
        host: typed.host.clone(),
        port: typed.port,
        config,
        extras,
        workers: typed.workers,
        access_log: typed.access_log,
        cors: typed.cors,
        crossdb: typed.crossdb,
        secret: typed.secret.clone(),
        root: typed.root,
        template_dir: typed.template_dir.clone(),
        statics: typed.statics.clone(),
        sources: sources(typed, demo),
    }))
}

/// `_memory` first, then the files, the immutable ones and the preloaded ones.
fn sources(typed: TypedServe, demo: bool) -> Vec<Source> {
    let no_file =
        typed.files.is_empty() && typed.immutable.is_empty() && typed.preload.is_empty() && !demo;
    let file = |immutable| move |path| Source::File { path, immutable };
    let memory = (typed.memory || typed.crossdb || no_file).then_some(Source::Memory);
    memory
        .into_iter()
        .chain(typed.files.into_iter().map(file(false)))
        .chain(typed.immutable.into_iter().map(file(true)))
        .chain(typed.preload.into_iter().map(Source::Preload))
        .collect()
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
    Config::new(metadata, configured).map_err(StartError::Usage)
}
