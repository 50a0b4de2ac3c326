//! The HTML templates: those built into the program, those that a site puts in
//! their place ([`folder`]), and the part of their context that all pages share.
//!
//! Everything is compiled once, at the start. The program's own templates are
//! called `default:table.html` and so on; Tera looks for `table.html` among the
//! site's first and falls back on them, so either kind can extend and include the other.
//! A page says what it is about ([`Subject`]), and [`Templates::choose`] picks the template.

pub mod extra_urls;
mod folder;
mod functions;
mod names;
mod start_error;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;
use tera::{Context, Tera};

pub use names::Subject;

use self::extra_urls::{ExtraUrls, Level};
use self::folder::File;
use super::embedded::TEMPLATE_FILES;
use super::request::Request;
use super::statics::Statics;
use crate::auth::Actor;
use crate::config::{Config, Metadata};
use crate::error::{Error, Result};
use crate::render::custom::Wanted;

/// What the names of the program's own templates begin with.
const DEFAULT: &str = "default:";
/// The template of the rows of a table.
const ROWS: &str = "_table.html";
/// The template that shows the context of another.
const CONTEXT: &str = "default:_context.html";
/// What the names of custom pages begin with.
const PAGES: &str = "pages/";

/// A step of the way from the front page to this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Crumb {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub label: String,
}

/// What the frame of a page needs to know of the page.
#[derive(Debug, Clone, Default)]
pub struct Frame<'a> {
    /// Classes of `<body>`.
    pub body_class: &'a str,
    /// The way here, from the front page.
    pub crumbs: &'a [Crumb],
    /// The same page as JSON, an absolute URL; `""` when there is none.
    pub alternate_json: &'a str,
    /// Title, source and so on of what the page shows.
    pub metadata: Option<&'a Metadata>,
    /// Who is reading it.
    pub actor: Option<&'a Actor>,
}

/// Templates that are compiled together.
struct Set {
    tera: Tera,
    /// The variables that each template mentions; nothing is in here where no template is the site's.
    wanted: HashMap<String, Wanted>,
}

/// All templates.
pub struct Templates {
    main: Set,
    /// By the name of a `_table-….html`: all templates, with that one for `_table.html`.
    with_rows: HashMap<String, Set>,
    /// The names of the site's templates.
    own: HashSet<String>,
    /// The part of the context that is the same for all pages of all requests.
    shared: Context,
    extra_urls: ExtraUrls,
    /// What a page wants whose templates are all the program's.
    nothing: Wanted,
    everything: Wanted,
    template_debug: bool,
}

/// The template of one page.
pub struct Choice<'t> {
    templates: &'t Templates,
    set: &'t Set,
    name: String,
    /// Those that were looked for, the chosen one with an asterisk.
    considered: Vec<String>,
    extra_urls: Option<Level>,
    /// Whether the context is to be shown instead of the page.
    shows_context: bool,
}

impl Templates {
    /// The templates that were there when the program was built.
    ///
    /// # Errors
    /// A template that does not compile; a test keeps that out of a release.
    pub fn built_in(config: &Config, statics: &Statics) -> Result<Self, String> {
        Self::new(config, statics, None)
    }

    /// The templates that were there when the program was built, and before them those in `folder`.
    ///
    /// # Errors
    /// One line on a template that can't be read or does not compile.
    pub fn new(config: &Config, statics: &Statics, folder: Option<&Path>) -> Result<Self, String> {
        let files = match folder {
            Some(folder) => folder::read(folder)?,
            None => Vec::new(),
        };
        Self::of(TEMPLATE_FILES, &files, config, statics)
    }

    fn of(
        built_in: &[(&'static str, &'static str)],
        files: &[File],
        config: &Config,
        statics: &Statics,
    ) -> Result<Self, String> {
        let base = config.settings.base_url.as_str();
        let mut tera = Tera::new();
        tera.set_fallback_prefixes([DEFAULT])
            .map_err(|error| error.to_string())?;
        functions::register(&mut tera, base, statics.urls(base));
        let ours = built_in
            .iter()
            .map(|(name, source)| (format!("{DEFAULT}{name}"), *source));
        let theirs = files
            .iter()
            .map(|file| (file.name.clone(), file.source.as_str()));
        tera.add_raw_templates(ours.chain(theirs))
            .map_err(|error| start_error::one_line(&error, files))?;
        let mut with_rows = HashMap::new();
        for file in files.iter().filter(|file| file.name.starts_with("_table-")) {
            let mut tera = tera.clone();
            tera.add_raw_template(ROWS, &file.source)
                .map_err(|error| start_error::one_line(&error, files))?;
            with_rows.insert(file.name.clone(), Set::new(tera, files));
        }
        let extra_urls = ExtraUrls::read(config);
        let mut shared = Context::new();
        shared.insert("base", base);
        shared.insert("base_url", base);
        shared.insert("app_css_url", &statics.url(base, "app.css"));
        shared.insert("table_js_url", &statics.url(base, "table.js"));
        shared.insert("jump_js_url", &statics.url(base, "jump.js"));
        shared.insert("version", env!("CARGO_PKG_VERSION"));
        shared.insert(extra_urls::CSS, &extra_urls.instance().css);
        shared.insert(extra_urls::JS, &extra_urls.instance().js);
        if !files.is_empty() {
            shared.insert("settings", &config.settings.as_json());
        }
        Ok(Self {
            main: Set::new(tera, files),
            with_rows,
            own: files.iter().map(|file| file.name.clone()).collect(),
            shared,
            extra_urls,
            nothing: Wanted::default(),
            everything: Wanted::new(HashSet::new(), true),
            template_debug: config.settings.template_debug,
        })
    }

