//! Serves the built page on this machine.

use crate::build_web::{self, Checkout};
use crate::output;
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Tried first; the next free one is taken when it is in use and none was asked for.
const DEFAULT_PORT: u16 = 8377;

/// Build the page, serve it on this machine and open a browser
#[derive(clap::Parser)]
#[command(name = "cargo demo", version)]
pub struct Args {
    /// Port on 127.0.0.1 [default: 8377, or the next free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Serve the sources through Vite, which reloads the page on every change
    #[arg(long)]
    dev: bool,
    /// Open a browser (this is the default; never an error where there is none)
    #[arg(long, overrides_with = "no_open")]
    open: bool,
    /// Do not open a browser
    #[arg(long, overrides_with = "open")]
    no_open: bool,
    /// Build the wasm package and the page, and stop; into a new FOLDER, compressed, that any host of files can serve
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, conflicts_with = "dev")]
    build_only: Option<Option<PathBuf>>,
    /// Where FOLDER will be found: other sites show links to the page with its picture then
    #[arg(long, value_name = "ADDRESS", requires = "build_only")]
    url: Option<String>,
    /// Serve a folder that was built before
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["dev", "build_only"])]
    serve: Option<PathBuf>,
    /// Build one module of the wasm package alone, and say what it is made of
    #[arg(long, value_name = "FEATURE", exclusive = true)]
    module: Option<String>,
}

/// Builds the page and serves it until the program is stopped.
///
/// # Errors
/// A missing tool, a failed build, a port in use; one line each.
pub fn run(args: &Args) -> Result<()> {
    if let Some(folder) = &args.serve {
        return serve(folder, args);
    }
    let checkout = Checkout::find()?;
    if let Some(feature) = &args.module {
        output::line(build_web::module(&checkout, feature)?);
        return Ok(());
    }
    output::line("undercurve: building the page");
    if let Some(Some(folder)) = &args.build_only {
        let folder = build_web::new_folder(folder)?;
        return build_web::build(&checkout, Some(build_web::Page::Packed(&folder, args.url.as_deref())));
    }
    build_web::build(&checkout, (!args.dev).then_some(build_web::Page::Here))?;
    if args.build_only.is_some() {
        return Ok(());
    }
    if args.dev {
        return develop(&checkout, args);
    }

    serve(&checkout.dist(), args)
}

/// Answers requests for the files of a folder.
fn serve(folder: &Path, args: &Args) -> Result<()> {
    let dist = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let (server, port) = bind(args.port)?;
    let address = format!("http://127.0.0.1:{port}/");
    output::line(format_args!("\nundercurve is at {address}  (Ctrl-C stops it)"));
    open_browser(args, &address);

    // (Workers are held to the policy by the header alone.)
    let policy = fs::read_to_string(dist.join("index.html")).ok().and_then(|page| policy(&page).map(str::to_owned));
    let shared = Arc::new((dist, policy));
    for stream in server.incoming().flatten() {
        let shared = Arc::clone(&shared);
        // (A connection that gets no thread is closed, and a browser that hangs up in the middle of an answer is no reason to stop.)
        let _ = thread::Builder::new().spawn(move || converse(stream, &shared.0, shared.1.as_deref()));
    }
    Ok(())
}

fn develop(checkout: &Checkout, args: &Args) -> Result<()> {
    let port = args.port.unwrap_or(DEFAULT_PORT).to_string();
    let mut vite = build_web::node_tool("npx");
    vite.args(["vite", "--host", "127.0.0.1", "--port", &port]).current_dir(checkout.web());
    if args.port.is_some() {
        vite.arg("--strictPort");
    }
    if !args.no_open {
        vite.arg("--open");
    }
    let status = vite.status().context("`npx vite` could not be started")?;
    if !status.success() {
        bail!("`npx vite` stopped ({status})");
    }
    Ok(())
}

fn bind(port: Option<u16>) -> Result<(TcpListener, u16)> {
    let candidates = port.map_or(DEFAULT_PORT..=DEFAULT_PORT + 32, |port| port..=port);
    for candidate in candidates {
        if let Ok(server) = TcpListener::bind(("127.0.0.1", candidate)) {
            let port = server.local_addr().map_or(candidate, |address| address.port());
            return Ok((server, port));
        }
    }
    match port {
        Some(port) => bail!("port {port} on 127.0.0.1 is in use; choose another with --port"),
        None => bail!("no free port between {DEFAULT_PORT} and {}; choose one with --port", DEFAULT_PORT + 32),
    }
}

/// Opens the page where there is a screen to open it on; otherwise the printed address has to do.
fn open_browser(args: &Args, address: &str) {
    let screen = !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !args.no_open && screen && webbrowser::open(address).is_err() {
        output::line("No browser could be opened: visit the address yourself.");
    }
}

