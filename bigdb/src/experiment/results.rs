//! The numbers of an experiment.

use serde_json::{Value, json};

use super::{PAGES, Setup};
use crate::cli::Extras;
use crate::load::Cost;
use crate::statistics::{median, thousands};

/// Which of the two times of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Wall,
    Cpu,
}

impl Metric {
    pub const ALL: [Metric; 2] = [Metric::Wall, Metric::Cpu];

    pub fn title(self) -> &'static str {
        match self {
            Metric::Wall => "ms a page",
            Metric::Cpu => "CPU ms a page",
        }
    }

    fn of(self, cost: &Cost) -> f64 {
        match self {
            Metric::Wall => cost.wall_ms,
            Metric::Cpu => cost.cpu_ms,
        }
    }
}

/// One page on one server under one load.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Index in [`Results::setups`].
    pub setup: usize,
    /// Index in [`PAGES`].
    pub page: usize,
    pub in_flight: usize,
    /// One for each round.
    pub costs: Vec<Cost>,
}

impl Cell {
    pub fn new(setup: usize, page: usize, in_flight: usize) -> Self {
        Cell {
            setup,
            page,
            in_flight,
            costs: Vec::new(),
        }
    }

    fn values(&self, metric: Metric) -> Vec<f64> {
        self.costs.iter().map(|cost| metric.of(cost)).collect()
    }
}

/// All numbers of an experiment.
pub struct Results {
    /// Rows of the large table.
    pub rows: u64,
    pub rounds: usize,
    /// Whether the same URLs were asked for again.
    pub repeat: bool,
    pub setups: Vec<Setup>,
    pub cells: Vec<Cell>,
}

impl Results {
    /// The median over the rounds; NaN if it was not measured.
    pub fn get(&self, setup: usize, page: usize, in_flight: usize, metric: Metric) -> f64 {
        self.cell(setup, page, in_flight)
            .map_or(f64::NAN, |cell| median(&cell.values(metric)))
    }

    /// What each of [`PAGES`] is called.
    pub fn titles(&self) -> [String; PAGES.len()] {
        let rows = thousands(self.rows);
        [
            "small table".to_owned(),
            "100-row page".to_owned(),
            format!("{rows} rows"),
            format!("{rows} rows, 2 facets"),
        ]
    }

    fn setup(&self, sql_threads: usize, extras: Extras) -> Option<usize> {
        let wanted = |setup: &Setup| setup.sql_threads == sql_threads && setup.extras == extras;
        self.setups.iter().position(wanted)
    }

    /// The numbers of SQL threads, in the order they were typed.
    pub fn sql_threads(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.setups.iter().map(|setup| setup.sql_threads).collect();
        numbers.dedup();
        numbers
    }

    /// CPU time of parallel extras over that of sequential ones; None if the
    /// experiment did not have both.
    pub fn cpu_ratio(&self, sql_threads: usize, page: usize, in_flight: usize) -> Option<f64> {
        let values = |extras| self.values(sql_threads, extras, page, in_flight, Metric::Cpu);
        paired(&values(Extras::Parallel)?, &values(Extras::Sequential)?)
    }

    /// Time of a page with extras `auto` over that of the better of the two fixed
    /// ways; None if the experiment did not have all three.
    pub fn auto_ratio(&self, sql_threads: usize, page: usize, in_flight: usize) -> Option<f64> {
        let values = |extras| self.values(sql_threads, extras, page, in_flight, Metric::Wall);
        let auto = values(Extras::Auto)?;
        let parallel = paired(&auto, &values(Extras::Parallel)?)?;
        let sequential = paired(&auto, &values(Extras::Sequential)?)?;
        Some(parallel.max(sequential))
    }

    fn values(
        &self,
        sql_threads: usize,
        extras: Extras,
        page: usize,
        in_flight: usize,
        metric: Metric,
    ) -> Option<Vec<f64>> {
        let setup = self.setup(sql_threads, extras)?;
        Some(self.cell(setup, page, in_flight)?.values(metric))
    }

