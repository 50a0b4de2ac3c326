//! The whole of the introspection, on databases made for it.

use super::*;

fn database(sql: &str) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("pragma foreign_keys = off").unwrap();
    conn.execute_batch(sql).unwrap();
    conn
}

fn schema(sql: &str) -> Schema {
    Schema::load(&database(sql)).unwrap()
}

fn table(sql: &str, name: &str) -> Arc<Table> {
    Arc::clone(schema(sql).table(name).unwrap())
}

fn hidden(schema: &Schema) -> Vec<&str> {
    schema
        .tables()
        .filter(|table| table.hidden)
        .map(|table| table.name.as_str())
        .collect()
}

fn label(sql: &str) -> Option<String> {
    table(sql, "t").label_column.clone()
}

#[test]
fn tables_and_views_come_in_the_order_of_creation() {
    let schema = schema(
        "create table z (a); create view v2 as select 1; create table a (b); create view v1 as select * from v2;",
    );
    let names = |tables: Vec<&Arc<Table>>| -> Vec<String> {
        tables.iter().map(|table| table.name.clone()).collect()
    };
    assert_eq!(names(schema.tables().collect()), ["z", "a"]);
    assert_eq!(names(schema.views().collect()), ["v2", "v1"]);
    assert_eq!(schema.table("v1").unwrap().columns[0].name, "1");
}

#[test]
fn names_are_found_exactly_or_as_sqlite_finds_them() {
    let schema = schema("create table Größe (a)");
    assert!(schema.table("größe").is_none());
    assert_eq!(schema.find("größe").unwrap().name, "Größe");
    assert!(
        schema.find("GRÖSSE").is_none() && schema.find("GRÖßE").is_none(),
        "SQLite folds ASCII letters alone"
    );
}

#[test]
fn an_empty_database_has_an_empty_schema() {
    let schema = schema("");
    assert_eq!(schema.tables().count() + schema.views().count(), 0);
}

#[test]
fn columns_carry_what_was_declared() {
    let table = table(
        "create table t (a text collate nocase not null default 'x', b int default (1+1), c, primary key (c, a))",
        "t",
    );
    let [a, b, c] = table.columns.as_slice() else {
        panic!("three columns")
    };
    assert_eq!(
        (&*a.declared_type, a.affinity, &*a.collation),
        ("TEXT", Affinity::Text, "NOCASE")
    );
    assert!(a.not_null && a.collation_known);
    assert_eq!(a.default.as_deref(), Some("'x'"));
    assert_eq!(b.default.as_deref(), Some("1+1"));
    assert_eq!((b.pk_position, c.pk_position, a.pk_position), (0, 1, 2));
    assert_eq!((&*c.declared_type, c.affinity), ("", Affinity::Blob));
    assert_eq!(table.primary_keys, ["c", "a"]);
    assert_eq!(table.find_column("A"), Some(a));
    assert_eq!(table.column("A"), None);
}

#[test]
fn the_collation_of_a_views_column_is_unknown() {
    let view = table(
        "create table t (a text collate nocase); create view v as select a from t",
        "v",
    );
    assert_eq!(view.kind, Kind::View);
    assert_eq!(view.columns[0].collation, "BINARY");
    assert!(!view.columns[0].collation_known);
}

#[test]
fn any_is_no_affinity_in_a_strict_table() {
    let strict = table("create table t (a any, b int) strict", "t");
    assert_eq!(strict.columns[0].affinity, Affinity::Blob);
    assert_eq!(strict.columns[0].sqlite_type(), "NUMERIC");
    let lax = table("create table t (a any)", "t");
    assert_eq!(lax.columns[0].affinity, Affinity::Numeric);
}

