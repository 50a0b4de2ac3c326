//! HTTPS: a certificate and its key, and the handshake before a connection speaks HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The files of `--ssl-certfile` and `--ssl-keyfile`, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those that vouch for it.
    pub certificates: PathBuf,
    /// Its private key; `None` if it is in the same file.
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// One sentence that names the file: it is not there, holds no certificate or key,
    /// or the two do not belong together.
    pub fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let certificates = read(&self.certificates, |path| {
            let found = CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>()?;
            if found.is_empty() {
                return Err(rustls::pki_types::pem::Error::NoItemsFound);
            }
            Ok(found)
        })?;
        let of_key = self.key.as_ref().unwrap_or(&self.certificates);
        let key = read(of_key, |path| PrivateKeyDer::from_pem_file(path))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(certificates, key)
            });
        let mut config = config.map_err(|error| {
            format!(
                "cannot use the certificate {} with the key {}: {error}",
                self.certificates.display(),
                of_key.display()
            )
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config).into())
    }
}

fn read<T>(
    path: &Path,
    read: impl Fn(&Path) -> Result<T, rustls::pki_types::pem::Error>,
) -> Result<T, String> {
    use rustls::pki_types::pem::Error;
    read(path).map_err(|error| match error {
        Error::NoItemsFound => format!("{} holds no certificate or key in PEM", path.display()),
        Error::Io(error) => format!("cannot read {}: {error}", path.display()),
        other => format!("{} is no PEM file: {other}", path.display()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let ask = |certificates: PathBuf| {
            let files = TlsFiles {
                certificates,
                key: None,
            };
            files.acceptor().err().unwrap()
        };
        assert!(ask(folder.path().join("none.pem")).contains("none.pem"));
        assert!(ask(file("empty.pem", "")).contains("no certificate"));
        let broken = "-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n";
        assert!(ask(file("broken.pem", broken)).contains("broken.pem"));
    }
}
