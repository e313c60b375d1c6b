//! What comes in: columns as dictionary codes, domains, roles, readers.
//!
//! A table is read once to be *counted*: how often each distinct tuple of quasi and
//! sensitive values occurs. Everything up to the plan works on these counts, so memory
//! follows the number of distinct tuples, not of rows.

mod arrow;
mod batches;
mod census;
mod counts;
mod csv;
mod domain;
mod file_kind;
mod guard;
mod header;
mod held;
mod index;
mod inputs;
mod ipc;
mod knowledge;
mod left_out;
mod notation;
mod numbers;
mod options;
mod packed;
mod parquet;
mod persons;
mod public_domain;
mod scan;
mod schema;
mod source;
mod store;
mod value;

pub use self::arrow::ColumnForm;
pub use self::parquet::is_guarded;
pub use census::{Census, Histogram};
pub use counts::Counts;
pub use domain::{Domain, Unreadable};
pub(crate) use guard::{formulas, guarded};
pub use index::{
    ClassId, Code, ColumnId, EntryId, GroupId, Id, Ids, NodeId, Of, RowId, TupleId,
};
pub(crate) use index::{ids, pair, unpair};
pub use inputs::{Input, Inputs};
pub use knowledge::{Stated, StatedSet};
pub use left_out::LeftOutRows;
use numbers::decimals;
pub use numbers::{Numbers, NumbersTask, parse_finite, snapped};
pub use options::{Notation, Password, ReadOptions};
pub use packed::query::{is_server, public_name};
pub use packed::stream::check_encoding;
pub use persons::{Owner, PersonCounts, Persons};
pub(crate) use public_domain::strays;
pub use public_domain::{Members, PublicDomain, left_domain};
pub use scan::{Dictionary, Scan, scan};
pub(crate) use schema::TypeEvidence;
pub use schema::{ColumnSchema, Said, Schema, is_plain_number};
pub use source::{Folded, RowPlace, Source};
pub use value::{Reading, format_date, format_number, parse_date, parse_number};

use serde::{Deserialize, Serialize};

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names a person; never published.
    Identifier,
    /// Known to an adversary from elsewhere; coarsened.
    Quasi,
    /// What the adversary wants to know.
    Sensitive,
    /// Neither; published as it is.
    Other,
    /// Not wanted; never published.
    Drop,
}

impl Role {
    /// As recipes and manifests have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Quasi => "quasi",
            Self::Sensitive => "sensitive",
            Self::Other => "other",
            Self::Drop => "drop",
        }
    }
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Words.
    Category,
    /// Numbers.
    Number,
    /// Days of the calendar.
    Date,
}

impl Kind {
    /// As recipes and manifests have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Number => "number",
            Self::Date => "date",
        }
    }
}
