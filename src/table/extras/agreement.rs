//! The quick ways and the plain ways agree: one scan with hash maps against
//! `group by`, one pass for all suggestions against a query for each column.

use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use rusqlite::Connection;

use super::facet_scan::FacetScan;
use super::facets::{can_tally, count_in_sql};
use super::suggest::suggest;
use super::{FacetKind, FacetRequest};
use crate::config::{Settings, TableConfig};
use crate::db::registry::test_database;
use crate::db::{Cancel, Limit, PageSnapshot, Value};
use crate::table::request::Format;
use crate::table::{Plan, TableRequest};
use crate::text::query::QueryString;

/// Between two row numbers: a hundred rows make several morsels.
const STEP: usize = 9_000;
/// The columns of the table, one for each affinity and collation.
const COLUMNS: [&str; 7] = ["any", "i", "r", "t", "nc", "rt", "day"];

/// A value as SQL, few enough that groups form.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        (-2_i64..4).prop_map(|i| i.to_string()),
        (-2_i64..4).prop_map(|i| format!("{i}.0")),
        (0_i64..3).prop_map(|i| format!("{i}.5")),
        Just("9007199254740993".to_owned()),
        Just("9e999".to_owned()),
        Just("-0.0".to_owned()),
        "[aAbB]{0,2} ?".prop_map(|text| format!("'{text}'")),
        (0_i64..3).prop_map(|i| format!("'{i}'")),
        Just("x'6162'".to_owned()),
        Just("x''".to_owned()),
        Just("cast(x'ff61' as text)".to_owned()),
        Just("cast(x'610062' as text)".to_owned()),
        Just("'a text of more than fifteen bytes'".to_owned()),
        Just("'2024-02-29'".to_owned()),
        Just("'2024-02-29 12:00'".to_owned()),
        Just("'2024-13-01'".to_owned()),
        Just(r#"'["a", "b", "a"]'"#.to_owned()),
        Just(r#"'["b"]'"#.to_owned()),
        Just("'[]'".to_owned()),
    ]
}

fn filter() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just(""),
        Just("&i__gt=0"),
        Just("&any__exact=1"),
        Just("&nc=a"),
        Just("&t__notnull=1"),
        Just("&i__in=1,2&r__lt=3"),
        Just("&i__gt=1000"),
    ]
}

fn table(rows: &[Vec<String>], more: &str) -> String {
    let mut sql = String::from(
        "create table t (id integer primary key, any, i integer, r real, t text,
         nc text collate nocase, rt text collate rtrim, day text);\n",
    );
    for (n, row) in rows.iter().enumerate() {
        let _ = writeln!(
            sql,
            "insert into t values ({}, {});",
            n * STEP,
            row.join(", ")
        );
    }
    sql + more
}

/// What a test asks of the table.
struct Case {
    _folder: tempfile::TempDir,
    database: Arc<crate::db::Database>,
    query: String,
}

impl Case {
    fn new(rows: &[Vec<String>], query: &str, more: &str) -> Self {
        let (folder, database) = test_database(&table(rows, more));
        Self {
            _folder: folder,
            database,
            query: query.to_owned(),
        }
    }

