//! Pages: whoever follows `next_url` to the end meets every row once, in order.

use proptest::prelude::*;
use serde_json::Value;

use crate::random::{self, Cell};
use crate::server::{Server, Site, column_of, percent, query, tilde};

/// Follows `next_url` from `path` to the end. The pages' rows, page by page.
fn pages(server: &Server, path: &str) -> Vec<Vec<Value>> {
    let mut pages = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(url) = next {
        assert!(pages.len() < 80, "{path} never ends: {url}");
        let page = server.json(&url);
        next = page["next_url"].as_str().map(str::to_owned);
        assert_eq!(page["next"].is_null(), next.is_none(), "{url}");
        pages.push(page["rows"].as_array().unwrap().clone());
    }
    pages
}

/// One column of all rows, from the first page to the last.
fn walk(server: &Server, path: &str, column: &str) -> Vec<Value> {
    let pages = pages(server, path);
    pages
        .iter()
        .flatten()
        .map(|row| row[column].clone())
        .collect()
}

/// The first column of a query, asked of SQLite.
fn ask(server: &Server, file: &str, sql: &str) -> Vec<Value> {
    let connection = server.open(file);
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    rows.map(|n| Value::from(n.unwrap())).collect()
}

/// Twenty payments with NULLs and many ties.
const PAYMENTS: &str = "create table payer(id integer primary key, name text);
    insert into payer values (1, 'ann'), (2, 'bob');
    create table payment(id integer primary key, payer integer references payer(id), day text, cents integer, rate real);
    with recursive c(x) as (select 1 union all select x + 1 from c where x < 20)
    insert into payment select x, 1 + x % 2, case x % 3 when 0 then null when 1 then 'mon' else char(96 + x) end,
        case when x % 4 = 0 then null else x * 7 % 5 end, case when x % 5 = 0 then null else x / 3.0 end from c;
    create view paid as select id, day, cents from payment where cents is not null order by id;";

#[test]
fn rows_with_nulls_and_ties_come_once_each_in_the_order_of_sqlite() {
    let server = Site::of(PAYMENTS).start();
    for column in ["id", "payer", "day", "cents", "rate"] {
        for (argument, direction) in [("_sort", ""), ("_sort_desc", " desc")] {
            let sql = format!("select id from payment order by {column}{direction}, id");
            let expected = ask(&server, "data.db", &sql);
            assert_eq!(expected.len(), 20);
            for more in [
                "_size=1",
                "_size=3",
                "_size=19",
                "_size=20",
                "_size=2&_labels=on",
                "_size=3&_col=id",
            ] {
                let path = format!("/data/payment.json?{argument}={column}&{more}");
                assert_eq!(walk(&server, &path, "id"), expected, "{path}");
            }
        }
    }
}

#[test]
fn a_column_that_is_left_out_can_be_sorted_by() {
    let server = Site::of(PAYMENTS).start();
    let expected = ask(
        &server,
        "data.db",
        "select id from payment order by day desc, id",
    );
    let path = "/data/payment.json?_sort_desc=day&_nocol=day&_size=3";
    assert_eq!(walk(&server, path, "id"), expected);
}

#[test]
fn filters_stay_on_all_pages() {
    let server = Site::of(PAYMENTS).start();
    let sql = "select id from payment where cents >= 1 and day like '%o%' order by cents, id";
    let path = "/data/payment.json?cents__gte=1&day__contains=o&_sort=cents&_size=2&_extra=count";
    let expected = ask(&server, "data.db", sql);
    assert_eq!(expected.len(), 4);
    assert_eq!(walk(&server, path, "id"), expected);
    let url = server.json(path)["next_url"].as_str().unwrap().to_owned();
    for part in [
        "cents__gte=1",
        "day__contains=o",
        "_sort=cents",
        "_size=2",
        "_next=",
    ] {
        assert_eq!(url.matches(part).count(), 1, "{part} in {url}");
    }
    assert_eq!(server.json(&url)["count"], server.json(path)["count"]);
}

#[test]
fn a_blank_filter_stays_too() {
    let server = Site::of(
        "create table b(id integer primary key, v text);
         insert into b values (1, ''), (2, 'x'), (3, ''), (4, ''), (5, 'y');",
    )
    .start();
    assert_eq!(walk(&server, "/data/b.json?v=&_size=1", "id"), [1, 3, 4]);
}

