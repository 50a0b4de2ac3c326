//! How a page runs its extras.

use std::fmt;
use std::str::FromStr;

/// `--extras`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtrasMode {
    /// What is ready runs at once, over the pool.
    Parallel,
    /// One after another, on one connection.
    Sequential,
    /// Decided page by page: parallel while there are idle threads.
    #[default]
    Auto,
}

impl ExtrasMode {
    /// The name that is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Sequential => "sequential",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for ExtrasMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ExtrasMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "parallel" => Ok(Self::Parallel),
            "sequential" => Ok(Self::Sequential),
            "auto" => Ok(Self::Auto),
            other => Err(format!(
                "{other:?} is no way to run extras: parallel, sequential or auto"
            )),
        }
    }
}
