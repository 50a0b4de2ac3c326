//! What is wrong with a template, in one line that names the file and the line.

use std::path::Path;

use tera::{Error, ErrorKind};

use super::folder::File;

/// A template error that keeps the program from starting, as one line.
pub fn one_line(error: &Error, files: &[File]) -> String {
    let place = |name: &str| {
        let file = files.iter().find(|file| file.name == name);
        let path = file.map_or(Path::new(name), |file| &file.path);
        path.display().to_string()
    };
    match error.kind() {
        ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) => format!(
            "{}:{}: {}",
            place(report.filename()),
            report.span().start_line,
            report.message()
        ),
        ErrorKind::MissingParent { current, parent } => format!(
            "{}: it extends {parent:?}, and there is no such template",
            place(current)
        ),
        ErrorKind::CircularExtend { tpl, .. } => format!(
            "{}: it extends itself; the template of the program is called {:?}",
            place(tpl),
            default_of(tpl)
        ),
        ErrorKind::CircularInclude { tpl, .. } => format!(
            "{}: it includes itself; the template of the program is called {:?}",
            place(tpl),
            default_of(tpl)
        ),
        other => of_report(&other.to_string(), place),
    }
}

/// The name of the program's own template under a name that the site uses too.
fn default_of(name: &str) -> String {
    format!("default:{}", name.trim_start_matches("default:"))
}

/// Tera writes what it finds after parsing as text for a terminal: the message, then
/// an arrow and `file:line:column`, then the source. The first of them is told.
fn of_report(report: &str, place: impl Fn(&str) -> String) -> String {
    let message = report
        .lines()
        .find_map(|line| line.strip_prefix("error: "))
        .or_else(|| report.lines().next())
        .unwrap_or_default();
    let arrow = report
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("--> "));
    let mut parts = arrow.unwrap_or_default().rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(line), Some(name)) => format!("{}:{line}: {message}", place(name)),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tera::Tera;

    fn told(name: &str, source: &str) -> String {
        let file = File {
            name: name.to_owned(),
            path: Path::new("/site").join(name),
            source: source.to_owned(),
        };
        let error = Tera::new()
            .add_raw_templates([(name, source)])
            .expect_err("it is wrong");
        one_line(&error, &[file])
    }

    #[test]
    fn every_kind_of_mistake_is_one_line_with_its_place() {
        for (source, start, words) in [
            ("a\n{% if x %}", "/site/x.html:2: ", ""),
            ("a\n\n{{ x | nothing }}", "/site/x.html:3: ", "nothing"),
            (
                "{% include \"gone.html\" %}",
                "/site/x.html:1: ",
                "gone.html",
            ),
            ("{% extends \"gone.html\" %}", "/site/x.html: ", "gone.html"),
            (
                "{% extends \"x.html\" %}",
                "/site/x.html: ",
                "default:x.html",
            ),
            (
                "{% include \"x.html\" %}",
                "/site/x.html: ",
                "default:x.html",
            ),
            ("{{ nothing() }}", "/site/x.html:1: ", "nothing"),
        ] {
            let told = told("x.html", source);
            assert!(told.starts_with(start), "{source}: {told}");
            assert!(told.contains(words), "{source}: {told}");
            assert!(!told.contains('\n'), "{told}");
        }
    }
}
