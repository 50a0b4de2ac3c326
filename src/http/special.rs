//! What the server tells of itself: `/-/versions`, `/-/settings` and so on,
//! each as JSON and as a page that shows the JSON.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::app::App;
use super::etag;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::{Format, Special};
use super::templates::{Crumb, Frame, Subject};
use crate::auth::{Action, Actor, Asker, Resource};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::render::custom;
use crate::text::query;

/// The pages that say the same as long as the program runs.
pub struct Fixed(Vec<(Special, Written)>);

/// What a page says, and its JSON with the entity tag of that.
struct Written {
    value: Value,
    json: Bytes,
    tag: String,
}

impl Fixed {
    /// Writes them.
    pub fn new(config: &Config, versions: Value) -> Self {
        let pages = [
            (Special::Versions, versions),
            (Special::Settings, Value::Object(config.settings.as_json())),
            (Special::Config, config.redacted()),
            (Special::Plugins, json!([])),
            (Special::Actor, json!({"actor": null})),
            (Special::Actions, actions()),
        ];
        let written = pages.into_iter().map(|(page, value)| {
            let json = Bytes::from(with_ok(value.clone()).to_string());
            let tag = etag::of_content(&json);
            (page, Written { value, json, tag })
        });
        Self(written.collect())
    }

    fn get(&self, page: Special) -> Option<&Written> {
        let found = self.0.iter().find(|(fixed, _)| *fixed == page);
        found.map(|(_, written)| written)
    }
}

/// Answers one of these pages.
///
/// # Errors
/// 404 for a format other than JSON.
pub fn show(app: &App, request: &Request, page: Special, format: Format) -> Result<Response> {
    let fixed = match (page, &request.actor) {
        (Special::Actor, Some(_)) => None,
        // Its names are known to those who may see what they name.
        (Special::Config, _) if app.access.differs() => None,
        _ => app.fixed.get(page),
    };
    match (format, fixed) {
        (Format::Json, Some(written)) => {
            let response = Response::whole(200, JSON, written.json.clone());
            Ok(response.header("etag", written.tag.clone()))
        }
        (Format::Html, Some(written)) => as_page(app, request, page, &written.value),
        (Format::Json, None) => {
            let json = with_ok(value(app, request, page)?).to_string();
            Ok(Response::whole(200, JSON, json))
        }
        (Format::Html, None) => as_page(app, request, page, &value(app, request, page)?),
        (other, _) => Err(other.invalid()),
    }
}

/// An object begins with `"ok": true`; a list is as it is.
fn with_ok(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut whole = Map::new();
            whole.insert("ok".to_owned(), Value::Bool(true));
            whole.extend(map);
            Value::Object(whole)
        }
        other => other,
    }
}

/// What a page says now.
fn value(app: &App, request: &Request, page: Special) -> Result<Value> {
    Ok(match page {
        Special::Databases => databases(app, app.asker(request)),
        Special::Actor => json!({"actor": request.actor.as_deref().map(Actor::facts)}),
        Special::Threads => json!({
            "num_threads": app.engine.threads(),
            "engine": serde_json::to_value(app.engine.stats())
                .map_err(|error| Error::Internal(format!("/-/threads: {error}")))?,
            "settings": app.config.settings.own_as_json(),
        }),
        Special::Config => configured(app.config.redacted(), app.asker(request)),
        fixed => return Err(Error::Internal(format!("/-/{} is not fixed", fixed.name()))),
    })
}

/// The configuration without the databases, tables and queries that the asker may not see.
fn configured(mut config: Value, asker: Asker<'_>) -> Value {
    let Some(databases) = config.get_mut("databases").and_then(Value::as_object_mut) else {
        return config;
    };
    databases.retain(|name, _| asker.may(Action::ViewDatabase, Resource::Database(name)));
    for (database, entry) in databases {
        if let Some(tables) = entry.get_mut("tables").and_then(Value::as_object_mut) {
            tables.retain(|name, _| asker.may(Action::ViewTable, Resource::Table(database, name)));
        }
        if let Some(queries) = entry.get_mut("queries").and_then(Value::as_object_mut) {
            queries.retain(|name, _| asker.may(Action::ViewQuery, Resource::Query(database, name)));
        }
    }
    config
}

/// What a rule can allow or forbid, with the words of Datasette's `/-/actions.json`.
fn actions() -> Value {
    let mut actions = Action::ALL;
    actions.sort_unstable_by_key(|action| action.name());
    let actions = actions.into_iter().map(|action| {
        let (takes_parent, takes_child, class) = match action {
            Action::ViewInstance | Action::Debug => (false, false, None),
            Action::ViewDatabase | Action::DownloadDatabase | Action::ExecuteSql => {
                (true, false, Some("DatabaseResource"))
            }
            Action::ViewTable => (true, true, Some("TableResource")),
            Action::ViewQuery => (true, true, Some("QueryResource")),
        };
        json!({
            "name": action.name(),
            "abbr": action.abbreviation(),
            "description": action.description(),
            "takes_parent": takes_parent,
            "takes_child": takes_child,
            "resource_class": class,
            "also_requires": action.requires().map(Action::name),
        })
    });
    json!({"actions": actions.collect::<Vec<_>>()})
}

