//! The extras of a table page: what there is beyond the rows. One file per
//! extra that needs SQL; the others are made of plan and request when rendered.

pub mod count;
mod facet_request;
pub mod facets;
pub mod labels;
pub mod suggest;

pub use facet_request::{FacetKind, FacetRequest, FacetSource, facet_requests};

macro_rules! extras {
    ($($variant:ident $name:literal $description:literal,)+) => {
        /// An extra that `?_extra=` can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each has its description below")]
        pub enum Extra { $($variant,)+ }

        impl Extra {
            /// All, in the order in which `_extra=extras` lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in the URL and in the JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for the list of extras.
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)+ }
            }
        }
    };
}

extras! {
    Count "count" "How many rows match the filters, counted up to a cap",
    CountTruncated "count_truncated" "Whether the count stopped at its cap, so that there are more rows than it says",
    CountSql "count_sql" "The SQL that counts all matching rows",
    FacetResults "facet_results" "The facets: their values with counts and links, and which of them ran out of time",
    FacetsTimedOut "facets_timed_out" "The names of the facets that ran out of time",
    SuggestedFacets "suggested_facets" "Columns that would make good facets, each with the link that adds it",
    HumanDescriptionEn "human_description_en" "Filters and sort order as an English phrase",
    Columns "columns" "The names of the columns in the rows",
    AllColumns "all_columns" "The names of all columns of the table, whatever _col and _nocol leave out",
    PrimaryKeys "primary_keys" "The names of the primary key's columns",
    ColumnDetails "column_details" "What the schema says of each column",
    DisplayColumns "display_columns" "The columns as the page for people shows them",
    RenderCell "render_cell" "Cells that are shown otherwise than their value says, row by row",
    Debug "debug" "How the URL was understood",
    Request "request" "The request as it arrived",
    Query "query" "The SQL of the rows and its parameters",
    ColumnTypes "column_types" "Column types that the configuration assigns",
    SetColumnTypeUi "set_column_type_ui" "What a form to assign column types needs, or null",
    Metadata "metadata" "Title, description, source and the like of the table and its columns",
    Extras "extras" "This list",
    Database "database" "The name of the database",
    Table "table" "The name of the table",
    DatabaseColor "database_color" "The colour of the database: six hex digits",
    Renderers "renderers" "The other formats of this page, each with its link",
    CustomTableTemplates "custom_table_templates" "Names of templates that may show the rows, the first that exists does",
    SortedFacetResults "sorted_facet_results" "The facets in the order of the page for people",
    TableDefinition "table_definition" "The SQL that made the table and its indexes",
    ViewDefinition "view_definition" "The SQL that made the view",
    IsView "is_view" "Whether this is a view",
    Private "private" "Whether others than the present actor are kept out",
    ExpandableColumns "expandable_columns" "Foreign keys, each with the column that labels its values",
    FormHiddenArgs "form_hidden_args" "Arguments that the filter form carries along unseen",
}

impl Extra {
    /// The extra of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|extra| extra.name() == name)
    }
}
