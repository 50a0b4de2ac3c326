//! What the pages share, and the way of each request to its answer.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
#[cfg(test)]
use std::time::Duration;

use actix_web::http::header::HeaderValue;
use actix_web::{HttpRequest, HttpResponse};

use super::access_log::Line;
use super::answers::Answers;
use super::login::RootLogin;
use super::mounts::Mounts;
use super::pages::{self, Pages};
use super::request::Request;
use super::respond::Additions;
use super::routes::{self, Route};
use super::special::Fixed;
use super::statics::Statics;
use super::templates::Templates;
use super::{compression, dispatch, errors, incoming, respond, security, versions};
use crate::auth::{Access, AccessOptions, Asker, Signer, identify};
use crate::config::Config;
use crate::db::Registry;
use crate::engine::Engine;
use crate::error::Error;
use crate::table::extras::kept::KeptExtras;
use crate::text::tilde;

/// One part in so many of the cache is for extras, which are small beside whole answers.
const EXTRAS: u64 = 4;

/// Everything that answering a request needs; made once, changed never.
pub struct App {
    /// Settings, metadata and options.
    pub config: Config,
    /// The databases.
    pub registry: Registry,
    /// The pool that runs SQL.
    pub engine: Engine,
    /// Answers that are kept while their databases stay the same.
    pub(super) answers: Answers,
    /// Extras of tables that are kept the same way.
    pub(super) extras: KeptExtras,
    /// The HTML templates.
    pub templates: Templates,
    /// The files of the program.
    pub statics: Statics,
    /// The folders of `--static`.
    pub mounts: Mounts,
    /// The site's custom pages.
    pub(super) pages: Pages,
    /// Pages that say the same as long as the program runs.
    pub(super) fixed: Fixed,
    /// Who may do what.
    pub access: Access,
    /// Signs cookies and reads them.
    pub signer: Signer,
    /// The way in for `--root`.
    pub(super) root_login: RootLogin,
    /// Where `--root` lets in whoever asks first: a path below `base_url`.
    pub root_path: Option<String>,
    /// The `Content-Security-Policy` of pages; none for templates that are not ours.
    pub policy: Option<HeaderValue>,
    /// Whether it is reached by HTTPS without a proxy.
    pub is_https: bool,
    /// `--cors`
    pub cors: bool,
    /// `--access-log`
    pub access_log: bool,
}

/// What a site brings along besides its databases.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// `--template-dir`
    pub template_dir: Option<PathBuf>,
    /// `--static`: mounts with their folders.
    pub statics: Vec<(String, PathBuf)>,
}

impl App {
    /// Puts the parts together and makes those that follow from them.
    ///
    /// # Errors
    /// One sentence: a template does not compile, or SQLite does not work at all.
    pub fn new(config: Config, registry: Registry, engine: Engine) -> Result<Self, String> {
        Self::with_site(config, registry, engine, &Site::default())
    }

    /// The same with a site's own templates and files.
    ///
    /// # Errors
    /// One sentence, besides the above on a template or a folder that is not as it should be.
    pub fn with_site(
        config: Config,
        registry: Registry,
        engine: Engine,
        site: &Site,
    ) -> Result<Self, String> {
        let statics = Statics::built_in();
        let templates = Templates::new(&config, &statics, site.template_dir.as_deref())?;
        // Templates of a site may have scripts in them: what its pages may do is for the site to say.
        let policy = if templates.has_own() {
            None
        } else {
            HeaderValue::from_str(&security::policy(&config)).ok()
        };
        let cache_bytes = config.settings.result_cache_mb.saturating_mul(1 << 20);
        Ok(Self {
            pages: Pages::of(&templates)?,
            templates,
            mounts: Mounts::new(&site.statics)?,
            fixed: Fixed::new(
                &config,
                versions::versions(config.version_note.as_deref())
                    .map_err(|error| format!("SQLite: {error}"))?,
            ),
            statics,
            answers: Answers::new(cache_bytes - cache_bytes / EXTRAS),
            extras: KeptExtras::new(cache_bytes / EXTRAS),
            access: Access::new(config.raw(), config.access_options()),
            signer: Signer::with_random_secret(),
            root_login: RootLogin::default(),
            root_path: None,
            policy,
            config,
            registry,
            engine,
            is_https: false,
            cors: false,
            access_log: false,
        })
    }

    /// Who sent a request, under the rules.
    pub fn asker<'a>(&'a self, request: &'a Request) -> Asker<'a> {
        Asker::new(&self.access, request.actor.as_deref())
    }

