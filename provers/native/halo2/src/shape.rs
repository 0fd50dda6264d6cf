//! A Plonkish constraint system without its values: columns, expressions, gates, lookups, and which columns are copied.

#![warn(missing_docs)]

use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::halo2curves::ff::Field;
use rand_core::OsRng;

use crate::errors::ShapeError;

/// The most that a gate may be multiplied out to: expressions are trees in the prover, and shared nodes are copied.
pub(crate) const LARGEST_TREE: u64 = 1 << 20;
/// Degrees beyond which the extended domain would be larger than 64 times the rows.
pub(crate) const LARGEST_DEGREE: u64 = 65;
const LARGEST_ROTATION: u32 = 1 << 10;
pub(crate) const LARGEST_CHALLENGES: usize = 64;
/// The logarithm of the most rows.
pub const LARGEST_K: u32 = 24;

/// One node of an expression; children come before their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// One of the shape's constants.
    Constant(usize),
    /// A cell of an advice column, so many rows further.
    Advice(usize, i32),
    /// A cell of a fixed column.
    Fixed(usize, i32),
    /// A cell of an instance column.
    Instance(usize, i32),
    /// A challenge.
    Challenge(usize),
    /// The sum of two nodes.
    Add(usize, usize),
    /// The product of two nodes.
    Multiply(usize, usize),
    /// A node times -1.
    Negate(usize),
}

/// A lookup: the tuple of input nodes is in the table that the tuple of table nodes lists, on every row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// Nodes of what is looked up.
    pub inputs: Vec<usize>,
    /// Nodes of the table, as many.
    pub table: Vec<usize>,
}

/// Everything about a constraint system that does not grow with its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Rows that are used; behind them come those that blind.
    pub rows: usize,
    /// 0 or 1 for each advice column.
    pub phases: Vec<u8>,
    /// How many fixed columns there are.
    pub fixed: usize,
    /// The length of each instance column.
    pub instances: Vec<usize>,
    /// Challenges that are drawn after the columns of phase 0.
    pub challenges: usize,
    /// Those that nodes name.
    pub constants: Vec<Fr>,
    /// All nodes of expressions.
    pub nodes: Vec<Node>,
    /// Nodes that are zero on every row.
    pub gates: Vec<usize>,
    /// All lookups.
    pub lookups: Vec<Lookup>,
    /// The columns that copies name, ascending, numbered advice, fixed, instance.
    pub copied: Vec<usize>,
}

/// What the values of an expression are computed from.
pub struct Cells<'a, T> {
    /// Of constants.
    pub constant: &'a dyn Fn(usize) -> T,
    /// Of advice cells.
    pub advice: &'a dyn Fn(usize, i32) -> T,
    /// Of fixed cells.
    pub fixed: &'a dyn Fn(usize, i32) -> T,
    /// Of instance cells.
    pub instance: &'a dyn Fn(usize, i32) -> T,
    /// Of challenges.
    pub challenge: &'a dyn Fn(usize) -> T,
}