#[test]
fn tables_without_rowid_and_with_a_column_of_that_name_are_told() {
    let schema = schema(
        "create table w (k text primary key) without rowid;
         create table r (RowID text);
         create table plain (a)",
    );
    assert!(schema.table("w").unwrap().without_rowid);
    assert!(!schema.table("plain").unwrap().without_rowid);
    assert!(schema.table("r").unwrap().has_rowid_column);
    assert!(!schema.table("plain").unwrap().has_rowid_column);
}

#[test]
fn generated_columns_are_listed_but_label_nothing() {
    let table = table(
        "create table t (id integer primary key, w int,
         name text generated always as (w || 'x') virtual, title text as (w) stored)",
        "t",
    );
    let hidden: Vec<u8> = table.columns.iter().map(|column| column.hidden).collect();
    assert_eq!(hidden, [0, 0, 2, 3]);
    assert_eq!(table.label_column.as_deref(), Some("w"));
}

#[test]
fn names_of_any_kind_are_read() {
    for name in [
        "it's",
        "say \"hi\"",
        "a.b/c",
        "100%",
        "back\\slash",
        "ünï 🎉",
        "select",
        "[x]",
        "",
        " ",
        "pragma_table_list",
    ] {
        let quoted = crate::text::identifier::quote(name);
        let schema = schema(&format!(
            "create table {quoted} ({quoted} integer primary key, other references {quoted});
             create unique index i on {quoted} (other);
             create view v as select * from {quoted}"
        ));
        let table = schema.table(name).unwrap();
        assert_eq!(table.broken, None, "{name}");
        assert_eq!(table.columns[0].name, name);
        assert!(table.columns[0].collation_known);
        assert_eq!(table.label_column.as_deref(), Some("other"));
        assert_eq!(table.incoming.len(), 1);
    }
}

#[test]
fn what_cannot_be_opened_is_broken_and_the_rest_is_not() {
    let conn = database(
        "create table t (a, b);
         create view missing_column as select b from t;
         create view missing_table as select * from t2;
         create view on_view as select * from missing_column;
         create table t2 (x);
         alter table t2 rename to t3;
         create table last (name)",
    );
    conn.execute_batch(
        "pragma writable_schema = on;
         update sqlite_schema set sql = 'CREATE VIEW missing_table AS SELECT * FROM nowhere' where name = 'missing_table';
         update sqlite_schema set sql = 'CREATE VIEW missing_column AS SELECT z FROM t' where name = 'missing_column';
         insert into sqlite_schema values ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING unknown(a)');
         pragma schema_version = 100;
         pragma writable_schema = reset",
    )
    .unwrap();
    let schema = Schema::load(&conn).unwrap();
    for (name, message) in [
        ("missing_column", "no such column: z"),
        ("missing_table", "no such table: main.nowhere"),
        ("on_view", "no such column: z"),
        ("odd", "no such module: unknown"),
    ] {
        let table = schema.table(name).unwrap();
        assert_eq!(table.broken.as_deref(), Some(message), "{name}");
        assert!(table.columns.is_empty());
        assert!(table.definition.is_some());
    }
    assert_eq!(schema.table("odd").unwrap().kind, Kind::Virtual);
    assert_eq!(schema.table("last").unwrap().broken, None);
    assert_eq!(
        schema.table("last").unwrap().label_column.as_deref(),
        Some("name")
    );
}

#[test]
fn a_moment_that_fails_is_an_error_and_no_broken_table() {
    let conn = database("create table t (a)");
    conn.get_interrupt_handle().interrupt();
    conn.progress_handler(1, Some(|| true)).unwrap();
    assert!(Schema::load(&conn).is_err());
}

#[test]
fn loading_works_in_an_open_transaction_and_leaves_none_behind() {
    let conn = database("create table t (a)");
    Schema::load(&conn).unwrap();
    assert!(conn.is_autocommit());
    conn.execute_batch("begin; create table t2 (a)").unwrap();
    assert_eq!(Schema::load(&conn).unwrap().tables().count(), 2);
    assert!(!conn.is_autocommit());
}

