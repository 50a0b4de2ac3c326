//! `turntable create-token`: a signed API token, as Datasette's command of that name makes it.
//! <https://docs.datasette.io/en/latest/authentication.html#datasette-create-token>

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{ArgAction, Args};
use serde_json::{Map, Value, json};

use crate::auth::{Action, Signer};

#[derive(Debug, Args)]
pub(super) struct CreateToken {
    /// Id of the actor whose token it is
    #[arg(value_name = "ID")]
    id: String,
    /// Secret that signs it: that of the server
    #[arg(long, env = "DATASETTE_SECRET", hide_env_values = true)]
    secret: String,
    /// Make it valid for so many seconds [default: for ever]
    #[arg(short, long, value_name = "SECONDS")]
    expires_after: Option<u64>,
    /// Let it do this and nothing else, everywhere (repeatable)
    #[arg(short, long, value_name = "ACTION")]
    all: Vec<String>,
    /// Let it do this with a database (repeatable)
    #[arg(short, long, num_args = 2, value_names = ["DATABASE", "ACTION"], action = ArgAction::Append)]
    database: Vec<String>,
    /// Let it do this with a table, view or stored query (repeatable)
    #[arg(short, long, num_args = 3, value_names = ["DATABASE", "RESOURCE", "ACTION"],
          action = ArgAction::Append)]
    resource: Vec<String>,
    /// Print what it says, too
    #[arg(long)]
    debug: bool,
}

impl CreateToken {
    /// The token, as a line to print.
    pub fn run(self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let content = self.content(now.map_or(0, |time| time.as_secs()));
        let signed = Signer::new(self.secret).sign(&content, "token");
        let decoded = if self.debug {
            format!("\nDecoded:\n\n{content:#}\n")
        } else {
            String::new()
        };
        format!("dstok_{signed}\n{decoded}")
    }

    /// What is signed. `now` is in seconds since 1970.
    fn content(&self, now: u64) -> Value {
        let mut content = json!({"a": self.id, "t": now});
        if let Some(seconds) = self.expires_after {
            content["d"] = seconds.into();
        }
        let restrictions = self.restrictions();
        if !restrictions.is_empty() {
            content["_r"] = restrictions.into();
        }
        content
    }

    fn restrictions(&self) -> Map<String, Value> {
        let mut all = json!({});
        for action in &self.all {
            push(&mut all["a"], action);
        }
        for words in self.database.chunks_exact(2) {
            push(&mut all["d"][&words[0]], &words[1]);
        }
        for words in self.resource.chunks_exact(3) {
            push(&mut all["r"][&words[0]][&words[1]], &words[2]);
        }
        all.as_object().cloned().unwrap_or_default()
    }
}

/// Adds an action to a list, under its short name if it has one. An action that is not known here may be
/// known to the server that the token is for.
fn push(list: &mut Value, action: &str) {
    let known = Action::ALL.into_iter().find(|known| known.name() == action);
    let name = known.map_or(action, |known| known.abbreviation());
    match list {
        Value::Array(list) => list.push(name.into()),
        empty => *empty = json!([name]),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        token: CreateToken,
    }

    fn content(words: &str) -> Value {
        let words = format!("create-token ann --secret s {words}");
        Line::try_parse_from(words.split_whitespace())
            .expect("a command line")
            .token
            .content(100)
    }

    #[test]
    fn a_token_says_whose_it_is_and_from_when() {
        assert_eq!(content(""), json!({"a": "ann", "t": 100}));
        assert_eq!(content("-e 60"), json!({"a": "ann", "t": 100, "d": 60}));
    }

    #[test]
    fn what_it_may_do_is_listed_by_level() {
        let content = content(
            "--all view-instance -a view-table -d data execute-sql --database data insert-row
             -r data t view-table --resource data u view-table",
        );
        assert_eq!(
            content["_r"],
            json!({
                "a": ["vi", "vt"],
                "d": {"data": ["es", "insert-row"]},
                "r": {"data": {"t": ["vt"], "u": ["vt"]}}
            })
        );
    }
}