/// The longest head of a request, and how long a connection may say nothing.
const MOST: usize = 1 << 16;
const IDLE: Duration = Duration::from_secs(60);

/// What a request asks for.
struct Asked {
    method: String,
    target: String,
    codings: String,
    /// Whether its connection ends with the answer.
    ends: bool,
}

impl Asked {
    fn of(request: &httparse::Request<'_, '_>) -> Self {
        let header = |name: &str| {
            let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.map_or_else(String::new, |header| String::from_utf8_lossy(header.value).into_owned())
        };
        let method = request.method.unwrap_or_default().to_owned();
        let ends = request.version == Some(0)
            || header("Connection").eq_ignore_ascii_case("close")
            || !matches!(&method[..], "GET" | "HEAD");
        Self { method, target: request.path.unwrap_or_default().to_owned(), codings: header("Accept-Encoding"), ends }
    }
}

/// Answers the requests of a connection, one after the other.
fn converse(mut stream: TcpStream, dist: &Path, policy: Option<&str>) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let (mut read, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let (asked, length) = loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&read) {
                Ok(httparse::Status::Complete(length)) => break (Asked::of(&request), length),
                Ok(httparse::Status::Partial) if read.len() < MOST => {}
                _ => return refuse(&mut stream, "400 Bad Request", true),
            }
            match stream.read(&mut part)? {
                0 => return Ok(()),
                count => read.extend_from_slice(&part[..count]),
            }
        };
        read.drain(..length);
        answer(&mut stream, &asked, dist, policy)?;
        if asked.ends {
            return Ok(());
        }
    }
}

fn refuse(stream: &mut TcpStream, status: &str, ends: bool) -> io::Result<()> {
    let close = if ends { "Connection: close\r\n" } else { "" };
    let length = status.len() + 1;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{close}\r\n{status}\n")
}

