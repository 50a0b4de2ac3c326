//! What a custom page says of its answer while it is rendered: status, headers,
//! another address, or that there is no such page.
//!
//! The functions of a template get their arguments and nothing else. A page is
//! rendered on one thread from its beginning to its end, so what its functions say is
//! heard on that thread.

use std::cell::RefCell;

use actix_web::http::header::{HeaderName, HeaderValue};
use tera::{Error, TeraResult};

/// Headers that belong to the connection or the body; a page can't know them.
const NOT_OURS: [&str; 5] = [
    "connection",
    "content-length",
    "date",
    "transfer-encoding",
    "content-encoding",
];

/// What a page said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// `custom_status`
    pub status: Option<u16>,
    /// `custom_header`, names in lower case.
    pub headers: Vec<(String, String)>,
    /// `raise_404`, with its message.
    pub not_found: Option<String>,
}

thread_local! {
    /// Something while a page is rendered on this thread.
    static SAID: RefCell<Option<Said>> = const { RefCell::new(None) };
}

/// Renders a page and hears what it says.
pub fn listen<T>(render: impl FnOnce() -> T) -> (T, Said) {
    SAID.set(Some(Said::default()));
    let rendered = render();
    (rendered, SAID.take().unwrap_or_default())
}

fn say(what: impl FnOnce(&mut Said)) -> TeraResult<()> {
    SAID.with_borrow_mut(|said| match said {
        Some(said) => {
            what(said);
            Ok(())
        }
        None => Err(Error::message(
            "this function is for the templates in pages/",
        )),
    })
}

/// Sets the status.
///
/// # Errors
/// It is none that an answer can have.
pub fn status(status: u64) -> TeraResult<()> {
    let status = u16::try_from(status).ok();
    let status = status.filter(|status| (200..=599).contains(status));
    let status = status.ok_or_else(|| Error::message("custom_status takes 200 to 599"))?;
    say(|said| said.status = Some(status))
}

/// Adds a header, or sets it again.
///
/// # Errors
/// HTTP cannot carry it, or it is not the page's to set.
pub fn header(name: &str, value: &str) -> TeraResult<()> {
    let refused = |why: &str| Error::message(format!("custom_header {name:?}: {why}"));
    let name =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("no name of a header"))?;
    if NOT_OURS.contains(&name.as_str()) {
        return Err(refused("the server sets it itself"));
    }
    HeaderValue::from_str(value).map_err(|_| refused("its value cannot be sent"))?;
    say(|said| {
        said.headers.retain(|(known, _)| known != name.as_str());
        said.headers
            .push((name.as_str().to_owned(), value.to_owned()));
    })
}

/// Sends the client elsewhere.
///
/// # Errors
/// The address cannot be sent, or the status is no redirect's.
pub fn redirect(location: &str, status: u64) -> TeraResult<()> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(Error::message(
            "custom_redirect takes the status 301, 302, 303, 307 or 308",
        ));
    }
    header("location", location)?;
    self::status(status)
}

/// Says that there is no such page. Returns what stops the rendering.
pub fn not_found(message: &str) -> Error {
    let message = if message.is_empty() { "404" } else { message };
    match say(|said| said.not_found = Some(message.to_owned())) {
        Ok(()) => Error::message("no such page"),
        Err(elsewhere) => elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_heard_and_the_next_begins_anew() {
        let (result, said) = listen(|| {
            status(418)?;
            header("X-A", "1")?;
            header("x-a", "2")
        });
        result.expect("all of it can be said");
        assert_eq!(said.status, Some(418));
        assert_eq!(said.headers, [("x-a".to_owned(), "2".to_owned())]);
        assert_eq!(listen(|| ()).1, Said::default());
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let ((), _) = listen(|| {
            for (name, value) in [("a b", "x"), ("x", "a\nb"), ("Content-Length", "5")] {
                header(name, value).expect_err(name);
            }
            for wrong in [0, 101, 600, 99_999] {
                status(wrong).expect_err("no status");
            }
            redirect("/x", 200).expect_err("no redirect");
            redirect("/x\r\nset-cookie: a=b", 302).expect_err("no address");
        });
    }

    #[test]
    fn outside_of_a_page_nobody_listens() {
        status(418).expect_err("no page");
        assert!(not_found("x").to_string().contains("pages/"));
    }
}
