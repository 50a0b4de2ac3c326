//! `--get`: one request, asked on the command line and answered as any other, without a server.

use std::future::poll_fn;
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::Uri;
use actix_web::http::header::{
    AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue,
};
use actix_web::test::TestRequest;
use serde_json::Value;

use super::typed::TypedServe;
use crate::auth::{Actor, signed_cookie};
use crate::http::app::{App, handle};
use crate::http::lenient;
use crate::start::StartError;

/// A request that is answered without a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Get {
    /// Path and query, as they would stand in an address.
    pub path: String,
    /// Print status and headers before the body.
    pub headers: bool,
    /// An API token.
    pub token: Option<String>,
    /// Who asks.
    pub actor: Option<Actor>,
}

impl Get {
    /// What was typed of it; `None` without `--get`.
    ///
    /// # Errors
    /// Options that need `--get`, or an actor that is no JSON object.
    pub(super) fn meant(typed: &TypedServe) -> Result<Option<Self>, StartError> {
        let Some(path) = &typed.get else {
            let alone = [
                ("--headers", typed.headers),
                ("--token", typed.token.is_some()),
                ("--actor", typed.actor.is_some()),
            ];
            return match alone.iter().find(|(_, is_typed)| *is_typed) {
                Some((option, _)) => Err(StartError::Usage(format!(
                    "{option} can only be used with --get"
                ))),
                None => Ok(None),
            };
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Some(Self {
            path: format!("{slash}{path}"),
            headers: typed.headers,
            token: typed.token.clone(),
            actor: typed.actor.as_deref().map(actor).transpose()?,
        }))
    }
}

impl Get {
    /// Asks, and writes the answer as it comes. Whether it is a 2xx.
    ///
    /// # Errors
    /// What was typed can't be sent, the answer breaks off, or nobody takes it.
    pub async fn run(&self, app: Arc<App>, out: &mut impl Write) -> Result<bool, StartError> {
        let target = lenient::mended(&self.path);
        if let Err(error) = Uri::try_from(&target) {
            let path = &self.path;
            return Err(StartError::Usage(format!("--get {path:?}: {error}")));
        }
        // The one public way to a request that no socket brought.
        let mut request = TestRequest::with_uri(&target);
        for (name, value) in self.sent_headers(&app)? {
            request = request.insert_header((name, value));
        }
        let response = handle(app, request.to_http_request()).await;
        let is_ok = response.status().is_success();
        self.write(response, out)
            .await
            .map_err(|error| StartError::Environment(format!("--get: {error}")))?;
        Ok(is_ok)
    }

    fn sent_headers(&self, app: &App) -> Result<Vec<(HeaderName, HeaderValue)>, StartError> {
        let mut headers = vec![(HOST, HeaderValue::from_static("localhost"))];
        if let Some(token) = &self.token {
            let value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                StartError::Usage("--token: a header can't hold this text".to_owned())
            })?;
            headers.push((AUTHORIZATION, value));
        }
        if let Some(actor) = &self.actor {
            let cookie = signed_cookie(&app.signer, actor, false, "/");
            let cookie = cookie.split(';').next().unwrap_or_default();
            let value = HeaderValue::try_from(cookie)
                .map_err(|_| StartError::Usage("--actor can't be sent".to_owned()))?;
            headers.push((COOKIE, value));
        }
        Ok(headers)
    }

    async fn write(&self, response: HttpResponse, out: &mut impl Write) -> std::io::Result<()> {
        if self.headers {
            writeln!(out, "HTTP/1.1 {}", response.status().as_u16())?;
            let mut headers: Vec<_> = response.headers().iter().collect();
            headers.sort_by_key(|(name, _)| name.as_str());
            for (name, value) in headers {
                write!(out, "{name}: ")?;
                out.write_all(value.as_bytes())?;
                writeln!(out)?;
            }
            writeln!(out)?;
        }
        let is_text = is_text(response.headers());
        let mut body = response.into_body();
        let mut last = None;
        while let Some(piece) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
            let piece = piece.map_err(|error| std::io::Error::other(error.to_string()))?;
            last = piece.last().copied().or(last);
            out.write_all(&piece)?;
        }
        // A prompt that comes next gets a line of its own; a file stays as it is.
        if is_text && last.is_some_and(|byte| byte != b'\n') {
            writeln!(out)?;
        }
        out.flush()
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|media| media.starts_with("text/") || media.starts_with("application/json"))
}

fn actor(word: &str) -> Result<Actor, StartError> {
    match serde_json::from_str(word) {
        Ok(Value::Object(facts)) => Ok(Actor::new(facts)),
        _ => Err(StartError::Usage(format!(
            "--actor takes a JSON object such as {{\"id\": \"root\"}}, not {word:?}"
        ))),
    }
}
