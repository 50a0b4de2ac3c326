//! The databases that are served.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rusqlite::Connection;

/// A table of 5 rows, which every site has as `/data/few`.
const FEW: &str = "create table few (id integer primary key, name text, amount real);
    insert into few values (1, 'one', 1.5), (2, 'two', 2.5), (3, 'three', null),
        (4, 'four', 4.5), (5, 'five', 5.5);";

const ROWS: &str = "create table item (
        id integer primary key, name text not null, price real, stock integer, note text
    );
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
        insert into item select i, 'item number ' || i, i * 37 % 9973 / 100.0, i * 31 % 97,
            iif(i % 5, 'a remark on item ' || i, null) from n;";

/// `data.db` of `count` tables, the last of which is [`FEW`].
pub fn tables(folder: &Path, count: u32) -> Result<PathBuf> {
    let mut sql = String::new();
    for number in 1..count {
        write!(
            sql,
            "create table other_{number} (id integer primary key, name text);"
        )?;
    }
    database(folder, "data.db", &(sql + FEW))
}

/// `data.db` and others, `count` in all, of one table each.
pub fn databases(folder: &Path, count: u32) -> Result<Vec<PathBuf>> {
    (0..count)
        .map(|number| match number {
            0 => tables(folder, 1),
            _ => database(folder, &format!("other_{number}.db"), FEW),
        })
        .collect()
}

/// `data.db` with a table of 1,000 rows.
pub fn rows(folder: &Path) -> Result<PathBuf> {
    database(folder, "data.db", ROWS)
}

fn database(folder: &Path, name: &str, sql: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    #[expect(
        clippy::disallowed_methods,
        reason = "the bench makes its own databases"
    )]
    let connection = Connection::open(&path)?;
    connection.execute_batch(&format!("begin; {sql} commit;"))?;
    Ok(path)
}