fn answer(stream: &mut TcpStream, asked: &Asked, dist: &Path, policy: Option<&str>) -> io::Result<()> {
    if !matches!(&asked.method[..], "GET" | "HEAD") {
        return refuse(stream, "405 Method Not Allowed", true);
    }
    let found = resolve(dist, &asked.target).and_then(|path| {
        let coding = coding(&path, &asked.codings);
        let file = File::open(coding.map_or_else(|| path.clone(), |(_, ending)| beside(&path, ending))).ok()?;
        Some((file.metadata().ok()?.len(), file, path, coding.map(|coding| coding.0)))
    });
    let Some((length, mut file, path, coding)) = found else { return refuse(stream, "404 Not Found", asked.ends) };
    // What is in a file of `assets` is in its name.
    let hashed = path.parent() == Some(&dist.join("assets"));
    let length = length.to_string();
    let mut head = String::from("HTTP/1.1 200 OK\r\n");
    for (name, value) in [
        ("Content-Length", Some(&length[..])),
        ("Content-Type", Some(content_type(&path))),
        ("Content-Encoding", coding),
        ("Vary", Some("Accept-Encoding")),
        ("Cache-Control", Some(if hashed { "max-age=31536000, immutable" } else { "no-cache" })),
        ("X-Content-Type-Options", Some("nosniff")),
        ("Referrer-Policy", Some("no-referrer")),
        ("Content-Security-Policy", policy.filter(|policy| !policy.contains(['\r', '\n']))),
        ("Connection", asked.ends.then_some("close")),
    ] {
        if let Some(value) = value {
            head.extend([name, ": ", value, "\r\n"]);
        }
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    if asked.method == "GET" {
        io::copy(&mut file, stream)?;
    }
    Ok(())
}

/// Codings of files that may lie beside a file, the better first, with their endings.
const CODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// The best coding of a file that there is and the browser accepts.
fn coding(path: &Path, accepted: &str) -> Option<(&'static str, &'static str)> {
    let accepts =
        |coding: &str| accepted.split(',').any(|one| one.split(';').next().is_some_and(|name| name.trim() == coding));
    CODINGS.into_iter().find(|(name, ending)| accepts(name) && beside(path, ending).is_file())
}

/// The file of the same name with one ending more.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// The Content-Security-Policy that a page holds itself to.
fn policy(page: &str) -> Option<&str> {
    page.split_once("http-equiv=\"Content-Security-Policy\" content=\"")?.1.split('"').next()
}

/// The file below `dist` that a request names. Only plain names walk down, so nothing outside can be reached.
fn resolve(dist: &Path, url: &str) -> Option<PathBuf> {
    let path = percent_decode(url.split(['?', '#']).next()?)?;
    let mut file = dist.to_path_buf();
    for part in Path::new(path.trim_start_matches('/')).components() {
        match part {
            Component::Normal(name) => file.push(name),
            _ => return None,
        }
    }
    if file.is_dir() {
        file.push("index.html");
    }
    // A link inside the folder must not lead out of it either.
    let file = file.canonicalize().ok()?;
    (file.starts_with(dist) && file.is_file()).then_some(file)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
            let code = digit(0)? * 16 + digit(1)?;
            bytes.push(u8::try_from(code).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    let decoded = String::from_utf8(bytes).ok()?;
    (!decoded.contains(['\0', '\\'])).then_some(decoded)
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map" | "webmanifest") => "application/json; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("csv") => "text/csv; charset=utf-8",
        Some("txt" | "md" | "svm") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{content_type, converse, policy, resolve};
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::thread;

    #[test]
    fn requests_stay_below_the_folder() {
        let root = std::env::temp_dir().join(format!("undercurve-serve-{}", std::process::id()));
        let dist = root.join("dist");
        fs::create_dir_all(dist.join("assets")).unwrap();
        fs::write(root.join("secret.txt"), "no").unwrap();
        fs::write(dist.join("index.html"), "page").unwrap();
        fs::write(dist.join("assets/a b.js"), "script").unwrap();
        let dist = dist.canonicalize().unwrap();

        assert_eq!(resolve(&dist, "/"), Some(dist.join("index.html")));
        assert_eq!(resolve(&dist, "/?seed=3#x"), Some(dist.join("index.html")));
        assert_eq!(resolve(&dist, "/assets/a%20b.js"), Some(dist.join("assets/a b.js")));
        for bad in [
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/assets/../../secret.txt",
            "/..%2fsecret.txt",
            "/..\\secret.txt",
            "//etc/passwd",
            "/%00",
            "/%",
            "/%zz",
            "/missing.js",
            "/assets",
        ] {
            assert_eq!(resolve(&dist, bad), None, "{bad}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn connections_that_say_nothing_keep_nobody_waiting() {
        let dist = std::env::temp_dir().join(format!("undercurve-converse-{}", std::process::id()));
        fs::create_dir_all(&dist).unwrap();
        fs::write(dist.join("index.html"), "page").unwrap();
        fs::write(dist.join("index.html.gz"), "packed").unwrap();
        let dist = dist.canonicalize().unwrap();
        let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = server.local_addr().unwrap();
        let folder = dist.clone();
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                let folder = folder.clone();
                thread::spawn(move || converse(stream, &folder, Some("default-src 'self'")));
            }
        });
        let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
        let ask = |text: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            // (In two parts, as slow networks have it.)
            let (first, rest) = text.split_at(text.len() / 2);
            stream.write_all(first.as_bytes()).unwrap();
            stream.write_all(rest.as_bytes()).unwrap();
            let mut all = String::new();
            stream.read_to_string(&mut all).unwrap();
            all
        };
        // Two requests of one connection, the second its last.
        let two =
            ask("GET / HTTP/1.1\r\n\r\nHEAD /?x HTTP/1.1\r\nAccept-Encoding: br, gzip\r\nConnection: close\r\n\r\n");
        assert!(
            two.starts_with("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/html; charset=utf-8\r\n"),
            "{two}"
        );
        let (_, second) = two.split_once("\r\n\r\npageHTTP/1.1 200 OK\r\n").unwrap();
        assert!(
            second.starts_with("Content-Length: 6\r\n") && second.ends_with("Connection: close\r\n\r\n"),
            "{second}"
        );
        assert!(
            second.contains("Content-Encoding: gzip\r\n")
                && second.contains("Content-Security-Policy: default-src 'self'\r\n")
        );
        for (text, status) in [
            ("GET /none HTTP/1.0\r\n\r\n", "404 Not Found"),
            ("POST / HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("nonsense\r\n\r\n", "400 Bad Request"),
        ] {
            let said = ask(text);
            assert!(
                said.starts_with(&format!("HTTP/1.1 {status}\r\n")) && said.ends_with(&format!("{status}\n")),
                "{said}"
            );
        }
        drop(silent);
        fs::remove_dir_all(dist).unwrap();
    }

    #[test]
    fn the_policy_is_the_page_s_own() {
        let page =
            r#"<meta http-equiv="Content-Security-Policy" content="default-src 'self'"><meta name="x" content="y">"#;
        assert_eq!(policy(page), Some("default-src 'self'"));
        assert_eq!(policy("<html>"), None);
    }

    #[test]
    fn wasm_is_served_as_wasm() {
        assert_eq!(content_type(Path::new("x/undercurve_bg.wasm")), "application/wasm");
    }
}
