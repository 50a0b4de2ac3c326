//! Which templates a page looks for, as Datasette names them: those for one
//! table or database first, the general one last.

use crate::text::css;

/// What a page is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'s> {
    /// The front page.
    Index,
    /// A database.
    Database(&'s str),
    /// A table or view: the database, then its name.
    Table(&'s str, &'s str),
    /// A row: the database, then the table.
    Row(&'s str, &'s str),
    /// SQL of a visitor, or a stored query with its name.
    Query(&'s str, Option<&'s str>),
    /// A request that failed, by status.
    Error(u16),
    /// Any other page, by its template.
    Other(&'s str),
}

impl Subject<'_> {
    /// The templates of the page. There is always a last one, which the program itself has.
    pub fn names(&self) -> Vec<String> {
        match *self {
            Self::Index => vec!["index.html".to_owned()],
            Self::Database(database) => vec![
                format!("database-{}.html", css::class(database)),
                "database.html".to_owned(),
            ],
            Self::Table(database, table) => of_table("table", database, table),
            Self::Row(database, table) => of_table("row", database, table),
            Self::Query(database, query) => {
                let database = css::class(database);
                let query =
                    query.map(|query| format!("query-{database}-{}.html", css::class(query)));
                let general = [format!("query-{database}.html"), "query.html".to_owned()];
                query.into_iter().chain(general).collect()
            }
            Self::Error(status) => vec![format!("{status}.html"), "error.html".to_owned()],
            Self::Other(name) => vec![name.to_owned()],
        }
    }

    /// The templates of the rows on the page, for pages that have rows of a table.
    pub fn rows_names(&self) -> Vec<String> {
        let (page, database, table) = match *self {
            Self::Table(database, table) => ("table", database, table),
            Self::Row(database, table) => ("row", database, table),
            _ => return Vec::new(),
        };
        let (database, table) = (css::class(database), css::class(table));
        vec![
            format!("_table-{database}-{table}.html"),
            format!("_table-{page}-{database}-{table}.html"),
        ]
    }
}

fn of_table(page: &str, database: &str, table: &str) -> Vec<String> {
    let (database, table) = (css::class(database), css::class(table));
    vec![
        format!("{page}-{database}-{table}.html"),
        format!("{page}.html"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_special_template_goes_before_the_general() {
        for (subject, names) in [
            (Subject::Index, "index.html"),
            (
                Subject::Database("data"),
                "database-data.html database.html",
            ),
            (
                Subject::Table("extra database", "a.b/c"),
                "table-extra-database-a23600-abc-d8c60f.html table.html",
            ),
            (Subject::Row("d", "t"), "row-d-t.html row.html"),
            (Subject::Query("d", None), "query-d.html query.html"),
            (
                Subject::Query("d", Some("q 1")),
                "query-d-q-1-bb887b.html query-d.html query.html",
            ),
            (Subject::Error(404), "404.html error.html"),
        ] {
            assert_eq!(subject.names().join(" "), names);
        }
        assert_eq!(
            Subject::Row("d", "t").rows_names(),
            ["_table-d-t.html", "_table-row-d-t.html"]
        );
        assert!(Subject::Index.rows_names().is_empty());
    }
}
