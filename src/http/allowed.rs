//! `/-/allowed`: what who asks may do, as HTML or JSON.

use std::sync::Arc;

use serde::Serialize;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response};
use super::routes::Format;
use super::templates::{Crumb, Frame};
use crate::auth::{Action, Actor};
use crate::database::allowed::{Allowed, allowed};
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::json::push_json;
use crate::render::links;
use crate::text::query::join;
use crate::text::tilde;

/// Items on a page, unless `_size` says otherwise, and at the most. Datasette's.
const SIZE: usize = 50;
const LARGEST: usize = 200;

#[derive(Serialize)]
struct Document<'d> {
    ok: bool,
    action: &'d str,
    actor_id: Option<String>,
    page: usize,
    page_size: usize,
    total: usize,
    items: Vec<Item<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_url: Option<String>,
}

#[derive(Serialize)]
struct Item<'d> {
    parent: &'d str,
    child: Option<&'d str>,
    resource: String,
}

/// Answers `?action=`, with `parent` and `child` to look for one thing.
pub async fn show(app: &Arc<App>, request: Request, format: &Format) -> Result<Response> {
    let is_json = match format {
        Format::Html => false,
        Format::Json => true,
        other => return Err(other.invalid()),
    };
    let names = |key: &str| request.query.get(key).is_some_and(|name| !name.is_empty());
    if names("child") && !names("parent") {
        let message = "child is in a database: name that with parent";
        return Err(Error::BadRequest(message.to_owned()));
    }
    let job = Job {
        app: Arc::clone(app),
        action: action(&request, is_json)?,
        page: number(&request, "_page", 1, usize::MAX)?,
        size: number(&request, "_size", SIZE, LARGEST)?,
        request,
    };
    app.engine
        .offload(move |page| Ok(job.run(page, is_json)?.lasting(true)))
        .await
}

/// The action. The form begins with one.
fn action(request: &Request, is_json: bool) -> Result<Action> {
    let name = match request.query.get("action").filter(|name| !name.is_empty()) {
        Some(name) => name,
        None if is_json => {
            let message = "Name an action: ?action=view-table";
            return Err(Error::BadRequest(message.to_owned()));
        }
        None => Action::ViewTable.name(),
    };
    let known = Action::ALL.into_iter().find(|action| action.name() == name);
    known.ok_or_else(|| Error::NotFound(format!("Unknown action: {name}")))
}

fn number(request: &Request, key: &str, usual: usize, most: usize) -> Result<usize> {
    let Some(text) = request.query.get(key).filter(|text| !text.is_empty()) else {
        return Ok(usual);
    };
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ if most < usize::MAX => {
            let message = format!("{key}={text} - use a number from 1 to {most}");
            Err(Error::BadRequest(message))
        }
        _ => Err(Error::BadRequest(format!(
            "{key}={text} - use a number from 1 on"
        ))),
    }
}

struct Job {
    app: Arc<App>,
    request: Request,
    action: Action,
    page: usize,
    size: usize,
}

impl Job {
    fn run(&self, page: &Page<'_>, is_json: bool) -> Result<Response> {
        let (app, request) = (&self.app, &self.request);
        let databases: Vec<_> = app.registry.databases().cloned().collect();
        let asker = app.asker(request);
        let mut found = allowed(&app.config, asker, &databases, self.action, &page.cancel)?;
        let is_wanted = |key: &str, name: Option<&str>| {
            let wanted = request.query.get(key).filter(|wanted| !wanted.is_empty());
            wanted.is_none_or(|wanted| name == Some(wanted))
        };
        found.retain(|one| {
            is_wanted("parent", Some(&one.database)) && is_wanted("child", one.child.as_deref())
        });
        let document = self.document(&found);
        if is_json {
            let mut out = Vec::new();
            push_json(&mut out, &document)?;
            return Ok(Response::whole(200, JSON, out));
        }
        self.html(&document)
    }

    fn document<'d>(&self, found: &'d [Allowed]) -> Document<'d> {
        let begin = (self.page - 1).saturating_mul(self.size);
        let shown = found.iter().skip(begin).take(self.size);
        let actor = self.request.actor.as_deref();
        let has_next = begin.saturating_add(self.size) < found.len();
        Document {
            ok: true,
            action: self.action.name(),
            actor_id: actor.and_then(Actor::id),
            page: self.page,
            page_size: self.size,
            total: found.len(),
            items: shown.map(|one| self.item(one)).collect(),
            next_url: has_next.then(|| self.url(self.page + 1)),
            previous_url: (self.page > 1).then(|| self.url(self.page - 1)),
        }
    }

    fn item<'d>(&self, one: &'d Allowed) -> Item<'d> {
        let mut resource = links::database(&self.request, &one.database);
        if let Some(child) = &one.child {
            resource.push('/');
            tilde::encode_into(&mut resource, child.as_bytes());
        }
        Item {
            parent: &one.database,
            child: one.child.as_deref(),
            resource,
        }
    }

    fn url(&self, page: usize) -> String {
        let page = page.to_string();
        let query = &self.request.query;
        let query = query.with_replaced(&[("_page", Some(page.as_str()))]);
        self.request.prefixed(&join(&self.request.path, &query))
    }

    fn html(&self, document: &Document<'_>) -> Result<Response> {
        let request = &self.request;
        let alternate = links::alternate_json(request);
        let crumbs = [Crumb {
            href: request.prefixed("/"),
            label: "home".to_owned(),
        }];
        let mut context = self.app.templates.context(&Frame {
            body_class: "allowed",
            crumbs: &crumbs,
            alternate_json: &alternate,
            metadata: Some(self.app.config.instance()),
            actor: request.actor.as_deref(),
        });
        let mut actions = Action::ALL.map(Action::name);
        actions.sort_unstable();
        context.insert("actions", &actions);
        context.insert("description", self.action.description());
        context.insert("path", &request.prefixed(&request.path));
        context.insert("found", document);
        context.insert("export_json_url", &links::in_format(request, "json", &[]));
        let html = self.app.templates.render("allowed.html", &context)?;
        Ok(Response::whole(200, HTML, html))
    }
}
