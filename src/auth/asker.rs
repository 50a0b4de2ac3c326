//! Somebody who asks for a page, and what that one sees.

use std::sync::{Arc, LazyLock};

use super::{Access, Action, Actor, Resource};
use crate::db::schema::Schema;
use crate::error::Result;

/// The rules, and who is held against them.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    access: &'a Access,
    actor: Option<&'a Actor>,
}

/// No rules.
static OPEN: LazyLock<Access> = LazyLock::new(Access::default);

impl Default for Asker<'_> {
    /// Nobody known, where there are no rules.
    fn default() -> Self {
        Self {
            access: &OPEN,
            actor: None,
        }
    }
}

impl<'a> Asker<'a> {
    /// An actor, or nobody known, under these rules.
    pub fn new(access: &'a Access, actor: Option<&'a Actor>) -> Self {
        Self { access, actor }
    }

    /// Who it is.
    pub fn actor(self) -> Option<&'a Actor> {
        self.actor
    }

    /// Whether this one may do this.
    pub fn may(self, action: Action, resource: Resource<'_>) -> bool {
        self.access.may(self.actor, action, resource)
    }

    /// 403 unless this one may do this.
    pub fn check(self, action: Action, resource: Resource<'_>) -> Result<()> {
        self.access.check(self.actor, action, resource)
    }

    /// Whether this one may do this and nobody known may not: then a page shows a lock.
    pub fn is_private(self, action: Action, resource: Resource<'_>) -> bool {
        self.access.is_private(self.actor, action, resource)
    }

    /// Whether a table or view is shown to this one and not to everybody.
    pub fn is_private_table(self, database: &str, table: &str) -> bool {
        self.is_private(Action::ViewTable, Resource::Table(database, table))
    }

    /// Whether a database is shown to this one and not to everybody.
    pub fn is_private_database(self, database: &str) -> bool {
        self.is_private(Action::ViewDatabase, Resource::Database(database))
    }

    /// Whether this one may run SQL on a database.
    pub fn may_run_sql(self, database: &str) -> bool {
        self.may(Action::ExecuteSql, Resource::Database(database))
    }

    /// The schema without the tables and views that this one may not see, and
    /// without what would lead there: the same schema, if that is nothing.
    pub fn schema(self, database: &str, schema: Arc<Schema>) -> Arc<Schema> {
        if !self.access.differs() && self.actor.is_none() {
            return schema;
        }
        schema.seen(|table| self.may(Action::ViewTable, Resource::Table(database, table)))
    }
}