    fn with<T>(
        &self,
        table: &str,
        work: impl FnOnce(&PageSnapshot<'_>, &Plan, &TableRequest) -> T,
    ) -> T {
        let settings = Settings::default();
        let config = TableConfig::default();
        let query = QueryString::parse(&self.query);
        let request = TableRequest::parse(&query, Format::Html, &settings, &config).unwrap();
        let snapshot = PageSnapshot::begin(&self.database, &Cancel::default()).unwrap();
        let schema = snapshot.schema().unwrap();
        let table = schema.table(table).unwrap();
        let plan = Plan::new(&request, table, &schema, &config).unwrap();
        work(&snapshot, &plan, &request)
    }
}

fn scanned(
    snapshot: &PageSnapshot<'_>,
    plan: &Plan,
    facets: &[&FacetRequest],
    threads: usize,
) -> Vec<Vec<(Value, u64)>> {
    let cancel = Cancel::default();
    let scan = FacetScan::new(snapshot, plan, &cancel, facets, 0, threads).unwrap();
    snapshot.share();
    std::thread::scope(|scope| {
        for _ in 0..scan.jobs(threads) {
            scope.spawn(|| scan.run().unwrap());
        }
    });
    let values = scan.finish(100).into_iter();
    values.map(|facet| facet.unwrap().values).collect()
}

fn in_sql(snapshot: &PageSnapshot<'_>, plan: &Plan, facet: &FacetRequest) -> Vec<(Value, u64)> {
    if facet.kind == FacetKind::Column {
        let counted = count_in_sql(snapshot, plan, facet, 100, Limit::NONE);
        return counted.unwrap().unwrap().values;
    }
    let expression = match facet.kind {
        FacetKind::Date => format!(
            "select date({}) as v from (select * {})",
            facet.column, plan.from_sql
        ),
        _ => format!(
            "select distinct s.id, j.value as v from (select * {} {} json_valid({})) s, json_each(s.{}) j",
            plan.from_sql,
            if plan.filters.is_empty() {
                "where"
            } else {
                "and"
            },
            facet.column,
            facet.column
        ),
    };
    let sql = format!(
        "select v, count(*) from ({expression}) where v is not null group by 1 order by 2 desc, 1"
    );
    let rows = |c: &Connection| {
        let mut statement = c.prepare(&sql)?;
        crate::table::rows::bind(&mut statement, &plan.from_params)?;
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push((
                Value::from(row.get_ref(0)?),
                row.get::<_, i64>(1)?.unsigned_abs(),
            ));
        }
        Ok(found)
    };
    snapshot.read(Limit::NONE, rows).unwrap()
}

