//! docs/options.md and docs/settings.md name every option and every setting, and
//! their examples do what they say.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::extension::compile;
use crate::server::Site;

const OPTIONS: &str = include_str!("../../docs/options.md");
const SETTINGS: &str = include_str!("../../docs/settings.md");

fn printed(words: &[&str]) -> String {
    let ended = Site::new().args(words).run_to_end();
    assert_eq!(ended.code, Some(0), "{words:?}");
    ended.stdout
}

/// The first words of the lines of a help text that begin with a hyphen.
fn options(help: &str) -> Vec<&str> {
    help.lines()
        .flat_map(|line| {
            line.split([' ', ','])
                .filter(|word| !word.is_empty())
                .take(2)
        })
        .filter(|word| word.len() > 1 && word.starts_with('-'))
        .map(|word| word.trim_end_matches("..."))
        .collect()
}

#[test]
fn every_option_is_in_the_docs() {
    for command in ["serve", "demo", "inspect", "create-token"] {
        let help = printed(&[command, "--help"]);
        let options = options(&help);
        assert!(options.len() > 2, "{help}");
        for option in options {
            let named = [format!("`{option}`"), format!("`{option} ")];
            assert!(
                named.iter().any(|named| OPTIONS.contains(named)),
                "{option} of {command}"
            );
        }
    }
}

#[test]
fn every_setting_is_in_the_docs_with_its_default() {
    let help = printed(&["--help-settings"]);
    let lines: Vec<_> = help.lines().collect();
    let settings = lines.windows(2).filter_map(|pair| {
        let name = pair[0]
            .strip_prefix("  ")
            .filter(|name| !name.contains(' '))?;
        let default = pair[1].rsplit_once("default ")?.1.trim_end_matches(')');
        Some((name, default))
    });
    let settings: Vec<_> = settings.collect();
    assert!(settings.len() > 20, "{help}");
    for (name, default) in settings {
        let heading = format!("### `{name}`\n");
        let (_, section) = SETTINGS.split_once(&heading).expect(name);
        let section = section.split("\n### ").next().unwrap();
        let default = match default {
            "true" => "on",
            "false" => "off",
            other => other,
        };
        let said = [
            format!("Default: {default}."),
            format!("Default: `{default}`."),
        ];
        assert!(
            said.iter().any(|said| section.contains(said)),
            "{name}: {default}"
        );
        assert!(
            section.contains(&format!("--setting {name} ")),
            "{name} has an example"
        );
    }
}

/// The lines of the examples, each with what its output must hold.
fn examples(page: &str) -> Vec<(&str, &str)> {
    let mut examples = Vec::new();
    let mut blocks = page.split("```").skip(1).step_by(2).peekable();
    while let Some(block) = blocks.next() {
        let Some(lines) = block.strip_prefix("sh\n") else {
            continue;
        };
        let expected = blocks.peek().and_then(|next| next.strip_prefix("text\n"));
        let lines: Vec<_> = lines.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            assert!(line.starts_with("turntable "), "{line}");
            let is_last = n + 1 == lines.len();
            let expected = expected.filter(|_| is_last).unwrap_or_default();
            examples.push((*line, expected.trim_end()));
        }
    }
    examples
}

/// A folder with everything that the examples name.
fn files() -> Site {
    let cities = r#"create table cities(id integer primary key, name text, country text, tags text);
        insert into cities values (1, 'Lisbon', 'PT', '["sea", "hills"]'), (2, 'Lagos', 'NG', '["sea"]'),
            (3, 'Lima', 'PE', '[]');"#;
    let files = Site::new();
    for folder in ["templates", "static", "site"] {
        std::fs::create_dir(files.path(folder)).unwrap();
    }
    for name in ["data", "other", "site/data"] {
        files.make(name, cities);
    }
    files.write("static/style.css", "body {}");
    files.write(
        "metadata.yaml",
        "databases: {data: {tables: {cities: {title: Cities of the world}}}}",
    );
    files.write("site/metadata.yaml", "title: Cities");
    files.write(
        "datasette.yaml",
        "plugins: {map: {api_key: {$env: MAP_KEY}}}\n",
    );
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    files.write("cert.pem", made.cert.pem());
    files.write("key.pem", made.signing_key.serialize_pem());
    files.write("xdg-open", "#!/bin/sh\n");
    compile(&files.path(""));
    files
}

/// Runs a line in the folder, as a shell would.
fn run(line: &str, folder: &Path) -> Child {
    let program = Path::new(env!("CARGO_BIN_EXE_turntable")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    Command::new("sh")
        .args(["-c", &format!("exec {line}")])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:{}:{path}", folder.display(), program.display()),
        )
        .env("XDG_CACHE_HOME", folder)
        .env("MAP_KEY", "secret")
        .env_remove("DATASETTE_SECRET")
        .env_remove("DATASETTE_LOAD_EXTENSION")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Whether a line ends by itself.
fn ends(line: &str) -> bool {
    let words = [
        "--get",
        "--help",
        "--help-settings",
        "--version",
        "inspect",
        "create-token",
        "plugins",
    ];
    line.split(' ').any(|word| words.contains(&word))
}

fn check(page: &str) {
    let files = files();
    let folder = files.path("");
    let examples = examples(page);
    assert!(examples.len() > 20);
    for (line, expected) in examples {
        if ends(line) {
            let output = run(line, &folder).wait_with_output().unwrap();
            let out = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{line}: {output:?}");
            assert!(out.contains(expected), "{line}: {out}");
        } else {
            assert_eq!(expected, "", "{line} prints nothing to compare");
            serves(line, &folder);
        }
    }
}

/// Starts a server, asks it once and stops it.
fn serves(line: &str, folder: &Path) {
    let mut child = run(&format!("{line} -p 0"), folder);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().and_then(Result::ok);
    let Some((_, url)) = first
        .as_deref()
        .and_then(|line| line.split_once("Serving on "))
    else {
        let output = child.wait_with_output();
        panic!("{line}: {first:?} {output:?}");
    };
    let url = url.replace("0.0.0.0", "127.0.0.1");
    // Those that take more to be asked have tests of their own.
    if url.starts_with("http://") {
        ask(line, &url);
    }
    let kill = format!("kill -TERM {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0), "{line}");
}

fn ask(line: &str, url: &str) {
    let answer = ureq::get(format!("{url}-/versions.json"))
        .config()
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .call()
        .unwrap();
    let status = answer.status().as_u16();
    let expected = if line.contains("--default-deny") {
        403
    } else {
        200
    };
    assert_eq!(status, expected, "{line}");
}

#[test]
fn the_examples_of_the_options_work() {
    check(OPTIONS);
}

#[test]
fn the_examples_of_the_settings_work() {
    check(SETTINGS);
}
