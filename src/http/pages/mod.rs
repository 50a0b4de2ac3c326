//! Custom pages: a template `pages/about.html` of the site is the page `/about`,
//! and `pages/topic/{name}.html` every `/topic/…`, with `name` as a variable. They are
//! looked at where there is no other page: [`instead`] of a 404.

mod pattern;
pub mod said;

use std::sync::Arc;

use actix_web::HttpRequest;

use self::pattern::Pattern;
use super::app::App;
use super::errors;
use super::incoming::{self, Terms};
use super::request::Request;
use super::response::{HTML, Response};
use super::routes;
use super::templates::{Frame, Templates};
use crate::auth::{Action, Actor, Resource};
use crate::error::{Error, Result};
use crate::render::custom;

/// The addresses of the custom pages.
#[derive(Debug, Default)]
pub struct Pages {
    /// Those without a variable.
    plain: Vec<String>,
    /// The others, those with more fixed text first.
    patterns: Vec<Pattern>,
}

impl Pages {
    /// Of the site's templates.
    ///
    /// # Errors
    /// One line on a name whose braces do not match.
    pub fn of(templates: &Templates) -> Result<Self, String> {
        let mut pages = Self::default();
        for page in templates.custom_pages() {
            if page.contains(['{', '}']) {
                let pattern = Pattern::parse(page).ok_or_else(|| {
                    format!("pages/{page}.html: a variable in a name is written {{name}}, with letters, digits and underscores")
                })?;
                pages.patterns.push(pattern);
            } else {
                pages.plain.push(page.to_owned());
            }
        }
        pages.plain.sort_unstable();
        pages.patterns.sort_by(|a, b| {
            let by_text = b.fixed().cmp(&a.fixed());
            by_text.then_with(|| a.page.cmp(&b.page))
        });
        Ok(pages)
    }

    /// The page at a path of this server, with its variables.
    fn find(&self, path: &str) -> Option<(&str, Vec<(String, String)>)> {
        let path = path.strip_prefix('/')?;
        if let Ok(n) = self.plain.binary_search_by(|page| page.as_str().cmp(path)) {
            return Some((&self.plain[n], Vec::new()));
        }
        self.patterns.iter().find_map(|pattern| {
            let variables = pattern.variables(path)?;
            Some((pattern.page.as_str(), variables))
        })
    }
}

/// The custom page for a request that got a 404; `None` if there is none, or if the page
/// may be there under another spelling of its address.
pub fn instead(
    app: &App,
    http: &HttpRequest,
    terms: &Terms<'_>,
    error: &Error,
    actor: Option<Arc<Actor>>,
) -> Option<Response> {
    let pages = &app.pages;
    let is_asked_for =
        matches!(error, Error::NotFound(_)) && matches!(http.method().as_str(), "GET" | "HEAD");
    if !is_asked_for || pages.plain.is_empty() && pages.patterns.is_empty() {
        return None;
    }
    let (mut request, _) = incoming::read(http, &app.config.settings);
    request.actor = actor;
    if routes::second_chance(&request.path, terms.query).is_some() {
        return None;
    }
    let (page, variables) = pages.find(&request.path)?;
    // Who may not see the site sees none of its pages.
    let allowed = app
        .asker(&request)
        .check(Action::ViewInstance, Resource::Instance);
    let shown = allowed.and_then(|()| show(app, &request, page, variables));
    Some(shown.unwrap_or_else(|error| errors::answer(app, terms, &error)))
}

/// Renders a custom page, which may say itself what its answer is like.
fn show(
    app: &App,
    request: &Request,
    page: &str,
    variables: Vec<(String, String)>,
) -> Result<Response> {
    let template = app.templates.custom_page(page);
    let mut context = template.context(&Frame {
        body_class: "page",
        metadata: Some(app.config.instance()),
        actor: request.actor.as_deref(),
        ..Frame::default()
    });
    custom::other(&mut context, template.wanted(), request);
    for (name, value) in variables {
        context.insert(name, &value);
    }
    let (html, said) = said::listen(|| template.render(&context));
    if let Some(message) = said.not_found {
        return Err(Error::NotFound(message));
    }
    Ok(with(
        Response::whole(said.status.unwrap_or(200), HTML, html?),
        said.headers,
    ))
}

/// The answer with the headers of the page. Its media type goes before the usual one.
fn with(mut response: Response, headers: Vec<(String, String)>) -> Response {
    if headers.iter().any(|(name, _)| name == "content-type") {
        response.headers.retain(|(name, _)| *name != "content-type");
    }
    response.own_headers = headers;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(names: &[&str]) -> Pages {
        let mut pages = Pages::default();
        for name in names {
            match Pattern::parse(name).filter(|_| name.contains('{')) {
                Some(pattern) => pages.patterns.push(pattern),
                None => pages.plain.push((*name).to_owned()),
            }
        }
        pages.plain.sort_unstable();
        pages
            .patterns
            .sort_by(|a, b| b.fixed().cmp(&a.fixed()).then_with(|| a.page.cmp(&b.page)));
        pages
    }

    #[test]
    fn a_page_without_variables_goes_before_one_with_and_more_text_before_less() {
        let pages = pages(&[
            "topic/new",
            "topic/{name}",
            "topic/x-{name}",
            "{any}",
            "a/{b}/c/{d}",
        ]);
        for (path, page, variables) in [
            ("/topic/new", "topic/new", ""),
            ("/topic/old", "topic/{name}", "name=old"),
            ("/topic/x-y", "topic/x-{name}", "name=y"),
            ("/about", "{any}", "any=about"),
            ("/a/1/c/2", "a/{b}/c/{d}", "b=1 d=2"),
        ] {
            let (found, values) = pages.find(path).expect(path);
            let values: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
            assert_eq!(
                (found, values.join(" ").as_str()),
                (page, variables),
                "{path}"
            );
        }
        for path in ["/topic/a/b", "/", "/a/1/c", "no-slash"] {
            assert_eq!(pages.find(path), None, "{path}");
        }
    }
}
