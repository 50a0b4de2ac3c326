//! The tables of a generated database.

/// The first four bytes of a generated file's `application_id`, "BIGD", by which
/// [`super::generate`] tells its own files from those it must not replace.
pub(super) const APPLICATION_ID: u32 = 0x4249_4744;

/// Settings of the connection that fills the file.
///
/// The file is of no use until it is renamed, so it needs neither a journal nor
/// a sync. Foreign keys hold by construction.
pub(super) const FILL: &str = "
    pragma page_size = 4096;
    pragma journal_mode = off;
    pragma synchronous = off;
    pragma locking_mode = exclusive;
    pragma foreign_keys = off;
    pragma cache_size = -32768;
    pragma temp_store = file;
";

/// Everything but what is made after the rows are in.
pub(super) const TABLES: &str = "
create table categories (
    id integer primary key,
    name text not null,
    parent_id integer references categories(id)
);
create table venues (
    id integer primary key,
    name text not null,
    city text not null,
    state text not null,
    capacity integer not null
);
create table events (
    id integer primary key,
    name text not null,
    category_id integer references categories(id),
    venue_id integer references venues(id),
    state text,
    status text,
    score integer,
    amount real,
    created text,
    tags text,
    note text,
    is_free integer
);
create table reviews (
    id integer primary key,
    event_id integer not null references events(id),
    author text not null,
    stars integer not null,
    body text not null,
    created text not null
);
";

/// Made last: an index costs less to sort once than to grow row by row.
///
/// `reviews` is the table that is searched and indexed, because it is bounded.
/// Indexing the names of all events would take longer than writing the events,
/// and one index on `events` a third of that time.
pub(super) const INDEXES: &str = "
create index reviews_event_id on reviews(event_id);
create virtual table reviews_fts using fts5(body, author, content=[reviews], content_rowid='id');
insert into reviews_fts(reviews_fts) values ('rebuild');
";
