//! Files that are served with `--static`.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::server::{Raw, Server, Site};

fn site() -> Site {
    let site = Site::of("create table t (x)");
    fs::create_dir_all(site.path("files/sub")).unwrap();
    site.write("files/a.css", "body { color: red }");
    site.write("files/sub/b c.js", "1");
    site.write("files/.secret", "no");
    site.write("outside.txt", "no");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(site.path("outside.txt"), site.path("files/link.txt")).unwrap();
        symlink(site.path("files/a.css"), site.path("files/inside.css")).unwrap();
        symlink(site.path("."), site.path("files/up")).unwrap();
    }
    site.args(&["--static", "css:files", "--static", "deep/er:files/sub"])
}

fn served() -> Server {
    site().start()
}

#[test]
fn a_file_has_its_media_type_and_headers_that_caches_go_by() {
    let server = served();
    let file = server.get("/css/a.css").ok();
    assert_eq!(file.text(), "body { color: red }");
    assert_eq!(file.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(file.header("content-length"), Some("19"));
    assert_eq!(file.header("cache-control"), Some("no-cache"));
    assert_eq!(server.text("/css/sub/b%20c.js"), "1");
    assert_eq!(server.text("/deep/er/b%20c.js?v=2"), "1");
    let head = server.head("/css/a.css").ok();
    assert_eq!(head.header("content-length"), Some("19"));
    for header in ["etag", "last-modified"] {
        assert_eq!(head.header(header), file.header(header));
        assert!(head.header(header).is_some(), "{header}");
    }
}

#[test]
fn nothing_outside_of_the_folder_and_nothing_hidden_is_served() {
    let server = served();
    let mut paths = vec![
        "/css/../outside.txt",
        "/css/%2e%2e/outside.txt",
        "/css/..%2foutside.txt",
        "/css/..%5coutside.txt",
        "/css/sub/../../outside.txt",
        "/css//etc/passwd",
        "/css/%2fetc/passwd",
        "/css/.secret",
        "/css/sub/../.secret",
        "/css/a.css%00.txt",
        "/css/none.css",
        "/css/a.css/x",
    ];
    if cfg!(unix) {
        paths.extend(["/css/link.txt", "/css/up/outside.txt", "/css/up/data.db"]);
        assert_eq!(server.text("/css/inside.css"), "body { color: red }");
    }
    for path in paths {
        // Not through a client that would tidy the path.
        let mut raw = Raw::connect(&server);
        raw.ask(path);
        let answer = raw.read();
        assert!(
            matches!(answer.status, 404 | 302 | 403),
            "{path}: {answer:?}"
        );
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(
            body.trim() != "no" && !body.contains("root:"),
            "{path}: {body}"
        );
    }
}

#[test]
fn folders_are_not_listed() {
    let server = served();
    for path in ["/css/", "/css/sub", "/css/sub/"] {
        let page = server.get(path).with_status(403).text();
        assert!(!page.contains("b c.js"), "{page}");
    }
    server.get("/css").with_status(404);
}

#[test]
fn a_client_that_has_the_file_is_told_so_until_it_changes() {
    let server = served();
    let first = server.get("/css/a.css").ok();
    let tag = first.header("etag").unwrap().to_owned();
    let date = first.header("last-modified").unwrap().to_owned();
    let known = server.get_with("/css/a.css", &[("if-none-match", &tag)]);
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), Some(tag.as_str()));
    let since = server.get_with("/css/a.css", &[("if-modified-since", &date)]);
    assert_eq!(since.status, 304);
    // The same length, in place, with the same time: the tag is another all the same.
    let path = server.path("files/a.css");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "body { color: tan }").unwrap();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    let changed = server
        .get_with("/css/a.css", &[("if-none-match", &tag)])
        .ok();
    assert_eq!(changed.text(), "body { color: tan }");
    // The tag goes before the date.
    let both = [
        ("if-none-match", tag.as_str()),
        ("if-modified-since", date.as_str()),
    ];
    server.get_with("/css/a.css", &both).ok();
    let old = SystemTime::now() - Duration::from_hours(1000);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(old)
        .unwrap();
    server
        .get_with("/css/a.css", &[("if-modified-since", &date)])
        .with_status(304);
}

#[test]
fn a_part_of_a_file_can_be_asked_for() {
    let server = served();
    let part = server
        .get_with("/css/a.css", &[("range", "bytes=5-6")])
        .with_status(206);
    assert_eq!(part.text(), "{ ");
    assert_eq!(part.header("content-range"), Some("bytes 5-6/19"));
    assert_eq!(part.header("content-length"), Some("2"));
    let tag = part.header("etag").unwrap().to_owned();
    let last = server.get_with("/css/a.css", &[("range", "bytes=-1"), ("if-range", &tag)]);
    assert_eq!((last.status, last.text().as_str()), (206, "}"));
    let other = server.get_with(
        "/css/a.css",
        &[("range", "bytes=-1"), ("if-range", "\"x\"")],
    );
    assert_eq!((other.status, other.body.len()), (200, 19));
    let beyond = server
        .get_with("/css/a.css", &[("range", "bytes=19-")])
        .with_status(416);
    assert_eq!(beyond.header("content-range"), Some("bytes */19"));
}

#[test]
fn text_is_compressed_and_parts_are_not() {
    let site = site();
    site.write("files/long.css", "a { color: red }\n".repeat(1000));
    let server = site.start();
    let gzip = ("accept-encoding", "gzip");
    let whole = server.get_with("/css/long.css", &[gzip]).ok();
    assert_eq!(whole.header("content-encoding"), Some("gzip"));
    assert_eq!(whole.header("vary"), Some("Accept-Encoding"));
    let tag = whole.header("etag").unwrap();
    let known = server.get_with("/css/long.css", &[gzip, ("if-none-match", tag)]);
    assert_eq!(known.status, 304);
    let part = server.get_with("/css/long.css", &[gzip, ("range", "bytes=0-1")]);
    assert_eq!((part.status, part.header("content-encoding")), (206, None));
    assert_eq!(part.text(), "a ");
}

#[test]
fn a_large_file_comes_whole() {
    let site = site();
    let content: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    site.write("files/large.bin", &content);
    let server = site.start();
    let file = server.get("/css/large.bin").ok();
    assert!(file.body == content);
    let part = server.get_with("/css/large.bin", &[("range", "bytes=1000000-1999999")]);
    assert!(part.body == content[1_000_000..2_000_000]);
}

#[test]
fn a_mount_goes_before_a_database_of_its_name_and_keeps_to_the_prefix() {
    let site = site()
        .args(&["--static", "data:files"])
        .setting("base_url", "/pre/");
    let server = site.start();
    assert_eq!(server.text("/pre/data/a.css"), "body { color: red }");
    assert_eq!(server.text("/data/a.css"), "body { color: red }");
    server.get("/pre/data").ok();
}
