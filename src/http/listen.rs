//! Where the server listens: an address or a Unix socket, with TLS or without.

use std::future::Future;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{ServiceFactory, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::{TcpSocket, TcpStream, UnixStream};
use actix_web::{HttpRequest, HttpResponse, web};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::app::handle;
use super::browser;
use super::current::Current;
use super::lenient::Lenient;
use super::shutdown::{self, Signals, Stopped};
pub use super::tls::TlsFiles;

/// A connection that asks for nothing is closed after this long.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A client may take this long to send the head of a request, and to agree on TLS.
const SLOW_CLIENT: Duration = Duration::from_secs(10);
/// Connections that wait to be accepted, beyond which the kernel refuses.
const BACKLOG: u32 = 2048;
/// A client may take this long to notice that its connection is being closed.
const DISCONNECT: Duration = Duration::from_secs(1);
/// Who may connect to a Unix socket: everybody who can reach its folder.
const SOCKET_MODE: u32 = 0o666;

/// Where to listen.
#[derive(Debug, Clone)]
pub struct Listen {
    /// The address or the socket.
    pub place: Place,
    /// For HTTPS.
    pub tls: Option<TlsFiles>,
    /// Threads that speak HTTP; `None` for one a core.
    pub workers: Option<usize>,
    /// Open a browser when it listens.
    pub open: bool,
}

/// An address or a socket.
#[derive(Debug, Clone)]
pub enum Place {
    /// TCP.
    Tcp {
        /// A name or an address.
        host: String,
        /// The port; 0 for any.
        port: u16,
    },
    /// A Unix socket; one that a server left behind is replaced.
    Unix(PathBuf),
}

/// What is listened on.
pub enum Bound {
    /// TCP.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

/// Serves until told to stop. Prints `Serving on http://…/` when it listens.
///
/// # Errors
/// One sentence: the address cannot be listened on, a certificate is not right, or the server broke.
pub async fn serve(current: Arc<Current>, listen: &Listen) -> Result<Stopped, String> {
    let app = current.get();
    let grace = Duration::from_millis(app.config.settings.shutdown_grace_ms);
    let base = app.config.settings.base_url.clone();
    let root_path = app.root_path.clone();
    let first_path = app.first_path();
    drop(app);
    let tls = listen.tls.as_ref().map(TlsFiles::acceptor).transpose()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let bound = listen.place.bind()?;
    let origin = bound.origin(scheme, &listen.place);
    let address = bound.address();
    let answer = move |http| handle(current.get(), http);
    let server = server(answer, listen.workers, bound, tls, grace)
        .map_err(|error| format!("cannot listen on {}: {error}", listen.place))?;
    // Whoever reads that it serves may tell it to stop.
    let signals =
        Signals::listen().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let mut out = io::stdout().lock();
    // Nobody may be reading; that is no reason not to serve.
    let _ = writeln!(out, "Serving on {origin}{base}");
    let below = base.trim_end_matches('/');
    if let Some(path) = root_path {
        let _ = writeln!(out, "Log in as root: {origin}{below}{path}");
    }
    let _ = out.flush();
    drop(out);
    if listen.open
        && let Some(address) = address
    {
        browser::open(scheme, address, &format!("{below}{first_path}"));
    }
    let stopped = shutdown::run(server, signals, grace)
        .await
        .map_err(|error| format!("the server stopped: {error}"));
    if let Place::Unix(path) = &listen.place {
        // Somebody may have put another there.
        let _ = std::fs::remove_file(path);
    }
    stopped
}

impl Place {
    /// Listens.
    ///
    /// # Errors
    /// One sentence with the place in it.
    pub fn bind(&self) -> Result<Bound, String> {
        let bound = match self {
            Self::Tcp { host, port } => bind_any(host, *port).map(Bound::Tcp),
            Self::Unix(path) => bind_unix(path).map(Bound::Unix),
        };
        bound.map_err(|error| match (error.kind(), self) {
            (io::ErrorKind::AddrInUse, Self::Tcp { .. }) => {
                format!("cannot listen on {self}: the port is taken")
            }
            (io::ErrorKind::AddrInUse, Self::Unix(_)) => {
                format!("cannot listen on {self}: another server does, or it is no socket")
            }
            _ => format!("cannot listen on {self}: {error}"),
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Bound {
    /// The address; none of a Unix socket.
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    /// The beginning of the URLs.
    fn origin(&self, scheme: &str, place: &Place) -> String {
        match self.address() {
            Some(address) => format!("{scheme}://{address}"),
            None => format!("{scheme}+unix:{place}:"),
        }
    }
}

/// Of the addresses that a name has, the first that works: with port 0 two would get two ports.
fn bind_any(host: &str, port: u16) -> io::Result<TcpListener> {
    let mut bound = Err(io::Error::other("no address of that name"));
    for address in (host, port).to_socket_addrs()? {
        bound = bind(address);
        if bound.is_ok() {
            break;
        }
    }
    bound
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

fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let is_socket = path
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_socket());
    if is_socket && StdUnixStream::connect(path).is_err() {
        // Nobody listens there any more.
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok(listener)
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
    bound: Bound,
    tls: Option<TlsAcceptor>,
    grace: Duration,
) -> io::Result<Server>
where
    A: Fn(HttpRequest) -> F + Clone + Send + 'static,
    F: Future<Output = HttpResponse> + 'static,
{
    let builder = Server::build()
        .disable_signals()
        // `shutdown` counts the grace; this bound only has to be longer.
        .shutdown_timeout(grace.as_secs() + 2);
    let builder = match workers {
        Some(workers) => builder.workers(workers),
        None => builder,
    };
    let stopping = builder.graceful_shutdown_signal();
    // Connections that wait for a next request close at once when the server stops.
    let stopped = move || {
        let stopping = stopping.clone();
        async move { stopping.notified().await }
    };
    let address = bound.address();
    let builder = match (bound, tls) {
        (Bound::Tcp(listener), None) => builder.listen("http", listener, move || {
            fn_service(async |socket: TcpStream| {
                let peer = prepare(&socket);
                Ok::<_, DispatchError>((Lenient::new(socket), peer))
            })
            .and_then(pages(answer.clone(), stopped.clone(), address))
        }),
        (Bound::Tcp(listener), Some(tls)) => builder.listen("https", listener, move || {
            let tls = tls.clone();
            fn_service(move |socket: TcpStream| {
                let tls = tls.clone();
                async move {
                    let peer = prepare(&socket);
                    let stream = handshake(tls.accept(socket)).await?;
                    Ok::<_, DispatchError>((Lenient::new(stream), peer))
                }
            })
            .and_then(pages(answer.clone(), stopped.clone(), address))
        }),
        (Bound::Unix(listener), None) => builder.listen_uds("http", listener, move || {
            fn_service(async |socket: UnixStream| {
                Ok::<_, DispatchError>((Lenient::new(socket), None))
            })
            .and_then(pages(answer.clone(), stopped.clone(), address))
        }),
        (Bound::Unix(listener), Some(tls)) => builder.listen_uds("https", listener, move || {
            let tls = tls.clone();
            fn_service(move |socket: UnixStream| {
                let tls = tls.clone();
                async move {
                    let stream = handshake(tls.accept(socket)).await?;
                    Ok::<_, DispatchError>((Lenient::new(stream), None))
                }
            })
            .and_then(pages(answer.clone(), stopped.clone(), address))
        }),
    };
    Ok(builder?.run())
}

/// What speaks HTTP on a connection. `stopped` is done when the server is told to stop.
fn pages<Io, A, F, S, W>(
    answer: A,
    stopped: S,
    address: Option<SocketAddr>,
) -> impl ServiceFactory<
    (Lenient<Io>, Option<SocketAddr>),
    Config = (),
    Response = (),
    Error = DispatchError,
    InitError = (),
>
where
    Io: AsyncRead + AsyncWrite + Unpin + 'static,
    A: Fn(HttpRequest) -> F + Clone + Send + 'static,
    F: Future<Output = HttpResponse> + 'static,
    S: Fn() -> W + 'static,
    W: Future<Output = ()> + 'static,
{
    let pages =
        actix_web::App::new().default_service(web::to(move |http: HttpRequest| answer(http)));
    let http = HttpService::build()
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(SLOW_CLIENT)
        .client_disconnect_timeout(DISCONNECT)
        // A client that has gone drops its handler, which cancels its SQL.
        .h1_allow_half_closed(false)
        .graceful_shutdown_signal(stopped);
    let http = match address {
        Some(address) => http.local_addr(address),
        None => http,
    };
    http.h1(map_config(pages, |()| AppConfig::default()))
}

/// Makes a connection ready. Returns who is at its other end.
fn prepare(socket: &TcpStream) -> Option<SocketAddr> {
    // Speed is all that is lost without it.
    let _ = socket.set_nodelay(true);
    socket.peer_addr().ok()
}

/// The handshake, for as long as a client may take.
async fn handshake<T>(accept: impl Future<Output = io::Result<T>>) -> Result<T, DispatchError> {
    match tokio::time::timeout(SLOW_CLIENT, accept).await {
        Ok(stream) => stream.map_err(DispatchError::Io),
        Err(_) => Err(DispatchError::SlowRequestTimeout),
    }
}