    /// `--root`: opens the way in for the actor `root`, who may do all that no rule
    /// forbids. Returns the path that lets in whoever asks for it first.
    pub fn let_root_in(&mut self) -> String {
        let options = AccessOptions {
            root: true,
            ..self.access.options()
        };
        self.access = Access::new(self.config.raw(), options);
        self.root_login.open()
    }

    /// Leaves the way in for `root` as it was: open until somebody has come in.
    pub fn keep_login_of(&mut self, old: &Self) {
        self.root_login = old.root_login.clone();
        self.root_path.clone_from(&old.root_path);
    }

    /// The path, below `base_url`, of the page to show first: of the database, if there is only one.
    pub(super) fn first_path(&self) -> String {
        let mut databases = self.registry.databases();
        match (&self.root_path, databases.next(), databases.next()) {
            (Some(path), ..) => path.clone(),
            (None, Some(only), None) => format!("/{}", tilde::encode(only.name.as_bytes())),
            _ => "/".to_owned(),
        }
    }
}

/// Answers one request, whatever it is: what goes wrong is an answer too.
pub async fn handle(app: Arc<App>, http: HttpRequest) -> HttpResponse {
    let (mut request, terms) = incoming::read(&http, &app.config.settings);
    if app.is_https {
        request.scheme = "https";
    }
    let line = app
        .access_log
        .then(|| Line::begin(&request.method, &request.full_path()));
    let mounted = app.mounts.find(&request.path).map(Route::Mounted);
    let route = mounted.unwrap_or_else(|| routes::resolve(&request.path));
    let is_file = matches!(route, Route::Static(_) | Route::Favicon | Route::Mounted(_));
    let mut actor = None;
    let answered = match identify(&app.signer, &app.config.settings, terms.identity) {
        Ok(known) => {
            actor.clone_from(&known);
            request.actor = known;
            caught(dispatch::answer(&app, request, &terms, route)).await
        }
        Err(error) => Ok(Err(error)),
    };
    let answered = answered.unwrap_or_else(|panic| Err(Error::Internal(panic_text(&*panic))));
    let mut policy = app.policy.as_ref();
    let response = answered.unwrap_or_else(|error| {
        if let Some(page) = pages::instead(&app, &http, &terms, &error, actor) {
            // The page is the site's, and so is what it may do.
            policy = None;
            return page;
        }
        errors::answer(&app, &terms, &error)
    });
    let response = compression::apply(&terms, response).await;
    let additions = Additions {
        policy,
        cors: app.cors,
        is_static: is_file && matches!(response.status, 200 | 206 | 304),
    };
    respond::finish(&terms, response, additions, line)
}

/// Awaits a future and catches its panic: a panic costs one response, not the
/// connections of a whole worker.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    format!("a page panicked: {text}")
}

/// An app over the in-memory database, for tests.
#[cfg(test)]
pub fn test_app() -> App {
    use crate::db::{OpenOptions, Source};
    use crate::engine::{EngineOptions, ExtrasMode};

    let engine = Engine::new(&EngineOptions {
        threads: 1,
        mode: ExtrasMode::Auto,
        max_pages: 0,
        page_wait: Duration::from_secs(1),
    })
    .expect("a pool");
    let options = OpenOptions {
        connections: 2,
        ..OpenOptions::default()
    };
    let report = Registry::open(vec![Source::Memory], &options);
    App::new(Config::default(), report.registry, engine).expect("an app")
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use actix_web::test::TestRequest;

    async fn ask(app: &Arc<App>, path: &str) -> HttpResponse {
        handle(
            Arc::clone(app),
            TestRequest::with_uri(path).to_http_request(),
        )
        .await
    }

    #[actix_web::test]
    async fn a_request_goes_through_all_steps() {
        let app = Arc::new(test_app());
        let response = ask(&app, "/-/actor.json").await;
        assert_eq!(response.status(), 200);
        let body = to_bytes(response.into_body()).await.expect("a body");
        assert_eq!(body, r#"{"ok":true,"actor":null}"#);
        assert_eq!(ask(&app, "/no/such/page/here").await.status(), 404);
        assert_eq!(ask(&app, "/-/versions/").await.status(), 302);
        assert_eq!(ask(&app, "/-/static/app.css").await.status(), 200);
    }

    #[actix_web::test]
    async fn a_panic_is_caught_with_its_text() {
        let panic = caught(async { panic!("no {}", "luck") })
            .await
            .expect_err("a panic");
        assert_eq!(panic_text(&*panic), "a page panicked: no luck");
        assert_eq!(caught(async { 5 }).await.ok(), Some(5));
    }
}
