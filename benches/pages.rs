//! The parts of a table page, one by one, over 500,000 rows:
//! `cargo bench --bench pages`, or `… -- facet` for some of them.
//!
//! The database is the demo's, made on the first run and kept in the folder for temporary files.

#![expect(missing_docs, reason = "criterion's macro makes a public function")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value};
use turntable::auth::Asker;
use turntable::config::Config;
use turntable::db::{Cancel, Database, Limit, OpenOptions, PageSnapshot, Registry, Source};
use turntable::engine::{Engine, EngineOptions, ExtrasMode};
use turntable::http::Request;
use turntable::render::extras_json::{Sources, extras};
use turntable::render::links::Links;
use turntable::render::{cells, json};
use turntable::table::execute::{Asked, Executed, execute};
use turntable::table::extras::facet_scan::FacetScan;
use turntable::table::extras::{FacetRequest, count, facets, suggest};
use turntable::table::request::Format;
use turntable::table::{Plan, TablePage, TableRequest, Wanted};
use turntable::text::query::QueryString;

const ROWS: u64 = 500_000;

struct Bench {
    config: Config,
    database: Arc<Database>,
    engine: Engine,
}

impl Bench {
    fn new() -> Self {
        let options = EngineOptions {
            threads: 2,
            mode: ExtrasMode::Parallel,
            max_pages: 0,
            page_wait: Duration::from_secs(5),
        };
        let source = Source::File {
            path: database(),
            immutable: false,
        };
        let open = OpenOptions {
            connections: options.connections(),
            ..OpenOptions::default()
        };
        let registry = Registry::open(vec![source], &open).registry;
        let mut config = Config::new(Map::<String, Value>::new(), Map::new()).expect("a config");
        config.settings.facet_time_limit_ms = 10_000;
        Self {
            config,
            database: registry.databases().next().expect("one").clone(),
            engine: Engine::new(&options).expect("a pool"),
        }
    }

    fn request(&self, query: &str) -> TableRequest {
        let config = self.config.table(&self.database.name, "events");
        TableRequest::parse(
            &QueryString::parse(query),
            Format::Html,
            &self.config.settings,
            config,
        )
        .expect("a right query")
    }

    fn plan(&self, request: &TableRequest) -> Plan {
        let snapshot = PageSnapshot::begin(&self.database, &Cancel::default()).expect("a snapshot");
        let schema = snapshot.schema().expect("a schema");
        let table = schema.table("events").expect("the table");
        let config = self.config.table(&self.database.name, "events");
        Plan::new(request, table, &schema, config).expect("a plan")
    }

    fn page(&self, request: &TableRequest) -> TablePage {
        let wanted = Wanted::by(request, &self.config, Format::Html);
        self.engine
            .run(|page| {
                let asked = Asked {
                    config: &self.config,
                    database: &self.database,
                    table: "events",
                    request,
                    wanted,
                    seen: None,
                    asker: Asker::default(),
                    kept: None,
                };
                match execute(page, &asked)? {
                    Executed::Done(content) => Ok(content),
                    Executed::Unfinished(_) => unreachable!("nothing is shared"),
                }
            })
            .expect("a page")
    }
}

fn database() -> PathBuf {
    let folder = std::env::temp_dir().join("turntable-bench");
    let path = folder.join("big.db");
    if !path.exists() {
        std::fs::create_dir_all(&folder).expect("a folder");
        let options = bigdb::Options {
            rows: ROWS,
            ..bigdb::Options::default()
        };
        bigdb::generate(&path, &options, &mut |_| {}).expect("a database");
    }
    path
}

fn http(query: &str) -> Request {
    Request {
        method: "GET".into(),
        path: "/big/events".into(),
        query: QueryString::parse(query),
        scheme: "http",
        host: "localhost".into(),
        base_url: "/".into(),
        actor: None,
    }
}

