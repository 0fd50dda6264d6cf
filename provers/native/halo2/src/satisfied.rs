//! Whether a witness satisfies a system: before a proof is made of it, and with a name for what it breaks.

use std::collections::{HashMap, HashSet};

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::halo2curves::ff::Field;
use rayon::prelude::*;

use crate::shape::Cells;
use crate::system::System;

/// What a witness breaks: the first row of the first gate, lookup or copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub what: &'static str,
    pub place: usize,
    pub row: usize,
}

/// The values of all columns; rows beyond a column's end are 0.
pub struct Values<'a> {
    pub system: &'a System,
    /// One for each advice column.
    pub advice: Vec<&'a [Fr]>,
    pub instances: &'a [Vec<Fr>],
    pub challenges: &'a [Fr],
}

fn at(column: &[Fr], row: usize, rotation: i32) -> Fr {
    row.checked_add_signed(rotation as isize)
        .and_then(|row| column.get(row))
        .copied()
        .unwrap_or(Fr::ZERO)
}

impl Values<'_> {
    fn row(&self, row: usize) -> Vec<Fr> {
        let shape = &self.system.shape;
        let cells = Cells {
            constant: &|index| shape.constants[index],
            advice: &|column, rotation| at(self.advice[column], row, rotation),
            fixed: &|column, rotation| at(&self.system.fixed[column], row, rotation),
            instance: &|column, rotation| at(&self.instances[column], row, rotation),
            challenge: &|index| self.challenges[index],
        };
        shape.fold(&cells, |a, b| a + b, |a, b| a * b, |a| -a)
    }

    fn column(&self, column: usize) -> &[Fr] {
        let advice = self.advice.len();
        let fixed = advice + self.system.fixed.len();
        match column {
            column if column < advice => self.advice[column],
            column if column < fixed => &self.system.fixed[column - advice],
            column => &self.instances[column - fixed],
        }
    }

    /// What is broken first, on the used rows and on one of those behind them.
    pub fn broken(&self) -> Option<Broken> {
        let shape = &self.system.shape;
        let cell = |column: i32, row: i32| at(self.column(column as usize), row as usize, 0);
        let copy = self
            .system
            .copies
            .par_iter()
            .position_first(|&[a, b, c, d]| cell(a, b) != cell(c, d));
        if let Some(place) = copy {
            let row = self.system.copies[place][1] as usize;
            return Some(Broken {
                what: "copy",
                place,
                row,
            });
        }
        let rows = (0..shape.rows + 1)
            .into_par_iter()
            .with_min_len(256)
            .map(|row| {
                let values = self.row(row);
                let gate = shape.gates.iter().position(|&gate| values[gate] != Fr::ZERO);
                let lookups = shape.lookups.iter().flat_map(|lookup| {
                    let nodes = lookup.inputs.iter().chain(&lookup.table);
                    nodes.map(|&node| values[node])
                });
                (gate, lookups.collect::<Vec<_>>())
            })
            .collect::<Vec<_>>();
        let gate = rows.iter().position(|(gate, _)| gate.is_some());
        if let Some((row, place)) = gate.and_then(|row| Some((row, rows[row].0?))) {
            return Some(Broken {
                what: "gate",
                place,
                row,
            });
        }
        let mut starts = Vec::with_capacity(shape.lookups.len());
        let mut start = 0;
        for lookup in &shape.lookups {
            starts.push(start);
            start += 2 * lookup.inputs.len();
        }
        // Lookups in one table share the set of its tuples.
        let mut tables: HashMap<&[usize], HashSet<&[Fr]>> = HashMap::new();
        for (lookup, &start) in shape.lookups.iter().zip(&starts) {
            let width = lookup.inputs.len();
            tables.entry(&lookup.table).or_insert_with(|| {
                rows.iter()
                    .map(|(_, values)| &values[start + width..start + 2 * width])
                    .collect()
            });
        }
        (0..shape.lookups.len()).into_par_iter().find_map_first(|place| {
            let (lookup, start) = (&shape.lookups[place], starts[place]);
            let table = &tables[&lookup.table[..]];
            let width = lookup.inputs.len();
            rows.iter()
                .position(|(_, values)| !table.contains(&values[start..start + width]))
                .map(|row| Broken {
                    what: "lookup",
                    place,
                    row,
                })
        })
    }
}
