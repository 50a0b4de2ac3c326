//! `/-/allow-debug`: a form that says whom an `allow` block lets in, for those who write one.

use serde_json::Value;

use super::app::App;
use super::request::Request;
use super::response::{HTML, Response};
use super::templates::{Crumb, Frame};
use crate::auth::{Actor, allows};
use crate::error::Result;

/// What the form begins with.
const ACTOR: &str = "{\n  \"id\": \"root\"\n}";
const ALLOW: &str = "{\n  \"id\": [\"root\"]\n}";

/// Shows the form, with the answer to `?actor=&allow=`.
pub fn show(app: &App, request: &Request) -> Result<Response> {
    let crumbs = [Crumb {
        href: request.prefixed("/"),
        label: "home".to_owned(),
    }];
    let mut context = app.templates.context(&Frame {
        body_class: "allow-debug",
        crumbs: &crumbs,
        metadata: Some(app.config.instance()),
        actor: request.actor.as_deref(),
        ..Frame::default()
    });
    let actor = request.query.get("actor");
    let allow = request.query.get("allow");
    context.insert("actor_text", actor.unwrap_or(ACTOR));
    context.insert("allow_text", allow.unwrap_or(ALLOW));
    context.insert("path", &request.prefixed("/-/allow-debug"));
    let mut errors = Vec::new();
    if let Some(allow) = allow {
        let actor = read_actor(actor.unwrap_or_default());
        let allow = read_allow(allow);
        match (actor, allow) {
            (Ok(actor), Ok(allow)) => {
                context.insert("is_tried", &true);
                context.insert("is_allowed", &allows(&allow, actor.as_ref()));
            }
            (actor, allow) => errors.extend(actor.err().into_iter().chain(allow.err())),
        }
    }
    context.insert("errors", &errors);
    let html = app.templates.render("allow_debug.html", &context)?;
    Ok(Response::whole(200, HTML, html))
}

/// The actor; nobody known, if there is no text or it says `null`.
fn read_actor(text: &str) -> Result<Option<Actor>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(facts)) => Ok(Some(Actor::new(facts))),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err("The actor is an object, like {\"id\": \"ann\"}, or null".to_owned()),
        Err(error) => Err(format!("The actor is not JSON: {error}")),
    }
}

/// The block, in any form that a configuration may have.
fn read_allow(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(allow @ (Value::Object(_) | Value::Bool(_) | Value::Null)) => Ok(allow),
        Ok(_) => Err("The block is an object, true, false or null".to_owned()),
        Err(error) => Err(format!("The block is not JSON: {error}")),
    }
}
