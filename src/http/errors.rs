//! An [`Error`] as the client sees it: JSON, a line of text or a page.

use serde_json::json;

use super::app::App;
use super::incoming::{self, ErrorForm, SpeaksJson, Terms};
use super::response::{HTML, JSON, Response, TEXT};
use super::routes;
use super::templates::{Frame, Subject};
use crate::error::Error;
use crate::render::custom;
use crate::text::query::join;

/// What Datasette says of an address that no page has.
const NOTHING: &str = "404";

/// The error for an address that no page has.
pub fn nothing() -> Error {
    Error::NotFound(NOTHING.to_owned())
}

/// The answer to a request that failed. What is not there under one spelling
/// of its address may be there under another.
pub fn answer(app: &App, terms: &Terms<'_>, error: &Error) -> Response {
    if let Error::NotFound(_) = error
        && let Some(location) = second_chance(app, terms)
    {
        return Response::whole(302, HTML, "").header("location", location);
    }
    log(terms, error);
    let mut response = match form(terms, error) {
        ErrorForm::Json => as_json(error),
        ErrorForm::Text => Response::whole(error.status(), TEXT, error.message().to_owned()),
        ErrorForm::Html => as_page(app, terms, error),
    };
    match error {
        Error::Busy { retry_after } => {
            let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
            response = response.header("retry-after", seconds.max(1).to_string());
        }
        Error::Unauthorized(_) => response = response.header("www-authenticate", "Bearer"),
        Error::MethodNotAllowed => response = response.header("allow", "GET, HEAD"),
        _ => {}
    }
    response
}

/// Where else it may be. The prefix comes first even if a proxy has taken it off.
fn second_chance(app: &App, terms: &Terms<'_>) -> Option<String> {
    let base = app.config.settings.base_url.as_str();
    if base.strip_suffix('/') == Some(terms.path) {
        return Some(join(base, terms.query));
    }
    let path = incoming::below_base(terms.path, base);
    let location = routes::second_chance(path, terms.query)?;
    Some(format!("{}{location}", base.trim_end_matches('/')))
}

fn form(terms: &Terms<'_>, error: &Error) -> ErrorForm {
    match error {
        Error::Unauthorized(_) => ErrorForm::Json,
        Error::Forbidden(_) if terms.json >= SpeaksJson::Accepts => ErrorForm::Json,
        Error::MethodNotAllowed if terms.json == SpeaksJson::Sends => ErrorForm::Json,
        Error::MethodNotAllowed if terms.error_form == ErrorForm::Html => ErrorForm::Text,
        _ => terms.error_form,
    }
}

fn log(terms: &Terms<'_>, error: &Error) {
    match error {
        Error::Internal(detail) => tracing::error!(path = terms.path, "{detail}"),
        Error::Busy { .. } => tracing::debug!(path = terms.path, "turned away: no place free"),
        Error::Cancelled => tracing::debug!(path = terms.path, "the client has gone"),
        _ => {}
    }
}

/// An error as JSON, for pages that have no other form.
pub fn as_json(error: &Error) -> Response {
    let message = error.message();
    let body = json!({
        "ok": false,
        "error": message,
        "errors": [message],
        "status": error.status(),
    });
    Response::whole(error.status(), JSON, body.to_string())
}