    /// The template for a page.
    pub fn choose(&self, subject: &Subject<'_>) -> Choice<'_> {
        let mut considered = subject.names();
        let last = considered.len() - 1;
        let chosen = considered
            .iter()
            .position(|name| self.own.contains(name))
            .unwrap_or(last);
        let name = considered[chosen].clone();
        considered[chosen].insert(0, '*');
        let rows = if self.with_rows.is_empty() {
            None
        } else {
            let names = subject.rows_names();
            names.iter().find_map(|name| self.with_rows.get(name))
        };
        Choice {
            templates: self,
            set: rows.unwrap_or(&self.main),
            name,
            considered,
            extra_urls: self.extra_urls.of(subject),
            shows_context: false,
        }
    }

    /// Whether the site has templates besides those of custom pages.
    pub fn has_own(&self) -> bool {
        self.own.iter().any(|name| !name.starts_with(PAGES))
    }

    /// The paths of the site's custom pages: `about` for `pages/about.html`.
    pub fn custom_pages(&self) -> impl Iterator<Item = &str> {
        self.own
            .iter()
            .filter_map(|name| name.strip_prefix(PAGES)?.strip_suffix(".html"))
    }

    /// The template of a custom page, by its path.
    pub fn custom_page(&self, path: &str) -> Choice<'_> {
        Choice {
            templates: self,
            set: &self.main,
            name: format!("{PAGES}{path}.html"),
            considered: Vec::new(),
            extra_urls: None,
            shows_context: false,
        }
    }

    /// The context that a page adds its own values to.
    pub fn context(&self, frame: &Frame<'_>) -> Context {
        let mut context = self.shared.clone();
        context.insert("body_class", frame.body_class);
        context.insert("crumbs", frame.crumbs);
        context.insert("alternate_json", frame.alternate_json);
        if let Some(actor) = frame.actor {
            context.insert("actor", actor.facts());
            context.insert("actor_name", &actor.name());
        }
        match frame.metadata {
            Some(metadata) => context.insert("metadata", metadata),
            None => context.insert("metadata", &Metadata::default()),
        }
        context
    }

    /// Renders a template that is the same for all tables and databases.
    ///
    /// # Errors
    /// [`Error::Internal`] on a template that does not exist or asks for what the context lacks.
    pub fn render(&self, name: &str, context: &Context) -> Result<String> {
        self.main.render(name, context)
    }
}

impl Choice<'_> {
    /// The same for a request, which may ask for the context instead of the page:
    /// `?_context=1`, where the setting `template_debug` allows it.
    #[must_use]
    pub fn for_request(mut self, request: &Request) -> Self {
        self.shows_context = self.templates.template_debug
            && request
                .query
                .get("_context")
                .is_some_and(|value| !value.is_empty());
        self
    }

    /// The context that a page adds its own values to.
    pub fn context(&self, frame: &Frame<'_>) -> Context {
        let mut context = self.templates.context(frame);
        if let Some(level) = &self.extra_urls {
            context.insert(extra_urls::CSS, &level.css);
            context.insert(extra_urls::JS, &level.js);
        }
        context.insert("select_templates", &self.considered);
        context
    }

    /// Which variables the template asks for besides those that the program's own ask for.
    pub fn wanted(&self) -> &Wanted {
        if self.shows_context {
            return &self.templates.everything;
        }
        // Empty where all templates are the program's: they get what they ask for anyway.
        if self.set.wanted.is_empty() {
            return &self.templates.nothing;
        }
        let wanted = &self.set.wanted;
        wanted
            .get(&self.name)
            .or_else(|| wanted.get(&format!("{DEFAULT}{}", self.name)))
            .unwrap_or(&self.templates.nothing)
    }

    /// Renders it.
    ///
    /// # Errors
    /// [`Error::Internal`] if the template asks for what the context lacks.
    pub fn render(&self, context: &Context) -> Result<String> {
        if self.shows_context {
            return self.set.render(CONTEXT, context);
        }
        self.set.render(&self.name, context)
    }
}

impl Set {
    fn new(tera: Tera, files: &[File]) -> Self {
        let mut wanted = HashMap::new();
        if !files.is_empty() {
            // A template that prints its whole context gets everything that there is.
            let everything = files
                .iter()
                .any(|file| file.source.contains("__tera_context"));
            for name in tera.get_template_names() {
                let variables = tera.get_template_variables(name).unwrap_or_default();
                let variables = variables.into_iter().map(str::to_owned).collect();
                wanted.insert(name.to_owned(), Wanted::new(variables, everything));
            }
        }
        Self { tera, wanted }
    }

    fn render(&self, name: &str, context: &Context) -> Result<String> {
        self.tera
            .render(name, context)
            .map_err(|error| Error::Internal(format!("template {name}: {error}")))
    }
}

#[cfg(test)]
mod tests;
