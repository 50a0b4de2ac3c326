//! What the pages share, and the server that calls them.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::http::header::HeaderValue;
use actix_web::rt::net::{TcpSocket, TcpStream};
use actix_web::{HttpRequest, HttpResponse, web};

use super::access_log::Line;
use super::answers::Answers;
use super::current::Current;
use super::lenient::Lenient;
use super::login::RootLogin;
use super::request::Request;
use super::respond::Additions;
use super::routes::{self, Route};
pub use super::shutdown::Stopped;
use super::special::Fixed;
use super::statics::Statics;
use super::templates::Templates;
use super::{
    browser, compression, dispatch, errors, incoming, respond, security, shutdown, versions,
};
use crate::auth::{Access, AccessOptions, Asker, Signer, identify};
use crate::config::Config;
use crate::db::Registry;
use crate::engine::Engine;
use crate::error::Error;
use crate::table::extras::kept::KeptExtras;
use crate::text::tilde;

/// A connection that asks for nothing is closed after this long.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A client may take this long to send the head of a request.
const SLOW_CLIENT: Duration = Duration::from_secs(10);
/// Connections that wait to be accepted, beyond which the kernel refuses.
const BACKLOG: u32 = 2048;
/// A client may take this long to notice that its connection is being closed.
const DISCONNECT: Duration = Duration::from_secs(1);

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
    /// `--cors`
    pub cors: bool,
    /// `--access-log`
    pub access_log: bool,
}

impl App {
    /// Puts the parts together and makes those that follow from them.
    ///
    /// # Errors
    /// One sentence: a template does not compile, or SQLite does not work at all.
    pub fn new(config: Config, registry: Registry, engine: Engine) -> Result<Self, String> {
        let statics = Statics::built_in();
        let cache_bytes = config.settings.result_cache_mb.saturating_mul(1 << 20);
        Ok(Self {
            templates: Templates::built_in(&config, &statics)?,
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
            policy: HeaderValue::from_str(&security::policy(&config)).ok(),
            config,
            registry,
            engine,
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
    fn first_path(&self) -> String {
        let mut databases = self.registry.databases();
        match (&self.root_path, databases.next(), databases.next()) {
            (Some(path), ..) => path.clone(),
            (None, Some(only), None) => format!("/{}", tilde::encode(only.name.as_bytes())),
            _ => "/".to_owned(),
        }
    }
}

/// Where to listen.
#[derive(Debug, Clone)]
pub struct Listen {
    /// A name or an address.
    pub host: String,
    /// The port; 0 for any.
    pub port: u16,
    /// Threads that speak HTTP; `None` for one a core.
    pub workers: Option<usize>,
    /// Open a browser when it listens.
    pub open: bool,
}

/// Serves until told to stop. Prints `Serving on http://…/` when it listens.
///
/// # Errors
/// One sentence: the address cannot be listened on, or the server broke.
pub async fn serve(current: Arc<Current>, listen: &Listen) -> Result<Stopped, String> {
    let app = current.get();
    let place = format!("{}:{}", listen.host, listen.port);
    let grace = Duration::from_millis(app.config.settings.shutdown_grace_ms);
    let base = app.config.settings.base_url.clone();
    let root_path = app.root_path.clone();
    let first_path = app.first_path();
    drop(app);
    // Of the addresses that a name has, the first that works: with port 0 two would get two ports.
    let addresses = (listen.host.as_str(), listen.port)
        .to_socket_addrs()
        .map_err(|error| format!("cannot listen on {place}: {error}"))?;
    let mut bound = Err(io::Error::other("no address of that name"));
    for address in addresses {
        bound = bind(address);
        if bound.is_ok() {
            break;
        }
    }
    let started = bound.and_then(|listener| {
        let address = listener.local_addr()?;
        let answer = move |http| handle(current.get(), http);
        Ok((address, server(answer, listen.workers, listener, grace)?))
    });
    let (address, server) = started.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => format!("cannot listen on {place}: the port is taken"),
        _ => format!("cannot listen on {place}: {error}"),
    })?;
    let mut out = io::stdout().lock();
    // Nobody may be reading; that is no reason not to serve.
    let _ = writeln!(out, "Serving on http://{address}{base}");
    if let Some(path) = root_path {
        let base = base.trim_end_matches('/');
        let _ = writeln!(out, "Log in as root: http://{address}{base}{path}");
    }
    let _ = out.flush();
    drop(out);
    if listen.open {
        browser::open(
            address,
            &format!("{}{first_path}", base.trim_end_matches('/')),
        );
    }
    shutdown::run(server, grace)
        .await
        .map_err(|error| format!("the server stopped: {error}"))
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A server started again may take the port over from connections that linger.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// What `actix_web::HttpServer` would set up, but for `Lenient`, which it has no place for.
/// `answer` gets every request. `workers` threads speak HTTP, `None` for one a core; `grace` is
/// how long running requests may take once the server is told to stop.
///
/// # Errors
/// The listener has no address, or a thread could not be started.
pub fn server<A, F>(
    answer: A,
    workers: Option<usize>,
    listener: TcpListener,
    grace: Duration,
) -> io::Result<Server>
where
    A: Fn(HttpRequest) -> F + Clone + Send + 'static,
    F: Future<Output = HttpResponse> + 'static,
{
    let address = listener.local_addr()?;
    let builder = Server::build()
        .disable_signals()
        // `shutdown` counts the grace; this bound only has to be longer.
        .shutdown_timeout(grace.as_secs() + 2);
    let builder = match workers {
        Some(workers) => builder.workers(workers),
        None => builder,
    };
    let stopping = builder.graceful_shutdown_signal();
    let connections = move || {
        let answer = answer.clone();
        let pages =
            actix_web::App::new().default_service(web::to(move |http: HttpRequest| answer(http)));
        let stopping = stopping.clone();
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(SLOW_CLIENT)
            .client_disconnect_timeout(DISCONNECT)
            // A client that has gone drops its handler, which cancels its SQL.
            .h1_allow_half_closed(false)
            .local_addr(address)
            // Connections that wait for a next request close at once when the server stops.
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .h1(map_config(pages, |()| AppConfig::default()));
        fn_service(|socket: TcpStream| async {
            // Speed is all that is lost without it.
            let _ = socket.set_nodelay(true);
            let peer = socket.peer_addr().ok();
            Ok::<_, DispatchError>((Lenient::new(socket), peer))
        })
        .and_then(http)
    };
    Ok(builder.listen("http", listener, connections)?.run())
}

/// Answers one request, whatever it is: what goes wrong is an answer too.
pub async fn handle(app: Arc<App>, http: HttpRequest) -> HttpResponse {
    let (mut request, terms) = incoming::read(&http, &app.config.settings);
    let line = app
        .access_log
        .then(|| Line::begin(&request.method, &request.full_path()));
    let route = routes::resolve(&request.path);
    let is_file = matches!(route, Route::Static(_) | Route::Favicon);
    let answered = match identify(&app.signer, &app.config.settings, terms.identity) {
        Ok(actor) => {
            request.actor = actor;
            caught(dispatch::answer(&app, request, &terms, route)).await
        }
        Err(error) => Ok(Err(error)),
    };
    let answered = answered.unwrap_or_else(|panic| Err(Error::Internal(panic_text(&*panic))));
    let response = answered.unwrap_or_else(|error| errors::answer(&app, &terms, &error));
    let response = compression::apply(&terms, response).await;
    let additions = Additions {
        policy: app.policy.as_ref(),
        cors: app.cors,
        is_static: is_file && matches!(response.status, 200 | 304),
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