/// A group of 1 and 1.0 is shown as either; which of them SQL takes is its own affair.
fn grouped(values: &[(Value, u64)]) -> Vec<(crate::db::value::Key, u64)> {
    values.iter().map(|(value, n)| (value.key(), *n)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn one_scan_counts_what_group_by_counts(
        rows in prop::collection::vec(prop::collection::vec(value(), 7), 0..60),
        filter in filter(),
        index in any::<bool>(),
    ) {
        let mut query = String::from("_facet_date=day&_facet_date=any&_facet_array=t&_facet_array=day");
        for column in COLUMNS {
            let _ = write!(query, "&_facet={column}");
        }
        query.push_str(filter);
        let more = if index { "create index by_i on t (i); create index by_any on t (any, t);" } else { "" };
        let case = Case::new(&rows, &query, more);
        case.with("t", |snapshot, plan, _| {
            let facets: Vec<_> = plan.facets.iter().filter(|facet| can_tally(plan, facet)).collect();
            // Not the two of other collations.
            assert_eq!(facets.len(), plan.facets.len() - 2);
            let alone = scanned(snapshot, plan, &facets, 1);
            let cut = scanned(snapshot, plan, &facets, 3);
            assert_eq!(alone, cut, "morsels make no difference");
            for (facet, values) in facets.iter().zip(alone) {
                assert_eq!(grouped(&values), grouped(&in_sql(snapshot, plan, facet)), "{facet:?}");
            }
        });
    }

    #[test]
    fn one_pass_suggests_what_a_query_for_each_column_suggests(
        rows in prop::collection::vec(prop::collection::vec(value(), 7), 0..60),
        filter in filter(),
        size in 1_usize..6,
    ) {
        let case = Case::new(&rows, &format!("_facet_size={size}{filter}"), "");
        case.with("t", |snapshot, plan, request| {
            let found = suggest(snapshot, plan, request, Limit::NONE).unwrap().unwrap();
            let names = |kind| -> Vec<&str> {
                let found = found.iter().filter(|s| s.kind == kind);
                found.map(|s| s.column.as_str()).collect()
            };
            let asked = |sql: &dyn Fn(&str) -> String| -> Vec<&str> {
                let all = plan.all_columns();
                let found = all.into_iter().filter(|column| {
                    let sql = sql(column);
                    snapshot.read(Limit::NONE, |c| {
                        let mut statement = c.prepare(&sql)?;
                        crate::table::rows::bind(&mut statement, &plan.from_params)?;
                        let mut rows = statement.raw_query();
                        rows.next()?.map_or(Ok(false), |row| row.get(0))
                    }).unwrap()
                });
                COLUMNS.iter().chain(&["id"]).copied().filter(|name| found.clone().any(|f| f == *name)).collect()
            };
            let sorted = |mut names: Vec<&str>| { names.sort_unstable(); names.into_iter().map(str::to_owned).collect::<Vec<_>>() };
            let from = format!("(select * {} limit 1000)", plan.from_sql);
            let columns = asked(&|c| format!(
                "select count(*) between 2 and {size} and count(*) < (select count(*) from {from}) and max(n) > 1
                 from (select {c}, count(*) as n from {from} where {c} is not null group by {c})"));
            assert_eq!(sorted(names(FacetKind::Column)), sorted(columns));
            let dates = asked(&|c| format!(
                "select count(*) > 0 from (select * from {from} limit 100)
                 where {c} glob '????-??-*' and typeof({c}) = 'text' and date({c}) is not null"));
            assert_eq!(sorted(names(FacetKind::Date)), sorted(dates));
            let arrays = asked(&|c| format!(
                "select count(*) > 0 and sum(typeof({c}) <> 'text' or not json_valid({c})
                        or json_type(case when json_valid({c}) then {c} end) is not 'array') = 0
                    and exists (select 1 from {from} where json_valid({c}) and json_array_length({c}) > 0)
                 from {from} where {c} is not null and {c} <> ''"));
            assert_eq!(sorted(names(FacetKind::Array)), sorted(arrays));
        });
    }
}

#[test]
fn a_blank_that_rtrim_holds_for_empty_does_not_spoil_arrays() {
    let more = "create table r(id integer primary key, a text collate rtrim, b text);
        insert into r values (1, ' ', ' '), (2, '[\"x\"]', '[\"x\"]');";
    let case = Case::new(&[], "", more);
    case.with("r", |snapshot, plan, request| {
        let found = suggest(snapshot, plan, request, Limit::NONE).unwrap();
        let found = found.unwrap().into_iter();
        let arrays = found.filter(|facet| facet.kind == FacetKind::Array);
        let names: Vec<_> = arrays.map(|facet| facet.column).collect();
        assert_eq!(names, ["a"]);
    });
}

#[test]
fn a_view_is_left_to_sql() {
    let case = Case::new(&[], "_facet=t", "create view v as select * from t;");
    case.with("v", |_, plan, _| assert!(!can_tally(plan, &plan.facets[0])));
}

#[test]
fn a_scan_without_time_for_all_rows_says_how_many_it_counted() {
    let more = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000)
                insert into t (id, i) select -x, x % 7 from c;";
    let case = Case::new(&[], "_facet=i&_facet=id", more);
    case.with("t", |snapshot, plan, _| {
        let facets: Vec<_> = plan.facets.iter().collect();
        let cancel = Cancel::default();
        let scan = FacetScan::new(snapshot, plan, &cancel, &facets, 1, 1).unwrap();
        scan.run().unwrap();
        let mut counted = scan.finish(10);
        assert!(counted.remove(1).is_none(), "no value came twice");
        let counted = counted.remove(0).expect("some rows");
        let sum: u64 = counted.values.iter().map(|(_, n)| n).sum();
        assert_eq!(counted.rows_scanned, Some(sum));
        assert!((1..300_000).contains(&sum), "{sum}");
        assert!(snapshot.has_gaps());
    });
}