impl Shape {
    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.phases.len() + self.fixed + self.instances.len()
    }

    /// Whether columns are made after challenges.
    pub fn two_phases(&self) -> bool {
        self.phases.contains(&1)
    }

    /// The value of every node.
    pub fn fold<T: Clone>(
        &self,
        cells: &Cells<T>,
        add: impl Fn(&T, &T) -> T,
        multiply: impl Fn(&T, &T) -> T,
        negate: impl Fn(&T) -> T,
    ) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match *node {
                Node::Constant(index) => (cells.constant)(index),
                Node::Advice(column, rotation) => (cells.advice)(column, rotation),
                Node::Fixed(column, rotation) => (cells.fixed)(column, rotation),
                Node::Instance(column, rotation) => (cells.instance)(column, rotation),
                Node::Challenge(index) => (cells.challenge)(index),
                Node::Add(left, right) => add(&values[left], &values[right]),
                Node::Multiply(left, right) => multiply(&values[left], &values[right]),
                Node::Negate(child) => negate(&values[child]),
            });
        }
        values
    }

    /// Which nodes the given ones are computed from, themselves included.
    pub fn needed(&self, roots: &[usize]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        roots.iter().for_each(|&root| needed[root] = true);
        for place in (0..self.nodes.len()).rev() {
            if !needed[place] {
                continue;
            }
            match self.nodes[place] {
                Node::Add(left, right) | Node::Multiply(left, right) => {
                    needed[left] = true;
                    needed[right] = true;
                }
                Node::Negate(child) => needed[child] = true,
                _ => {}
            }
        }
        needed
    }

    fn degrees(&self) -> Vec<u64> {
        let (zero, one) = (|_| 0, |_, _| 1);
        let cells = Cells {
            constant: &zero,
            advice: &one,
            fixed: &one,
            instance: &one,
            challenge: &zero,
        };
        self.fold(&cells, |a, b| *a.max(b), |a, b| a.saturating_add(*b), |a| *a)
    }

    /// The degree of the whole argument: of gates, of lookups with their products, and of copies.
    pub fn degree(&self) -> usize {
        let degrees = self.degrees();
        let most = |nodes: &[usize]| nodes.iter().map(|&node| degrees[node]).max().unwrap_or(0).max(1);
        let gates = self.gates.iter().map(|&node| degrees[node]).max().unwrap_or(0);
        let lookups = self
            .lookups
            .iter()
            .map(|lookup| (2 + most(&lookup.inputs) + most(&lookup.table)).max(4))
            .max()
            .unwrap_or(0);
        gates.max(lookups).max(3) as usize
    }

    /// Why this is not a constraint system that can be proved soundly.
    pub fn check(self) -> Result<Arc<Self>, ShapeError> {
        self.check_columns()?;
        self.check_nodes()?;
        self.check_expressions()?;
        self.check_selected()?;
        Ok(Arc::new(self))
    }

    fn check_columns(&self) -> Result<(), ShapeError> {
        if self.rows == 0 || self.rows >= 1 << LARGEST_K {
            return Err(ShapeError::Rows(self.rows));
        }
        if !self.phases.contains(&0) {
            return Err(ShapeError::NoFirstPhase);
        }
        if let Some(&phase) = self.phases.iter().find(|&&phase| phase > 1) {
            return Err(ShapeError::Phase(phase));
        }
        if self.two_phases() && self.challenges == 0 {
            return Err(ShapeError::NoChallenge);
        }
        if self.challenges > LARGEST_CHALLENGES {
            return Err(ShapeError::Challenges(self.challenges));
        }
        if self.instances.iter().any(|&length| length > self.rows) {
            return Err(ShapeError::LongInstance);
        }
        if self.instances.iter().sum::<usize>() == 0 {
            return Err(ShapeError::NoInstance);
        }
        let ascending = self.copied.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || self.copied.last().is_some_and(|&column| column >= self.columns()) {
            return Err(ShapeError::Copied);
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), ShapeError> {
        for (place, node) in self.nodes.iter().enumerate() {
            let rotated = |column: usize, columns: usize, rotation: i32| {
                column < columns && rotation.unsigned_abs() <= LARGEST_ROTATION
            };
            let sound = match *node {
                Node::Constant(index) => index < self.constants.len(),
                Node::Advice(column, rotation) => rotated(column, self.phases.len(), rotation),
                Node::Fixed(column, rotation) => rotated(column, self.fixed, rotation),
                Node::Instance(column, rotation) => rotated(column, self.instances.len(), rotation),
                Node::Challenge(index) => index < self.challenges,
                Node::Add(left, right) | Node::Multiply(left, right) => left < place && right < place,
                Node::Negate(child) => child < place,
            };
            if !sound {
                return Err(ShapeError::Node { place, node: *node });
            }
        }
        Ok(())
    }

    fn check_expressions(&self) -> Result<(), ShapeError> {
        for lookup in &self.lookups {
            if lookup.inputs.is_empty() || lookup.inputs.len() != lookup.table.len() {
                return Err(ShapeError::Lookup);
            }
        }
        let lookups = self
            .lookups
            .iter()
            .flat_map(|lookup| lookup.inputs.iter().chain(&lookup.table));
        let roots = self.gates.iter().chain(lookups).copied().collect::<Vec<_>>();
        if roots.iter().any(|&root| root >= self.nodes.len()) {
            return Err(ShapeError::Root);
        }
        let (one, leaf) = (|_| 1u64, |_, _| 1u64);
        let cells = Cells {
            constant: &one,
            advice: &leaf,
            fixed: &leaf,
            instance: &leaf,
            challenge: &one,
        };
        let join = |a: &u64, b: &u64| a.saturating_add(*b).saturating_add(1);
        let sizes = self.fold(&cells, join, join, |a| a.saturating_add(1));
        let total = roots
            .iter()
            .fold(0u64, |sum, &root| sum.saturating_add(sizes[root]));
        if total > LARGEST_TREE {
            return Err(ShapeError::Tree(total));
        }
        let degree = self.degree() as u64;
        if degree > LARGEST_DEGREE {
            return Err(ShapeError::Degree(degree));
        }
        Ok(())
    }

    /// Gates hold on every row of the domain, also on those whose advice is random: fixed columns must switch them off.
    fn check_selected(&self) -> Result<(), ShapeError> {
        let (constant, random) = (|index: usize| self.constants[index], |_, _| Fr::random(OsRng));
        let (zero, challenge) = (|_, _| Fr::ZERO, |_| Fr::random(OsRng));
        let cells = Cells {
            constant: &constant,
            advice: &random,
            fixed: &zero,
            instance: &random,
            challenge: &challenge,
        };
        let values = self.fold(&cells, |a, b| a + b, |a, b| a * b, |a| -a);
        match self.gates.iter().position(|&gate| values[gate] != Fr::ZERO) {
            Some(place) => Err(ShapeError::Unselected(place)),
            None => Ok(()),
        }
    }
}

impl Node {
    /// Of a kind and its two numbers; None where there is no such kind, or a number is none of its.
    pub fn new([kind, a, b]: [i32; 3]) -> Option<Self> {
        let place = |number: i32| usize::try_from(number).ok();
        let unused = |node: Self| (b == 0).then_some(node);
        match kind {
            0 => unused(Self::Constant(place(a)?)),
            1 => Some(Self::Advice(place(a)?, b)),
            2 => Some(Self::Fixed(place(a)?, b)),
            3 => Some(Self::Instance(place(a)?, b)),
            4 => unused(Self::Challenge(place(a)?)),
            5 => Some(Self::Add(place(a)?, place(b)?)),
            6 => Some(Self::Multiply(place(a)?, place(b)?)),
            7 => unused(Self::Negate(place(a)?)),
            _ => None,
        }
    }

    /// The inverse of `new`.
    pub fn parts(&self) -> [i32; 3] {
        let place = |number: usize| number as i32;
        match *self {
            Self::Constant(index) => [0, place(index), 0],
            Self::Advice(column, rotation) => [1, place(column), rotation],
            Self::Fixed(column, rotation) => [2, place(column), rotation],
            Self::Instance(column, rotation) => [3, place(column), rotation],
            Self::Challenge(index) => [4, place(index), 0],
            Self::Add(left, right) => [5, place(left), place(right)],
            Self::Multiply(left, right) => [6, place(left), place(right)],
            Self::Negate(child) => [7, place(child), 0],
        }
    }
}
