//! The expressions of a shape as straight-line code over the cells around a row.

use std::collections::HashMap;

use ark_bn254::Fr;

use crate::convert::to_ark_scalar;
use crate::polynomial::{Element, zero};
use crate::shape::{Node, Shape};
use circuitize_curves::lazy::{Lazy, Relax};

#[derive(Clone, Copy)]
enum Step {
    Add(u32, u32),
    Multiply(u32, u32),
    Negate(u32),
}

/// Which of the four kinds of columns a cell is in.
#[derive(Clone, Copy)]
enum Load {
    Advice(u32, i32),
    Fixed(u32, i32),
    Instance(u32, i32),
}

/// Code that computes some nodes; slots hold constants and challenges, then cells, then results.
pub struct Program {
    start: Vec<Element>,
    loads: Vec<Load>,
    steps: Vec<Step>,
    roots: Vec<u32>,
}

/// Columns of one length, a power of two, over whose end rotations wrap around.
pub struct Table<'a> {
    pub advice: &'a [&'a [Element]],
    pub fixed: &'a [&'a [Element]],
    pub instances: &'a [&'a [Element]],
}

impl Program {
    /// For the nodes `roots`, in their order.
    pub fn new(shape: &Shape, roots: &[usize], challenges: &[Fr]) -> Self {
        let needed = shape.needed(roots);
        let chosen = || shape.nodes.iter().enumerate().filter(|(place, _)| needed[*place]);
        let mut slots = HashMap::new();
        let mut start = Vec::new();
        for (place, node) in chosen() {
            let value = match *node {
                Node::Constant(index) => to_ark_scalar(&shape.constants[index]),
                Node::Challenge(index) => challenges[index],
                _ => continue,
            };
            slots.insert(place, start.len() as u32);
            start.push(value.relax());
        }
        let mut loads = Vec::new();
        for (place, node) in chosen() {
            loads.push(match *node {
                Node::Advice(column, rotation) => Load::Advice(column as u32, rotation),
                Node::Fixed(column, rotation) => Load::Fixed(column as u32, rotation),
                Node::Instance(column, rotation) => Load::Instance(column as u32, rotation),
                _ => continue,
            });
            slots.insert(place, (start.len() + loads.len() - 1) as u32);
        }
        let mut steps = Vec::new();
        for (place, node) in chosen() {
            steps.push(match *node {
                Node::Add(left, right) => Step::Add(slots[&left], slots[&right]),
                Node::Multiply(left, right) => Step::Multiply(slots[&left], slots[&right]),
                Node::Negate(child) => Step::Negate(slots[&child]),
                _ => continue,
            });
            slots.insert(place, (start.len() + loads.len() + steps.len() - 1) as u32);
        }
        let roots = roots.iter().map(|root| slots[root]).collect();
        Self {
            start,
            loads,
            steps,
            roots,
        }
    }

    /// Room for one thread.
    pub fn slots(&self) -> Vec<Element> {
        let mut slots = self.start.clone();
        slots.resize(self.start.len() + self.loads.len() + self.steps.len(), zero());
        slots
    }

    /// Computes a row; `root` then reads what the nodes are.
    pub fn run(&self, slots: &mut [Element], table: &Table, row: usize) {
        let mut at = self.start.len();
        for load in &self.loads {
            let (column, rotation) = match *load {
                Load::Advice(column, rotation) => (table.advice[column as usize], rotation),
                Load::Fixed(column, rotation) => (table.fixed[column as usize], rotation),
                Load::Instance(column, rotation) => (table.instances[column as usize], rotation),
            };
            slots[at] = column[row.wrapping_add_signed(rotation as isize) & (column.len() - 1)];
            at += 1;
        }
        for step in &self.steps {
            slots[at] = match *step {
                Step::Add(left, right) => slots[left as usize].add(slots[right as usize]),
                Step::Multiply(left, right) => slots[left as usize].mul(slots[right as usize]),
                Step::Negate(child) => zero().sub(slots[child as usize]),
            };
            at += 1;
        }
    }

    pub fn root(&self, slots: &[Element], place: usize) -> Element {
        slots[self.roots[place] as usize]
    }
}