fn databases(app: &App, asker: Asker<'_>) -> Value {
    let databases: Vec<Value> = app
        .registry
        .databases()
        .filter(|database| asker.may(Action::ViewDatabase, Resource::Database(&database.name)))
        .map(|database| {
            json!({
                "name": database.name,
                "route": database.name,
                "path": database.path.as_ref().map(|path| path.to_string_lossy()),
                "size": database.size(),
                "is_mutable": database.is_mutable,
                "is_memory": database.is_memory,
                "hash": database.hash(),
            })
        })
        .collect();
    json!({"databases": databases})
}

fn as_page(app: &App, request: &Request, page: Special, value: &Value) -> Result<Response> {
    let filename = format!("{}.json", page.name());
    let alternate = request.absolute(&query::join(&format!("/-/{filename}"), request.query.raw()));
    let crumbs = [Crumb {
        href: app.config.settings.base_url.clone(),
        label: "home".to_owned(),
    }];
    let template = app.templates.choose(&Subject::Other("show_json.html"));
    let mut context = template.context(&Frame {
        body_class: "show-json",
        crumbs: &crumbs,
        alternate_json: &alternate,
        metadata: Some(app.config.instance()),
        actor: request.actor.as_deref(),
    });
    let json = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Internal(format!("{filename}: {error}")))?;
    context.insert("title", &filename);
    context.insert("filename", &filename);
    context.insert("json", &json);
    custom::other(&mut context, template.wanted(), request);
    let html = template.render(&context)?;
    Ok(Response::whole(200, HTML, html).alternate_json(&alternate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::http::app::test_app;
    use crate::http::incoming;
    use crate::http::response::Body;
    use actix_web::test::TestRequest;

    fn shown(page: Special, format: Format) -> (Response, String) {
        let http = TestRequest::get()
            .uri(&format!("/-/{}?x=1", page.name()))
            .insert_header(("host", "h"))
            .to_http_request();
        let (request, _) = incoming::read(&http, &Settings::default());
        let response = show(&test_app(), &request, page, format).expect("an answer");
        let body = match &response.body {
            Body::Whole(bytes) => String::from_utf8(bytes.to_vec()).expect("UTF-8"),
            _ => panic!("these pages are whole"),
        };
        (response, body)
    }

    fn json(page: Special) -> Value {
        serde_json::from_str(&shown(page, Format::Json).1).expect("JSON")
    }

    #[test]
    fn the_versions_tell_ours_and_those_of_sqlite() {
        let versions = json(Special::Versions);
        assert_eq!(versions["ok"], true);
        assert_eq!(versions["turntable"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(versions["sqlite"]["version"], rusqlite::version());
        let fts = versions["sqlite"]["fts_versions"]
            .as_array()
            .expect("a list");
        assert!(fts.contains(&json!("FTS5")));
    }

    #[test]
    fn objects_are_ok_and_lists_are_bare() {
        assert_eq!(json(Special::Actor), json!({"ok": true, "actor": null}));
        assert_eq!(json(Special::Plugins), json!([]));
        assert_eq!(json(Special::Config), json!({"ok": true}));
        assert_eq!(json(Special::Settings)["default_page_size"], 100);
    }

    #[test]
    fn the_databases_are_listed_with_what_datasette_tells_of_them() {
        let databases = json(Special::Databases);
        let memory = databases["databases"][0].as_object().expect("an object");
        let keys: Vec<_> = memory.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "name",
                "route",
                "path",
                "size",
                "is_mutable",
                "is_memory",
                "hash"
            ]
        );
        assert_eq!(memory["name"], "_memory");
        assert_eq!(memory["path"], Value::Null);
    }

    #[test]
    fn the_threads_tell_of_the_engine_and_of_our_own_settings() {
        let threads = json(Special::Threads);
        assert_eq!(threads["num_threads"], 1);
        assert_eq!(threads["settings"]["page_wait_ms"], 5000);
        assert!(threads["engine"].is_object());
    }

    #[test]
    fn the_page_links_to_its_json() {
        let (response, html) = shown(Special::Versions, Format::Html);
        assert!(html.contains("versions.json"));
        let link = "<http://h/-/versions.json?x=1>; rel=\"alternate\"; type=\"application/json+datasette\"";
        assert!(response.headers.contains(&("link", link.into())));
    }
}
