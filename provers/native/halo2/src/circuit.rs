//! The crate's constraint system of a shape: what its verifier checks.

#![warn(missing_docs)]

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::halo2curves::ff::Field;
use halo2_axiom::plonk::{
    Advice, Any, Column, ConstraintSystem, Expression, FirstPhase, Fixed, Instance, SecondPhase, VirtualCells,
};
use halo2_axiom::poly::Rotation;

use crate::errors::ShapeError;
use crate::shape::{LARGEST_K, Node, Shape};

/// What follows from a shape alone.
pub struct Sizes {
    /// The logarithm of the rows, blinding included.
    pub k: u32,
    /// The crate's constraint system.
    pub constraints: ConstraintSystem<Fr>,
}

/// The sizes of a shape; an error where it has too many rows.
pub fn sizes(shape: &Shape) -> Result<Sizes, ShapeError> {
    let mut constraints = ConstraintSystem::default();
    configure(&mut constraints, shape);
    let blinded = constraints.blinding_factors() + 1;
    let least = (shape.rows + blinded).max(constraints.minimum_rows());
    let k = least.next_power_of_two().trailing_zeros();
    if k > LARGEST_K {
        return Err(ShapeError::Large(k));
    }
    Ok(Sizes { k, constraints })
}

/// Allocates the columns of a shape, and puts in its gates, lookups and copies.
fn configure(meta: &mut ConstraintSystem<Fr>, shape: &Shape) {
    let mut advice = vec![None; shape.phases.len()];
    // Columns of the first phase are allocated first: the second phase may only follow an existing one.
    for phase in [0, 1] {
        for (place, column) in advice.iter_mut().enumerate() {
            if shape.phases[place] == phase {
                *column = Some(match phase {
                    0 => meta.advice_column_in(FirstPhase),
                    _ => meta.advice_column_in(SecondPhase),
                });
            }
        }
    }
    let advice = advice.into_iter().flatten().collect::<Vec<_>>();
    let fixed = (0..shape.fixed).map(|_| meta.fixed_column()).collect::<Vec<_>>();
    let instances = shape
        .instances
        .iter()
        .map(|_| meta.instance_column())
        .collect::<Vec<_>>();
    let challenges = (0..shape.challenges)
        .map(|_| meta.challenge_usable_after(FirstPhase))
        .collect::<Vec<_>>();
    for &column in &shape.copied {
        meta.enable_equality(any_column(column, &advice, &fixed, &instances));
    }
    let build = |meta: &mut VirtualCells<'_, Fr>, roots: &[usize]| -> Vec<Expression<Fr>> {
        let mut made: Vec<Option<Expression<Fr>>> = vec![None; shape.nodes.len()];
        let needed = shape.needed(roots);
        let of = |made: &[Option<Expression<Fr>>], node: usize| {
            made[node].clone().unwrap_or(Expression::Constant(Fr::ZERO))
        };
        for (place, node) in shape.nodes.iter().enumerate().filter(|(place, _)| needed[*place]) {
            made[place] = Some(match *node {
                Node::Constant(index) => Expression::Constant(shape.constants[index]),
                Node::Advice(column, rotation) => meta.query_advice(advice[column], Rotation(rotation)),
                Node::Fixed(column, rotation) => meta.query_fixed(fixed[column], Rotation(rotation)),
                Node::Instance(column, rotation) => {
                    meta.query_instance(instances[column], Rotation(rotation))
                }
                Node::Challenge(index) => challenges[index].expr(),
                Node::Add(left, right) => of(&made, left) + of(&made, right),
                Node::Multiply(left, right) => of(&made, left) * of(&made, right),
                Node::Negate(child) => -of(&made, child),
            });
        }
        roots.iter().map(|&root| of(&made, root)).collect()
    };
    if !shape.gates.is_empty() {
        meta.create_gate("gates", |meta| build(meta, &shape.gates));
    }
    for lookup in &shape.lookups {
        meta.lookup_any("lookup", |meta| {
            let inputs = build(meta, &lookup.inputs);
            inputs.into_iter().zip(build(meta, &lookup.table)).collect()
        });
    }
    // The crate would cap the degree at what an environment variable says, unless a minimum is set.
    meta.set_minimum_degree(shape.degree());
}

fn any_column(
    column: usize,
    advice: &[Column<Advice>],
    fixed: &[Column<Fixed>],
    instances: &[Column<Instance>],
) -> Column<Any> {
    let after = column.checked_sub(advice.len());
    match after.map(|place| (place, place.checked_sub(fixed.len()))) {
        None => advice[column].into(),
        Some((place, None)) => fixed[place].into(),
        Some((_, Some(place))) => instances[place].into(),
    }
}
