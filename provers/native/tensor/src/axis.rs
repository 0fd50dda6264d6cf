//! The weights of one axis of a tensor: any vector, or those of a point, which are written out when first read.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::multilinear::{equality, equality_of};

/// One weight per element, as a slice. Copies share them.
///
/// Of a point whose axis fills its cube the sums below have short forms, so a verifier never writes its weights out.
#[derive(Clone)]
pub struct Axis<E>(Arc<Kind<E>>);

enum Kind<E> {
    Vector(Vec<E>),
    Point {
        point: Vec<E>,
        extent: usize,
        written: OnceLock<Vec<E>>,
    },
}

impl<E> From<Vec<E>> for Axis<E> {
    fn from(weights: Vec<E>) -> Self {
        Self(Arc::new(Kind::Vector(weights)))
    }
}

impl<E: Extension> Deref for Axis<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        match &*self.0 {
            Kind::Vector(weights) => weights,
            Kind::Point {
                point,
                extent,
                written,
            } => written.get_or_init(|| {
                let mut table = equality(point);
                table.truncate(*extent);
                table
            }),
        }
    }
}

impl<E: Extension> Axis<E> {
    /// eq(point, .) on the first elements of the cube, so many as the extent.
    pub fn point(point: &[E], extent: usize) -> Self {
        Self(Arc::new(Kind::Point {
            point: point.to_vec(),
            extent,
            written: OnceLock::new(),
        }))
    }

    /// How many elements have weights; nothing is written out for it.
    pub fn extent(&self) -> usize {
        match &*self.0 {
            Kind::Vector(weights) => weights.len(),
            Kind::Point { extent, .. } => *extent,
        }
    }

    /// The point whose weights on a whole cube these are.
    fn cube(&self) -> Option<&[E]> {
        match &*self.0 {
            Kind::Point { point, extent, .. } if *extent == 1 << point.len() => Some(point),
            _ => None,
        }
    }

    /// The sum of the weights.
    pub fn sum(&self) -> E {
        match self.cube() {
            Some(_) => E::ONE,
            None => self.iter().fold(E::ZERO, |sum, &weight| sum + weight),
        }
    }

    /// The sum of the elements' numbers, from 0, times their weights.
    pub fn number(&self) -> E {
        let numbers = |place: u64| F::reduced(place);
        match self.cube() {
            Some(point) => point
                .iter()
                .enumerate()
                .fold(E::ZERO, |sum, (i, &r)| sum + r * numbers(1 << i)),
            None => {
                let mut sum = E::Sum::default();
                for (place, &weight) in self.iter().enumerate() {
                    sum.base(weight, numbers(place as u64));
                }
                sum.value()
            }
        }
    }

    /// The sum of the products of two axes' weights.
    pub fn times(&self, other: &Self) -> E {
        match (self.cube(), other.cube()) {
            (Some(x), Some(y)) => equality_of(x, y),
            _ => product_sum(self, other),
        }
    }
}

/// The sum of the products of weights.
pub fn product_sum<E: Extension>(x: &[E], y: &[E]) -> E {
    let mut sum = E::Sum::default();
    for (&x, &y) in x.iter().zip(y) {
        sum.add(x, y);
    }
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::quadratic::Quadratic;

    fn points_and_vectors<E: Extension>() {
        for (variables, extent) in [(0, 1), (1, 2), (3, 5), (3, 8), (6, 33), (6, 64)] {
            let point: Vec<E> = (0..variables).map(element).collect();
            let other: Vec<E> = (0..variables).map(|i| element(i + 90)).collect();
            let axis = Axis::point(&point, extent);
            let mut weights = equality(&point);
            weights.truncate(extent);
            let vector = Axis::from(weights);
            assert_eq!((axis.extent(), vector.extent()), (extent, extent));
            assert_eq!(axis.sum(), vector.sum());
            assert_eq!(axis.number(), vector.number());
            let other = Axis::point(&other, extent);
            assert_eq!(axis.times(&other), product_sum(&vector, &other));
            assert_eq!(axis.times(&other), vector.times(&other));
            assert_eq!(*axis, *vector);
        }
    }

    #[test]
    fn the_short_forms_of_a_point_are_the_sums_of_its_weights() {
        points_and_vectors::<Quadratic>();
        points_and_vectors::<Cubic>();
    }
}
