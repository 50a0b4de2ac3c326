//! `/-/schema`, `/{database}/-/schema` and `/{database}/{table}/-/schema`: the SQL
//! that made it, as HTML, JSON or Markdown.

use std::sync::Arc;

use serde::Serialize;

use super::app::App;
use super::request::Request;
use super::response::{HTML, JSON, Response, TEXT};
use super::routes::{SchemaForm, SchemaOf};
use super::templates::{Crumb, Frame};
use crate::auth::{Action, Resource};
use crate::db::{Database, Limit};
use crate::engine::Page;
use crate::error::{Error, Result};
use crate::render::json::push_json;
use crate::render::links;
use crate::schema_text::{markdown, of_database, of_table};

/// Answers a request for a schema.
pub async fn show(
    app: &Arc<App>,
    request: Request,
    of: SchemaOf,
    form: SchemaForm,
) -> Result<Response> {
    let job = Job {
        app: Arc::clone(app),
        request,
    };
    app.engine
        .offload(move |page| Ok(job.run(page, &of, form)?.lasting(true)))
        .await
}

/// The SQL of one database or table, as JSON has it.
#[derive(Serialize)]
struct Part {
    database: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    schema: String,
}

impl Part {
    fn markdown(&self) -> String {
        match &self.table {
            Some(table) => markdown::section(&format!("{}.{table}", self.database), &self.schema),
            None => markdown::section(&self.database, &self.schema),
        }
    }
}

#[derive(Serialize)]
struct One<'p> {
    ok: bool,
    #[serde(flatten)]
    part: &'p Part,
}

#[derive(Serialize)]
struct All<'p> {
    ok: bool,
    schemas: &'p [Part],
}

/// A part as the template has it.
#[derive(Serialize)]
struct Section<'p> {
    name: &'p str,
    path: String,
    color: String,
    sql: &'p str,
}

struct Job {
    app: Arc<App>,
    request: Request,
}

impl Job {
    fn run(&self, page: &Page<'_>, of: &SchemaOf, form: SchemaForm) -> Result<Response> {
        let limit = Limit::millis(self.app.config.settings.sql_time_limit_ms);
        let asker = self.app.asker(&self.request);
        let whole = |database: &Arc<Database>| -> Result<Part> {
            Ok(Part {
                database: database.name.clone(),
                table: None,
                schema: of_database(database, asker, limit, &page.cancel)?,
            })
        };
        let parts = match of {
            SchemaOf::Site => self.databases().iter().map(whole).collect::<Result<_>>()?,
            SchemaOf::Database(name) => vec![whole(self.database(name)?)?],
            SchemaOf::Table(name, table) => {
                let database = self.database(name)?;
                vec![Part {
                    database: name.clone(),
                    table: Some(table.clone()),
                    schema: of_table(database, asker, table, limit, &page.cancel)?,
                }]
            }
        };
        self.answer(&parts, of, form)
    }

    /// Those that may be seen, by name.
    fn databases(&self) -> Vec<Arc<Database>> {
        let asker = self.app.asker(&self.request);
        let may_see = |database: &&Arc<Database>| {
            asker.may(Action::ViewDatabase, Resource::Database(&database.name))
        };
        let databases = self.app.registry.databases();
        let mut databases: Vec<_> = databases.filter(may_see).cloned().collect();
        databases.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        databases
    }

    fn database(&self, name: &str) -> Result<&Arc<Database>> {
        let database = self.app.registry.get(name);
        database.ok_or_else(|| Error::NotFound(format!("Database not found: {name}")))
    }

    fn answer(&self, parts: &[Part], of: &SchemaOf, form: SchemaForm) -> Result<Response> {
        let one = parts.first().filter(|_| *of != SchemaOf::Site);
        Ok(match (form, one) {
            (SchemaForm::Html, _) => self.html(parts, of)?,
            (SchemaForm::Json, one) => {
                let mut out = Vec::new();
                match one {
                    Some(part) => push_json(&mut out, &One { ok: true, part })?,
                    None => push_json(
                        &mut out,
                        &All {
                            ok: true,
                            schemas: parts,
                        },
                    )?,
                }
                Response::whole(200, JSON, out)
            }
            // Datasette ends the document of one part with a line's end, and that of all without.
            (SchemaForm::Markdown, Some(part)) => {
                Response::whole(200, TEXT, part.markdown() + "\n")
            }
            (SchemaForm::Markdown, None) => {
                let sections: Vec<String> = parts.iter().map(Part::markdown).collect();
                Response::whole(200, TEXT, sections.join("\n\n"))
            }
        })
    }

    fn html(&self, parts: &[Part], of: &SchemaOf) -> Result<Response> {
        let request = &self.request;
        let sections: Vec<Section<'_>> = parts
            .iter()
            .map(|part| Section {
                name: &part.database,
                path: links::database(request, &part.database),
                color: self
                    .database(&part.database)
                    .map_or_else(|_| String::new(), |d| d.color()),
                sql: &part.schema,
            })
            .collect();
        let mut crumbs = vec![Crumb {
            href: request.prefixed("/"),
            label: "home".to_owned(),
        }];
        let mut push = |href: String, label: &str| {
            crumbs.push(Crumb {
                href,
                label: label.to_owned(),
            });
        };
        let title = match of {
            SchemaOf::Site => "all databases",
            SchemaOf::Database(database) => {
                push(links::database(request, database), database);
                database
            }
            SchemaOf::Table(database, table) => {
                let database_path = links::database(request, database);
                push(database_path.clone(), database);
                push(links::table(&database_path, table), table);
                table
            }
        };
        let mut context = self.app.templates.context(&Frame {
            body_class: "schema",
            crumbs: &crumbs,
            metadata: Some(self.app.config.instance()),
            actor: request.actor.as_deref(),
            ..Frame::default()
        });
        context.insert("title", title);
        context.insert("is_site", &(*of == SchemaOf::Site));
        if *of != SchemaOf::Site
            && let Some(section) = sections.first()
        {
            context.insert("database_color", &section.color);
        }
        context.insert("schemas", &sections);
        context.insert("export_json_url", &links::in_format(request, "json", &[]));
        context.insert("export_markdown_url", &links::in_format(request, "md", &[]));
        let html = self.app.templates.render("schema.html", &context)?;
        Ok(Response::whole(200, HTML, html))
    }
}
