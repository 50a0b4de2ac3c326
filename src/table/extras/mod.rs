//! The extras of a table page: what there is beyond the rows. One file per
//! extra that needs SQL; the others are made of plan and request when rendered.

#[cfg(test)]
mod agreement;
pub mod count;
mod facet_request;
pub mod facet_scan;
pub mod facets;
pub mod kept;
mod label_map;
pub mod labels;
pub mod suggest;

pub use facet_request::{FacetKind, FacetRequest, FacetSource, facet_requests};

/// The kinds of pages that have extras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A table or view.
    Table,
    /// One row.
    Row,
    /// The result of SQL.
    Query,
}

macro_rules! extras {
    ($($variant:ident $name:literal $scopes:tt $description:literal,)+) => {
        /// An extra that `?_extra=` can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each has its description below")]
        pub enum Extra { $($variant,)+ }

        impl Extra {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in the URL and in the JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The kinds of pages that have it.
            pub fn scopes(self) -> &'static [Scope] {
                use Scope::{Query, Row, Table};
                match self { $(Self::$variant => &$scopes,)+ }
            }

            /// One sentence for the list of extras.
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)+ }
            }
        }
    };
}

extras! {
    Count "count" [Table] "How many rows match the filters, counted up to a cap",
    CountTruncated "count_truncated" [Table] "Whether the count stopped at its cap, so that there are more rows than it says",
    CountSql "count_sql" [Table] "The SQL that counts all matching rows",
    FacetResults "facet_results" [Table] "The facets: their values with counts and links, and which of them ran out of time",
    FacetsTimedOut "facets_timed_out" [Table] "The names of the facets that ran out of time",
    SuggestedFacets "suggested_facets" [Table] "Columns that would make good facets, each with the link that adds it",
    HumanDescriptionEn "human_description_en" [Table] "Filters and sort order as an English phrase",
    Columns "columns" [Table, Row, Query] "The names of the columns in the rows",
    AllColumns "all_columns" [Table] "The names of all columns of the table, whatever _col and _nocol leave out",
    PrimaryKeys "primary_keys" [Table, Row] "The names of the primary key's columns",
    ColumnDetails "column_details" [Table, Row] "What the schema says of each column",
    DisplayColumns "display_columns" [Table] "The columns as the page for people shows them",
    RenderCell "render_cell" [Table, Row, Query] "Cells that are shown otherwise than their value says, row by row",
    Debug "debug" [Table, Row, Query] "How the URL was understood",
    Request "request" [Table, Row, Query] "The request as it arrived",
    Query "query" [Table, Row, Query] "The SQL of the rows and its parameters",
    ColumnTypes "column_types" [Table, Row] "Column types that the configuration assigns",
    SetColumnTypeUi "set_column_type_ui" [Table] "What a form to assign column types needs, or null",
    Metadata "metadata" [Table, Row, Query] "Title, description, source and the like of the table and its columns",
    Extras "extras" [Table, Row, Query] "This list",
    Database "database" [Table, Row, Query] "The name of the database",
    Table "table" [Table, Row] "The name of the table",
    DatabaseColor "database_color" [Table, Row, Query] "The colour of the database: six hex digits",
    Renderers "renderers" [Table] "The other formats of this page, each with its link",
    CustomTableTemplates "custom_table_templates" [Table] "Names of templates that may show the rows, the first that exists does",
    SortedFacetResults "sorted_facet_results" [Table] "The facets in the order of the page for people",
    TableDefinition "table_definition" [Table] "The SQL that made the table and its indexes",
    ViewDefinition "view_definition" [Table] "The SQL that made the view",
    IsView "is_view" [Table] "Whether this is a view",
    Private "private" [Table, Row, Query] "Whether others than the present actor are kept out",
    ExpandableColumns "expandable_columns" [Table] "Foreign keys, each with the column that labels its values",
    ForeignKeyTables "foreign_key_tables" [Row] "Tables with rows that refer to this one: how many, and the link to them",
    FormHiddenArgs "form_hidden_args" [Table] "Arguments that the filter form carries along unseen",
}

impl Extra {
    /// Those that a kind of page has, in the order in which `_extra=extras` lists them.
    pub fn all(scope: Scope) -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(move |extra| extra.scopes().contains(&scope))
    }

    /// The extra of that name, if that kind of page has it.
    pub fn by_name(name: &str, scope: Scope) -> Option<Self> {
        Self::all(scope).find(|extra| extra.name() == name)
    }
}