#[test]
fn keys_are_resolved_to_the_spelling_of_what_exists() {
    let schema = schema(
        "create table Cat (Id integer primary key, name text);
         create table item (
           a int references cat, b int references CAT(ID), c int references nowhere(x), d int references nowhere,
           e int references cat(nope), f int references cat(rowid), self int references item(a),
           x int, y int, foreign key (x, y) references two (p, q))",
    );
    let keys: Vec<(&str, &str, &str, bool)> = schema
        .table("item")
        .unwrap()
        .foreign_keys
        .iter()
        .map(|key| {
            (
                &*key.column,
                &*key.other_table,
                &*key.other_column,
                key.other_exists,
            )
        })
        .collect();
    assert_eq!(
        keys,
        [
            ("self", "item", "a", true),
            ("f", "Cat", "rowid", true),
            ("e", "Cat", "nope", false),
            ("d", "nowhere", "", false),
            ("c", "nowhere", "x", false),
            ("b", "Cat", "Id", true),
            ("a", "Cat", "Id", true),
        ]
    );
    let incoming: Vec<(&str, &str)> = schema
        .table("Cat")
        .unwrap()
        .incoming
        .iter()
        .map(|key| (&*key.column, &*key.other_column))
        .collect();
    assert_eq!(incoming, [("Id", "a"), ("Id", "b"), ("rowid", "f")]);
}

#[test]
fn a_key_into_a_compound_key_or_a_view_leads_nowhere() {
    let schema = schema(
        "create table two (p, q, primary key (p, q)); create view v as select 1 as id;
         create table item (a references two, b references v(id))",
    );
    for key in &schema.table("item").unwrap().foreign_keys {
        assert!(!key.other_exists);
    }
    assert!(schema.table("v").unwrap().incoming.is_empty());
    assert!(schema.table("two").unwrap().incoming.is_empty());
}

#[test]
fn a_table_is_searched_by_the_index_that_names_it() {
    for content in ["\"docs\"", "[docs]", "\"DOCS\""] {
        for module in ["fts4", "fts5"] {
            let schema = schema(&format!(
                "create table docs (id integer primary key, a text); create table other (a);
                 create virtual table docs_fts using {module}(a, content={content})"
            ));
            for (name, expected) in [
                ("docs", Some("docs_fts")),
                ("docs_fts", Some("docs_fts")),
                ("other", None),
            ] {
                assert_eq!(
                    schema.table(name).unwrap().fts_table.as_deref(),
                    expected,
                    "{content}"
                );
            }
        }
    }
}

#[test]
fn content_in_other_quotes_is_left_to_the_configuration_as_in_datasette() {
    for content in ["'docs'", "docs", "`docs`"] {
        let schema = schema(&format!(
            "create table docs (id integer primary key, a text);
             create virtual table docs_fts using fts5(a, content={content})"
        ));
        assert_eq!(schema.table("docs").unwrap().fts_table, None, "{content}");
    }
}

