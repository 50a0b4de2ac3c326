//! The one error type of the program, and what a client sees of it.
//!
//! Whoever detects a fault picks a constructor here; the HTTP layer asks
//! [`Error::status`] and [`Error::message`] and nothing else. Internal detail
//! (file paths, SQLite result codes of our own statements) goes to the log
//! through [`Error::detail`] and never into a response.

use std::fmt;
use std::time::Duration;

/// What went wrong, in terms of the answer that a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// 400: the request is wrong; the text says how to do it right.
    BadRequest(String),
    /// 400 with the title "Invalid SQL": SQL that the client wrote (or filters that add up to such SQL) was refused by SQLite.
    InvalidSql(String),
    /// 401: the request says who sends it, and that can't be so; sent with `WWW-Authenticate`.
    Unauthorized(String),
    /// 403: the request is understood, and not allowed.
    Forbidden(String),
    /// 404: no such page, database, table or row.
    NotFound(String),
    /// 405: the page exists, but not for this method.
    MethodNotAllowed,
    /// 400: a query of the client ran into `sql_time_limit_ms`.
    TimeLimit(String),
    /// 503: all places in the engine were taken for longer than the wait limit.
    Busy {
        /// When to come back, sent as `Retry-After` in whole seconds, rounded up.
        retry_after: Duration,
    },
    /// The client has gone; nobody reads this answer.
    Cancelled,
    /// 500: our own fault. The text is for the log; the client sees a fixed sentence.
    Internal(String),
}

impl Error {
    /// The HTTP status code.
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::InvalidSql(_) | Self::TimeLimit(_) => 400,
            Self::Unauthorized(_) => 401,
            Self::Forbidden(_) => 403,
            Self::NotFound(_) => 404,
            Self::MethodNotAllowed => 405,
            Self::Busy { .. } => 503,
            Self::Cancelled | Self::Internal(_) => 500,
        }
    }

    /// The sentence that the client reads. Holds nothing internal.
    pub fn message(&self) -> &str {
        match self {
            Self::BadRequest(text)
            | Self::InvalidSql(text)
            | Self::Unauthorized(text)
            | Self::Forbidden(text)
            | Self::NotFound(text)
            | Self::TimeLimit(text) => text,
            Self::MethodNotAllowed => "Method not allowed",
            Self::Busy { .. } => "The server is busy, try again in a moment",
            Self::Cancelled => "The request was cancelled",
            Self::Internal(_) => "The server met an internal error; its log has the details",
        }
    }

    /// A short title for the error page, where the message alone would lack context.
    pub fn title(&self) -> Option<&'static str> {
        match self {
            Self::InvalidSql(_) => Some("Invalid SQL"),
            Self::TimeLimit(_) => Some("SQL Interrupted"),
            _ => None,
        }
    }

    /// What the log says, when the client is not told all of it.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Internal(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.detail().unwrap_or_else(|| self.message()))
    }
}

impl std::error::Error for Error {}

/// Results of the whole program below the command line.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_error_tells_the_client_nothing_of_its_cause() {
        let error = Error::Internal("no such file: /srv/secret.db".into());
        assert_eq!(error.status(), 500);
        assert!(!error.message().contains("secret"));
        assert!(error.to_string().contains("secret"), "the log needs it");
    }
}
