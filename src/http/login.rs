//! The ways in and out: `/-/auth-token`, which `--root` opens once, and `/-/logout`.

use std::sync::Arc;

use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use super::app::App;
use super::request::Request;
use super::response::{HTML, Response};
use super::templates::{Crumb, Frame};
use crate::auth::{Actor, expired_cookies, random_word, signed_cookie};
use crate::error::{Error, Result};

/// The token of `--root`, until somebody has used it.
#[derive(Default, Clone)]
pub struct RootLogin(Arc<Mutex<Option<String>>>);

impl RootLogin {
    /// Makes the token. Returns the path that takes it.
    pub fn open(&self) -> String {
        let token = random_word();
        let path = format!("/-/auth-token?token={token}");
        *self.0.lock() = Some(token);
        path
    }

    /// Whether this is the token. It is so once.
    fn take(&self, offered: &str) -> bool {
        let mut token = self.0.lock();
        let fits = token
            .as_ref()
            .is_some_and(|token| token.as_bytes().ct_eq(offered.as_bytes()).into());
        if fits {
            *token = None;
        }
        fits
    }
}

/// `/-/auth-token?token=…`: makes the client `root`.
///
/// # Errors
/// 403 if the token is not the one, or was used.
pub fn auth_token(app: &App, request: &Request) -> Result<Response> {
    let home = request.prefixed("/");
    if !app
        .root_login
        .take(request.query.get("token").unwrap_or_default())
    {
        return Err(Error::Forbidden(
            "This token is not valid, or was used already".to_owned(),
        ));
    }
    let cookie = signed_cookie(
        &app.signer,
        &Actor::with_id("root"),
        request.scheme == "https",
        &request.base_url,
    );
    Ok(Response::redirect(302, &home)
        .header("set-cookie", cookie)
        .header("cache-control", "private, no-store"))
}

/// `/-/logout`: asks whether to, and does it on POST.
///
/// # Errors
/// [`Error::Internal`] if the template fails.
pub fn logout(app: &App, request: &Request) -> Result<Response> {
    let home = request.prefixed("/");
    if request.method == "POST" {
        let response = Response::redirect(302, &home).header("cache-control", "private, no-store");
        let cookies = expired_cookies(&request.base_url);
        return Ok(cookies.fold(response, |response, cookie| {
            response.header("set-cookie", cookie)
        }));
    }
    let Some(actor) = request.actor.as_deref() else {
        return Ok(Response::redirect(302, &home));
    };
    let crumbs = [Crumb {
        href: home,
        label: "home".to_owned(),
    }];
    let mut context = app.templates.context(&Frame {
        body_class: "logout",
        crumbs: &crumbs,
        alternate_json: "",
        metadata: Some(app.config.instance()),
        actor: Some(actor),
    });
    context.insert("logout_url", &request.prefixed("/-/logout"));
    let html = app.templates.render("logout.html", &context)?;
    Ok(Response::whole(200, HTML, html))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_root_works_once() {
        let login = RootLogin::default();
        assert!(!login.take(""));
        let path = login.open();
        let token = path.rsplit_once('=').unwrap().1;
        assert!(!login.take("") && !login.take(&token[1..]));
        assert!(login.take(token));
        assert!(!login.take(token));
    }
}