fn as_page(app: &App, terms: &Terms<'_>, error: &Error) -> Response {
    let template = app.templates.choose(&Subject::Error(error.status()));
    let mut context = template.context(&Frame {
        body_class: "error",
        metadata: Some(app.config.instance()),
        ..Frame::default()
    });
    let title = match error {
        Error::Forbidden(_) => "Forbidden",
        other => other.title().unwrap_or_default(),
    };
    let message = match error {
        Error::NotFound(text) if text == NOTHING => "There is no page at this address",
        // The name after the colon comes from the address, which anybody may have written:
        // it could say what the site would not.
        Error::NotFound(text) => text.split(": ").next().unwrap_or_default(),
        _ => error.message(),
    };
    context.insert("status", &error.status());
    context.insert("title", title);
    context.insert("message", message);
    let wanted = template.wanted();
    if !wanted.is_empty() {
        custom::other(&mut context, wanted, &terms.request(&app.config.settings));
    }
    // Where a template of the site is broken, that of the program tells the error.
    let html = template.render(&context).or_else(|broken| {
        tracing::error!("{broken}");
        app.templates.render("default:error.html", &context)
    });
    match html {
        Ok(html) => Response::whole(error.status(), HTML, html),
        Err(broken) => {
            tracing::error!("{broken}");
            Response::whole(error.status(), TEXT, message.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::app::test_app;
    use crate::http::response::Body;
    use std::time::Duration;

    fn terms(path: &str) -> Terms<'static> {
        let http = actix_web::test::TestRequest::get()
            .uri(path)
            .to_http_request();
        super::super::incoming::read(
            Box::leak(Box::new(http)),
            &crate::config::Settings::default(),
        )
        .1
    }

    fn body(response: &Response) -> String {
        match &response.body {
            Body::Whole(bytes) => String::from_utf8(bytes.to_vec()).expect("UTF-8"),
            _ => panic!("errors are whole"),
        }
    }

    fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
        let mut headers = response.headers.iter();
        headers
            .find(|(key, _)| *key == name)
            .map(|(_, value)| &**value)
    }

    #[test]
    fn json_paths_get_the_error_object() {
        let error = Error::NotFound("Table not found".into());
        let response = answer(&test_app(), &terms("/fx/nope.json"), &error);
        assert_eq!(response.status, 404);
        assert_eq!(
            body(&response),
            r#"{"ok":false,"error":"Table not found","errors":["Table not found"],"status":404}"#
        );
    }

    #[test]
    fn csv_paths_get_a_line_and_other_paths_a_page() {
        let error = Error::BadRequest("<b>no</b>".into());
        let app = test_app();
        let text = answer(&app, &terms("/fx/t.csv"), &error);
        assert_eq!(
            (body(&text).as_str(), header(&text, "content-type")),
            ("<b>no</b>", Some(TEXT))
        );
        let page = answer(&app, &terms("/fx/t"), &error);
        assert_eq!(header(&page, "content-type"), Some(HTML));
        assert!(body(&page).contains("&lt;b&gt;no"), "{}", body(&page));
    }

    #[test]
    fn an_internal_error_is_not_told_to_anybody() {
        let error = Error::Internal("/srv/secret.db: disk I/O error".into());
        for path in ["/fx", "/fx.json", "/fx/t.csv"] {
            let response = answer(&test_app(), &terms(path), &error);
            assert_eq!(response.status, 500);
            assert!(!body(&response).contains("secret"), "{path}");
        }
    }

    #[test]
    fn busy_says_when_to_come_back_in_whole_seconds() {
        for (millis, seconds) in [(0, "1"), (300, "1"), (1000, "1"), (1200, "2")] {
            let error = Error::Busy {
                retry_after: Duration::from_millis(millis),
            };
            let response = answer(&test_app(), &terms("/fx"), &error);
            assert_eq!(
                (response.status, header(&response, "retry-after")),
                (503, Some(seconds))
            );
        }
    }

    #[test]
    fn a_missing_page_is_looked_for_under_its_other_spelling() {
        let error = nothing();
        let response = answer(&test_app(), &terms("/fx/t%20?x=1"), &error);
        assert_eq!(
            (response.status, header(&response, "location")),
            (302, Some("/fx/t~20?x=1"))
        );
        let error = Error::BadRequest("no".into());
        assert_eq!(answer(&test_app(), &terms("/fx/"), &error).status, 400);
    }

    #[test]
    fn a_wrong_method_is_told_without_a_page() {
        let response = answer(&test_app(), &terms("/fx"), &Error::MethodNotAllowed);
        assert_eq!(response.status, 405);
        assert_eq!(header(&response, "content-type"), Some(TEXT));
        assert_eq!(header(&response, "allow"), Some("GET, HEAD"));
        let response = answer(&test_app(), &terms("/fx.json"), &Error::MethodNotAllowed);
        assert_eq!(header(&response, "content-type"), Some(JSON));
    }
}