    fn cell(&self, setup: usize, page: usize, in_flight: usize) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|cell| (cell.setup, cell.page, cell.in_flight) == (setup, page, in_flight))
    }

    /// Everything, with the value of each round.
    pub fn to_json(&self) -> Value {
        let titles = self.titles();
        let cells: Vec<Value> = self
            .cells
            .iter()
            .map(|cell| {
                let setup = self.setups[cell.setup];
                json!({
                    "sql_threads": setup.sql_threads,
                    "extras": setup.extras.name(),
                    "page": titles[cell.page],
                    "path": PAGES[cell.page],
                    "in_flight": cell.in_flight,
                    "ms": median(&cell.values(Metric::Wall)),
                    "cpu_ms": median(&cell.values(Metric::Cpu)),
                    "rounds_ms": cell.values(Metric::Wall),
                    "rounds_cpu_ms": cell.values(Metric::Cpu),
                })
            })
            .collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        json!({
            "rows": self.rows,
            "rounds": self.rounds,
            "repeat": self.repeat,
            "cores": cores,
            "cells": cells,
        })
    }
}

/// The median of what `a` is over `b` in each round: the two were measured one
/// after the other, so that a slow moment of the machine is in both. None without
/// a round.
fn paired(a: &[f64], b: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    (!ratios.is_empty()).then(|| median(&ratios))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Results of two numbers of threads with all modes, where sequential costs
    /// twice what parallel does.
    pub fn sample() -> Results {
        let modes = [Extras::Parallel, Extras::Sequential, Extras::Auto];
        let setups: Vec<Setup> = [1, 3]
            .into_iter()
            .flat_map(|sql_threads| {
                modes.map(|extras| Setup {
                    sql_threads,
                    extras,
                })
            })
            .collect();
        let mut cells = Vec::new();
        for (setup, of) in setups.iter().enumerate() {
            for (page, base) in [0.5, 2.0, 8.0, 40.0].into_iter().enumerate() {
                for in_flight in [1, 8] {
                    let factor = if of.extras == Extras::Sequential {
                        2.0
                    } else {
                        1.0
                    };
                    let cost = Cost {
                        wall_ms: base,
                        cpu_ms: base * factor,
                    };
                    cells.push(Cell {
                        setup,
                        page,
                        in_flight,
                        costs: vec![cost; 3],
                    });
                }
            }
        }
        Results {
            rows: 500_000,
            rounds: 3,
            repeat: false,
            setups,
            cells,
        }
    }

    #[test]
    fn the_ratio_compares_equal_cells() {
        let results = sample();
        assert_eq!(results.sql_threads(), [1, 3]);
        assert!((results.cpu_ratio(3, 2, 8).unwrap() - 0.5).abs() < 1e-9);
        assert!(results.cpu_ratio(5, 2, 8).is_none());
    }

    #[test]
    fn ratios_are_of_what_was_measured_side_by_side() {
        // The machine was ten times slower in the second round.
        let ratio = paired(&[1.0, 10.0, 1.0], &[2.0, 20.0, 2.0]).unwrap();
        assert!((ratio - 0.5).abs() < 1e-9);
        assert!(paired(&[], &[]).is_none());
    }

    #[test]
    fn auto_is_compared_with_the_better_way() {
        let mut results = sample();
        for cell in &mut results.cells {
            let wall_ms = match results.setups[cell.setup].extras {
                Extras::Parallel => 4.0,
                Extras::Sequential => 5.0,
                Extras::Auto => 4.4,
            };
            cell.costs.fill(Cost {
                wall_ms,
                cpu_ms: 1.0,
            });
        }
        assert!((results.auto_ratio(3, 0, 1).unwrap() - 1.1).abs() < 1e-9);
        results
            .setups
            .retain(|setup| setup.extras != Extras::Sequential);
        assert!(results.auto_ratio(3, 0, 1).is_none());
    }

    #[test]
    fn json_holds_every_cell() {
        let json = sample().to_json();
        assert_eq!(json["cells"].as_array().unwrap().len(), 48);
        assert_eq!(json["cells"][0]["extras"], "parallel");
        assert_eq!(json["cells"][0]["rounds_ms"].as_array().unwrap().len(), 3);
    }
}