#[test]
fn the_pages_of_a_view_hold_each_of_its_rows() {
    let server = Site::of(PAYMENTS).start();
    let expected = ask(&server, "data.db", "select id from paid");
    for size in [1, 4, 15, 16] {
        let path = format!("/data/paid.json?_size={size}");
        assert_eq!(walk(&server, &path, "id"), expected);
    }
    let sorted = ask(
        &server,
        "data.db",
        "select cents from paid order by cents desc",
    );
    assert_eq!(
        walk(&server, "/data/paid.json?_sort_desc=cents&_size=4", "cents"),
        sorted
    );
    server.get("/data/paid.json?_next=x").error(400);
}

#[test]
fn the_last_page_is_full_or_not_but_never_empty() {
    let server = Site::of(PAYMENTS).start();
    let sizes = |size: usize| {
        let pages = pages(&server, &format!("/data/payment.json?_size={size}"));
        pages.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(sizes(10), [10, 10]);
    assert_eq!(sizes(8), [8, 8, 4]);
    assert_eq!(sizes(19), [19, 1]);
    assert_eq!(sizes(20), [20]);
}

#[test]
fn neighbours_beyond_the_precision_of_floats_are_told_apart() {
    let server = Site::of(
        "create table n(id integer primary key);
         insert into n values (1), (9), (10), (100), (9007199254740992), (9007199254740993), (9007199254740994), (9223372036854775807);
         create table m(k integer, id integer primary key); insert into m select -id, id from n;",
    )
    .start();
    let expected = ask(&server, "data.db", "select id from n order by id");
    assert_eq!(walk(&server, "/data/n.json?_size=1", "id"), expected);
    let expected = ask(&server, "data.db", "select id from m order by k");
    assert_eq!(
        walk(&server, "/data/m.json?_size=1&_sort=k", "id"),
        expected
    );
}

#[test]
fn keys_with_all_that_tokens_are_made_of_come_once_each() {
    let server = Site::of("create table k(a text, b text, n integer, primary key(a, b))").start();
    let connection = server.open("data.db");
    let odd = [
        "", ",", "a,b", "~", "~2C", "$null", "$i.1", "$", "None", "null", "%2C", "+", " ", "/",
        "é", "\u{0}", "1",
    ];
    for (n, a) in odd.iter().enumerate() {
        for (m, b) in odd.iter().enumerate() {
            let number = i64::try_from(n * odd.len() + m).unwrap();
            connection
                .execute("insert into k values (?, ?, ?)", (a, b, number))
                .unwrap();
        }
    }
    let expected = ask(&server, "data.db", "select n from k order by a, b");
    assert_eq!(walk(&server, "/data/k.json?_size=7", "n"), expected);
    let expected = ask(&server, "data.db", "select n from k order by b desc, a, b");
    assert_eq!(
        walk(&server, "/data/k.json?_size=7&_sort_desc=b", "n"),
        expected
    );
}

#[test]
fn a_page_may_end_with_a_key_that_is_the_empty_text() {
    let server = Site::of(
        "create table k(a text primary key, n integer); insert into k values ('', 1), ('x', 2), ('y', 3);",
    )
    .start();
    assert_eq!(walk(&server, "/data/k.json?_size=1", "n"), [1, 2, 3]);
}

#[test]
fn rows_whose_key_is_null_come_once_each_too() {
    // SQLite lets NULL into a primary key, as often as one likes.
    let server = Site::of(
        "create table k(a text primary key, n integer);
         insert into k values (null, 1), (null, 2), ('x', 3), (null, 4), ('y', 5);",
    )
    .start();
    assert_eq!(
        server.json("/data/k.json")["rows"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    let mut found = walk(&server, "/data/k.json?_size=1", "n");
    found.sort_by_key(Value::as_i64);
    assert_eq!(found, [1, 2, 3, 4, 5]);
}

#[test]
fn rows_without_a_key_come_after_those_with_one_too() {
    // Sorted by the key downwards the NULLs come last, when earlier pages had full keys.
    let server = Site::of(
        "create table k(a primary key, n integer);
         insert into k values (null, 1), (null, 2), ('x', 3), (1, 4), (null, 5), ('y', 6), (2, 7);",
    )
    .start();
    for sort in ["_sort_desc=a", "_sort=a", "_sort=n"] {
        for size in 1..=4 {
            let path = format!("/data/k.json?_size={size}&{sort}");
            let mut found = walk(&server, &path, "n");
            found.sort_by_key(Value::as_i64);
            assert_eq!(found, [1, 2, 3, 4, 5, 6, 7], "{path}");
        }
    }
}

#[test]
fn a_table_whose_rowid_is_hidden_by_a_column_comes_to_its_end() {
    let server = Site::of(
        "create table r(rowid text, n integer); insert into r values ('b', 1), ('a', 2), ('b', 3);
         create table s(rowid text, _rowid_ text, n integer); insert into s values ('b', 'x', 1), ('a', 'y', 2), ('b', 'z', 3);
         create table a(rowid, _rowid_, oid, n integer); insert into a values (1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 1, 3);",
    )
    .start();
    for table in ["r", "s", "a"] {
        let path = format!("/data/{table}.json?_size=1");
        assert_eq!(walk(&server, &path, "n"), [1, 2, 3], "{table}");
    }
    assert_eq!(
        walk(&server, "/data/r.json?_size=1&_sort=rowid", "n"),
        [2, 1, 3]
    );
}

#[test]
fn a_row_that_goes_or_comes_while_someone_reads_disturbs_no_other() {
    let server = Site::of(PAYMENTS).start();
    let first = server.json("/data/payment.json?_size=5");
    assert_eq!(column_of(&first, "id"), [1, 2, 3, 4, 5]);
    server
        .open("data.db")
        .execute_batch(
            "delete from payment where id in (1, 5); insert into payment(id) values (-1)",
        )
        .unwrap();
    let next = first["next_url"].as_str().unwrap();
    assert_eq!(server.ids(next), [6, 7, 8, 9, 10]);
}

#[test]
fn next_url_has_the_host_that_the_client_asked_for() {
    let server = Site::of(PAYMENTS).start();
    let answer = server
        .get_with(
            "/data/payment.json?_size=5",
            &[("host", "data.example.org")],
        )
        .ok();
    assert_eq!(
        answer.json()["next_url"],
        "http://data.example.org/data/payment.json?_size=5&_next=5"
    );
}

#[test]
fn sorting_by_what_is_not_there_or_both_ways_is_refused() {
    let server = Site::of(PAYMENTS).start();
    let error = server.get("/data/payment.json?_sort=leaf").error(400);
    assert!(error.contains("leaf"), "{error}");
    server.get("/data/payment.json?_sort_desc=leaf").error(400);
    server
        .get("/data/payment.json?_sort=id&_sort_desc=day")
        .error(400);
}

#[test]
fn a_token_that_no_page_gave_is_refused() {
    let server = Site::of(PAYMENTS).start();
    for arguments in [
        "_next=1,2,3",
        "_sort=day&_next=1,2,3",
        "_sort=day&_next=%24nonsense,5",
    ] {
        server
            .get(&format!("/data/payment.json?{arguments}"))
            .error(400);
    }
    assert_eq!(server.ids("/data/payment.json?_next=18"), [19, 20]);
}

#[test]
fn a_token_that_lacks_parts_begins_at_the_first_row_with_those_it_has() {
    let sql = "create table t(a text, b text, id integer, primary key (a, b, id));
        insert into t values ('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 3), ('b', 'x', 4), ('b', 'y', 5);
        create table s(id integer primary key, v text);
        insert into s values (1, 'm'), (2, null), (3, 'k'), (4, 'm'), (5, 'z');";
    let server = Site::of(sql).start();
    for (path, ids) in [
        ("/data/t.json?_next=a,y", vec![2, 3, 4, 5]),
        ("/data/t.json?_next=b", vec![3, 4, 5]),
        ("/data/t.json?_next=b,x", vec![3, 4, 5]),
        ("/data/t.json?_next=b,x,3", vec![4, 5]),
        ("/data/s.json?_sort=v&_next=m", vec![1, 4, 5]),
        ("/data/s.json?_sort=v&_next=l", vec![1, 4, 5]),
        ("/data/s.json?_sort=v&_next=$null", vec![2, 3, 1, 4, 5]),
        ("/data/s.json?_sort_desc=v&_next=m", vec![1, 4, 3, 2]),
        ("/data/s.json?_sort_desc=v&_next=$null", vec![2]),
    ] {
        assert_eq!(server.ids(path), ids, "{path}");
    }
}

#[test]
fn names_with_anything_in_them_page_as_well() {
    let name = "odd ~%/?#&=+,\"name\"";
    let quoted = name.replace('"', "\"\"");
    let server = Site::of(&format!(
        "create table \"{quoted}\"(\"{quoted}\" text primary key, \"s,{quoted}\" text);
         insert into \"{quoted}\" values ('a', 'x'), ('b', null), ('c', 'x'), ('d', 'w');"
    ))
    .start();
    let sort = percent(&format!("s,{name}"));
    let path = format!("/data/{}.json?_size=1&_sort={sort}", tilde(name));
    assert_eq!(walk(&server, &path, name), ["b", "d", "a", "c"]);
}

/// How the rows of a random table are told apart: columns and options of the table, and the order of its key.
const KEYS: [(&str, &str, &str); 11] = [
    ("k integer primary key", "", "k"),
    ("k", "", "rowid"),
    ("k text primary key not null", "", "k"),
    ("k text collate nocase primary key", "without rowid", "k"),
    ("k primary key", "without rowid", "k"),
    ("k blob primary key not null", "", "k"),
    ("k real primary key", "without rowid", "k"),
    ("k numeric primary key", "without rowid", "k"),
    ("k, l, primary key (k, l)", "without rowid", "k, l"),
    (
        "k text, l integer, primary key (l, k)",
        "without rowid",
        "l, k",
    ),
    (
        "k any, l any, primary key (k, l)",
        "strict, without rowid",
        "k, l",
    ),
];

/// Types of the column that is sorted by.
const TYPES: [&str; 8] = [
    "",
    "text",
    "integer",
    "real",
    "numeric",
    "blob",
    "text collate nocase",
    "text collate rtrim",
];

#[test]
fn pages_of_random_tables_hold_each_row_once_in_the_order_of_sqlite() {
    let server = random::server();
    proptest!(random::cases(40), |(
        key in 0..KEYS.len(),
        kind in 0..TYPES.len(),
        rows in prop::collection::vec((random::value(), random::value(), random::cell()), 0..25),
        size in 1..8usize,
        by_key in prop::bool::weighted(0.2),
        without_sort_column in any::<bool>(),
    )| {
        let (columns, options, order) = KEYS[key];
        let (head, tail) = columns.split_once(", primary").map_or((columns, String::new()), |(head, tail)| (head, format!(", primary{tail}")));
        let compound = tail.contains("key");
        let table = random::table(
            &server,
            &format!("{head}, s {}, n integer{tail}|{}", if options.contains("strict") { "any" } else { TYPES[kind] }, options),
            rows.into_iter().enumerate().map(|(n, (k, l, s))| {
                let n = Cell::Integer(i64::try_from(n).unwrap());
                if compound { vec![k, l, s, n] } else { vec![k, s, n] }
            }),
        );
        for direction in ["_sort", "_sort_desc"] {
            let (sort, argument) = if by_key { (String::new(), String::new()) } else {
                let desc = if direction == "_sort" { "" } else { " desc" };
                (format!("s{desc}, "), format!("&{}", query(&[(direction, "s")])))
            };
            let sql = format!("select n from {table} order by {sort}{order}");
            let expected = ask(&server, "random.db", &sql);
            let columns = if without_sort_column { "&_col=n" } else { "" };
            let path = format!("/random/{table}.json?_size={size}{argument}{columns}");
            let pages = pages(&server, &path);
            for page in &pages[..pages.len() - 1] {
                prop_assert_eq!(page.len(), size);
            }
            prop_assert!(pages.len() == 1 || !pages[pages.len() - 1].is_empty());
            let found: Vec<Value> = pages.iter().flatten().map(|row| row["n"].clone()).collect();
            prop_assert_eq!(found, expected, "{}", path);
        }
    });
}

#[test]
fn a_page_of_very_long_rows_ends_early_and_the_next_goes_on() {
    let long = "create table long(id integer primary key, v blob);
        insert into long select value, zeroblob(20 << 20) from json_each('[1, 2, 3, 4, 5]');
        create view seen as select * from long;";
    let server = Site::of(long).start();
    for table in ["long", "seen"] {
        let mut path = format!("/data/{table}?_size=100&_nosuggest=1");
        let mut rows = Vec::new();
        loop {
            let answer = server.get(&path).ok();
            rows.push(answer.text().matches("20,971,520&nbsp;bytes").count());
            let mut links = answer.headers.iter().map(|(_, value)| value);
            let Some(next) = links.find(|value| value.ends_with("rel=\"next\"")) else {
                break;
            };
            let token = next.split("_next=").nth(1).unwrap();
            let token = token.split(['>', '&']).next().unwrap();
            path = format!("/data/{table}?_size=100&_nosuggest=1&_next={token}");
            assert!(rows.len() < 6);
        }
        assert_eq!(rows, [2, 2, 1], "{table}");
    }
}