fn sql_parts(c: &mut Criterion, bench: &Bench) {
    let snapshot = PageSnapshot::begin(&bench.database, &Cancel::default()).expect("a snapshot");
    let request = bench.request("_facet=state&_facet_date=created&_facet_array=tags");
    let plan = bench.plan(&request);
    c.bench_function("begin and end a snapshot", |b| {
        b.iter(|| PageSnapshot::begin(&bench.database, &Cancel::default()).is_ok());
    });
    c.bench_function("look at the version", |b| {
        b.iter(|| bench.database.version());
    });
    c.bench_function("plan", |b| b.iter(|| bench.plan(&request).sql.len()));
    c.bench_function("count, capped", |b| {
        b.iter(|| count::count(&snapshot, &plan, Limit::NONE).expect("a count"));
    });
    c.bench_function("suggestions", |b| {
        b.iter(|| suggest::suggest(&snapshot, &plan, &request, Limit::NONE).expect("some"));
    });
    for facet in &plan.facets {
        let name = format!("facet: {} of {}", facet.kind.name(), facet.column);
        c.bench_function(&name, |b| b.iter(|| scan(&snapshot, &plan, &[facet])));
    }
    for count in [1, 2, 4] {
        let columns = ["state", "status", "category", "venue"][..count].join("&_facet=");
        let request = bench.request(&format!("_facet={columns}"));
        let plan = bench.plan(&request);
        let facets: Vec<&FacetRequest> = plan.facets.iter().collect();
        let name = format!("facets in one scan: {count}");
        c.bench_function(&name, |b| b.iter(|| scan(&snapshot, &plan, &facets)));
        if count == 1 {
            c.bench_function("the same facet in SQL", |b| {
                let facet = facets[0];
                b.iter(|| facets::count_in_sql(&snapshot, &plan, facet, 30, Limit::NONE).is_ok());
            });
        }
    }
}

/// Counts facets in one scan on one thread.
fn scan(snapshot: &PageSnapshot<'_>, plan: &Plan, facets: &[&FacetRequest]) -> usize {
    let cancel = Cancel::default();
    let scan = FacetScan::new(snapshot, plan, &cancel, facets, 0, 1).expect("a scan");
    scan.run().expect("counts");
    scan.finish(30).len()
}

fn pages(c: &mut Criterion, bench: &Bench) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    c.bench_function("offload: the hand-over of an empty page", |b| {
        b.iter(|| runtime.block_on(bench.engine.offload(|_| Ok(()))).is_ok());
    });
    for (name, query) in [
        (
            "keyset page of 100 rows",
            "_nocount=1&_nofacet=1&_nosuggest=1&_next=250000",
        ),
        ("page of 100 rows with all extras", ""),
        ("page with two facets", "_facet=state&_facet=status"),
    ] {
        let request = bench.request(query);
        c.bench_function(name, |b| b.iter(|| bench.page(&request).rows.len()));
    }
}

fn rendering(c: &mut Criterion, bench: &Bench) {
    let request = bench.request("_facet=state");
    let shown = bench.page(&request);
    let http = http("_facet=state");
    let links = Links::new(&http, &bench.database.name, "events");
    let sources = Sources {
        config: &bench.config,
        database: &bench.database,
        http: &http,
        asker: Asker::default(),
        request: &request,
        page: &shown,
        links: &links,
    };
    let columns = turntable::render::display_columns::columns_for_display(&shown);
    let cell_context = cells::CellContext {
        table_path: &links.table,
        database_path: &links.database,
        truncate: 2048,
    };
    c.bench_function("render: cells of 100 rows as HTML", |b| {
        b.iter(|| cells::rows(&shown, &columns, &cell_context).len());
    });
    let statics = turntable::http::statics::Statics::built_in();
    let templates = turntable::http::templates::Templates::built_in(&bench.config, &statics)
        .expect("templates");
    c.bench_function("render: HTML page of 100 rows", |b| {
        b.iter(|| {
            let mut context = templates.context(&turntable::http::templates::Frame::default());
            turntable::render::table_html::fill(&mut context, &sources, "");
            templates
                .render("table.html", &context)
                .expect("a page")
                .len()
        });
    });
    c.bench_function("render: JSON of 100 rows with facets", |b| {
        b.iter(|| {
            let around = json::Surroundings {
                request: &request,
                next_url: None,
                extras: extras(&sources),
            };
            json::table(&shown, &around).expect("JSON").len()
        });
    });
}

fn all(c: &mut Criterion) {
    let bench = Bench::new();
    sql_parts(c, &bench);
    pages(c, &bench);
    rendering(c, &bench);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = all
}
criterion_main!(benches);