#[test]
fn odd_names_are_searched_too() {
    for name in ["it's", "100%", "a_b", "back\\slash", "ünï"] {
        let schema = schema(&format!(
            "create table \"{name}\" (a text); create table aXb (a);
             create virtual table f using fts5(a, content=\"{name}\")"
        ));
        assert_eq!(
            schema.table(name).unwrap().fts_table.as_deref(),
            Some("f"),
            "{name}"
        );
        assert_eq!(schema.table("aXb").unwrap().fts_table, None);
    }
}

#[test]
fn a_vocabulary_is_not_searched() {
    let table = table(
        "create virtual table f using fts5(a); create virtual table v using fts5vocab(f, row)",
        "v",
    );
    assert_eq!((table.kind, &table.fts_table), (Kind::Virtual, &None));
}

#[test]
fn the_workings_of_other_tables_are_hidden() {
    let schema = schema(
        "create table docs (id integer primary key, name text unique); create table _private (a); create table a_b (c);
         create table a_data (c);
         create virtual table docs_fts using fts5(name, content='docs', content_rowid='id');
         create virtual table own using fts5(a);
         create virtual table old using fts4(a);
         create virtual table area using rtree(id, a, b);
         create table seq (id integer primary key autoincrement);
         insert into docs values (1, 'x');
         analyze;
         create view _view as select 1",
    );
    assert_eq!(
        hidden(&schema),
        [
            "_private",
            "docs_fts",
            "docs_fts_data",
            "docs_fts_idx",
            "docs_fts_docsize",
            "docs_fts_config",
            "own_data",
            "own_idx",
            "own_content",
            "own_docsize",
            "own_config",
            "old_content",
            "old_segments",
            "old_segdir",
            "old_docsize",
            "old_stat",
            "area_rowid",
            "area_node",
            "area_parent",
            "sqlite_stat1",
            "sqlite_stat4",
        ]
    );
    assert!(!schema.table("_view").unwrap().hidden);
    assert!(!schema.table("sqlite_sequence").unwrap().hidden);
}

#[test]
fn a_spatial_database_hides_its_tables() {
    let schema = schema(
        "create table geometry_columns (a); create table spatial_ref_sys (a); create table KNN (a);
         create table IDX_places_geom (a); create table index_of (a); create table idx (a);
         create table seq (id integer primary key autoincrement)",
    );
    assert_eq!(
        hidden(&schema),
        [
            "geometry_columns",
            "spatial_ref_sys",
            "KNN",
            "IDX_places_geom",
            "sqlite_sequence"
        ]
    );
}

#[test]
fn the_label_is_the_only_unique_text() {
    assert_eq!(
        label("create table t (id integer primary key, code text unique, name text)").as_deref(),
        Some("code")
    );
    assert_eq!(
        label("create table t (a text unique, b text unique, name text)").as_deref(),
        Some("name")
    );
    assert_eq!(
        label("create table t (a int unique, b, c unique, d)").as_deref(),
        Some("c")
    );
    assert_eq!(
        label("create table t (k text primary key, b) without rowid").as_deref(),
        Some("k")
    );
    assert_eq!(
        label(
            "create table t (a text, b text, c); create unique index i on t (a, b); create unique index j on t (lower(a))"
        ),
        None
    );
}

#[test]
fn the_label_is_a_name_or_the_other_of_two_columns() {
    assert_eq!(
        label("create table t (a, TITLE text, name text)").as_deref(),
        Some("TITLE")
    );
    assert_eq!(
        label("create table t (id integer primary key, v)").as_deref(),
        Some("v")
    );
    assert_eq!(label("create table t (v, pk)").as_deref(), Some("v"));
    assert_eq!(label("create table t (id, pk)"), None);
    assert_eq!(label("create table t (ID, v)"), None);
    assert_eq!(label("create table t (id, a, b)"), None);
    assert_eq!(label("create view t as select 1 as id, 2 as name"), None);
}

#[test]
fn a_definition_has_the_indexes_that_were_made_by_hand() {
    let schema = schema(
        "create table t (a text unique, b); create index i on t (b); create index j on T (a);
         create view v as select 1; create trigger tr after insert on t begin select 1; end",
    );
    assert_eq!(
        schema.table("t").unwrap().definition.as_deref(),
        Some(
            "CREATE TABLE t (a text unique, b);\nCREATE INDEX i on t (b);\nCREATE INDEX j on T (a);"
        )
    );
    assert_eq!(
        schema.table("v").unwrap().definition.as_deref(),
        Some("CREATE VIEW v as select 1;")
    );
}

#[test]
fn hidden_columns_of_virtual_tables_are_listed() {
    let table = table("create virtual table f using fts5(a)", "f");
    let columns: Vec<(&str, u8)> = table.columns.iter().map(|c| (&*c.name, c.hidden)).collect();
    assert_eq!(columns, [("a", 0), ("f", 1), ("rank", 1)]);
}
