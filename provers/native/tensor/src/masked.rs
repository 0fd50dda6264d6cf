//! Masked messages: each number is sent with a pad added, and what a verifier would check of it is one equation of the pads
//! (docs/zero-knowledge.md, steps 2 to 4).

use crate::affine::Affine;
use crate::channel::Channel;
use crate::checks::Checks;
use crate::counting::{Counts, TRIPLE};
use crate::errors::Reject;
use crate::extension::Extension;
use crate::hidden_value::Hidden;
use crate::randomness::Randomness;

/// From this number on unknowns are products, in their order; those before are pads.
const PRODUCTS: usize = 1 << (usize::BITS - 1);

/// Uniform pads of these counts; the third of each triple is the product of the others.
pub fn draw_pads<E: Extension>(counts: Counts, randomness: &Randomness) -> Vec<E> {
    let mut pads: Vec<E> = randomness.elements("pads", counts.pads());
    for triple in pads[counts.numbers..].chunks_exact_mut(TRIPLE) {
        triple[2] = triple[0] * triple[1];
    }
    pads
}

/// One linear equation of the pads: the constant and the sum of pads times coefficients are zero.
pub struct Equation<E> {
    pub constant: E,
    pub coefficients: Vec<E>,
}

impl<E: Extension> Equation<E> {
    pub fn zero(counts: Counts) -> Self {
        Self {
            constant: E::ZERO,
            coefficients: vec![E::ZERO; counts.pads()],
        }
    }

    pub fn add(&mut self, form: &Affine<E>, factor: E) {
        self.constant += factor * form.constant;
        for &(number, coefficient) in &form.terms {
            self.coefficients[number] += factor * coefficient;
        }
    }
}

/// Sends numbers with pads added, and notes what must hold of them; `PROVING` says whether the pads are known.
///
/// Soundness: who fulfils all equations has numbers less pads that `Verifying` accepts with the same challenges, since every
/// check is noted here: a product's unknown is the product, but for the errors of `finish`, and what has an inverse is
/// not zero. That shows the statement only if the pads were committed to before the first challenge: then each message
/// fixes the one behind it before the next challenge.
pub struct Masking<'a, E, const PROVING: bool> {
    counts: Counts,
    pads: &'a [E],
    sent: usize,
    factors: Vec<[Hidden<E>; 2]>,
    linear: Vec<Affine<E>>,
}

impl<'a, E: Extension, const PROVING: bool> Masking<'a, E, PROVING> {
    /// The verifier holds no pads.
    pub fn new(counts: Counts, pads: &'a [E]) -> Self {
        Self {
            counts,
            pads,
            sent: 0,
            factors: Vec::new(),
            linear: Vec::new(),
        }
    }

    fn pad(&self, number: usize) -> E {
        if PROVING { self.pads[number] } else { E::ZERO }
    }

    /// Every equation at once, with products by their factors less the triples' masks.
    ///
    /// Soundness: with r A - a = x and B - b = y, c + y a + x b + x y = r A B + c - a b. So an equation that sums products
    /// holds, where c is not a b, of at most one r, unless it holds of the products themselves.
    pub fn finish(self, channel: &mut Channel) -> Result<Equation<E>, Reject> {
        let found = Counts {
            numbers: self.sent,
            products: self.factors.len(),
            equations: self.linear.len(),
        };
        if found != self.counts {
            return Err(Reject::OtherValues);
        }
        let scale: E = channel.challenge("products.scale");
        if scale == E::ZERO {
            return Err(Reject::Scale);
        }
        let less = channel.scalars("products.factors", 2 * self.factors.len(), || {
            let pairs = self.factors.iter().enumerate();
            pairs
                .flat_map(|(k, [x, y])| {
                    let at = self.counts.numbers + TRIPLE * k;
                    [x.known * scale - self.pad(at), y.known - self.pad(at + 1)]
                })
                .collect()
        })?;
        let delta: E = channel.challenge("equations.combine");
        let count = self.linear.len() + less.len();
        let factors: Vec<E> = std::iter::successors(Some(E::ONE), |&factor| Some(factor * delta))
            .take(count)
            .collect();
        Ok(self.combined(scale, &less, &factors))
    }

    /// The sum of equations times factors: first of those that were noted, then for each product of rho's and sigma's,
    /// which are in `less`.
    fn combined(&self, scale: E, less: &[E], factors: &[E]) -> Equation<E> {
        let (of_linear, of_products) = factors.split_at(self.linear.len());
        let mut made = Equation::zero(self.counts);
        let mut products = vec![E::ZERO; self.factors.len()];
        for (form, &factor) in self.linear.iter().zip(of_linear) {
            let pads = form.terms.partition_point(|&(number, _)| number < PRODUCTS);
            for &(number, coefficient) in &form.terms[pads..] {
                products[number - PRODUCTS] += factor * coefficient;
            }
            made.constant += factor * form.constant;
            for &(number, coefficient) in &form.terms[..pads] {
                made.coefficients[number] += factor * coefficient;
            }
        }
        let inverse = scale.inverse();
        let both = less.chunks_exact(2).zip(of_products.chunks_exact(2));
        for (k, ([x, y], (less, factors))) in self.factors.iter().zip(both).enumerate() {
            let at = self.counts.numbers + TRIPLE * k;
            let z = products[k] * inverse;
            made.constant += z * less[0] * less[1];
            made.coefficients[at] += z * less[1];
            made.coefficients[at + 1] += z * less[0];
            made.coefficients[at + 2] += z;
            for (place, (form, by)) in [(x, scale), (y, E::ONE)].into_iter().enumerate() {
                let factor = factors[place];
                made.add(&form.form, factor * by);
                made.constant += E::ZERO - factor * less[place];
                made.coefficients[at + place] += E::ZERO - factor;
            }
        }
        made
    }
}

impl<E: Extension, const PROVING: bool> Checks<E> for Masking<'_, E, PROVING> {
    const PROVING: bool = PROVING;
    const CHECKING: bool = true;

    type Value = Hidden<E>;

    fn receive(
        &mut self,
        channel: &mut Channel,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<Hidden<E>>, Reject> {
        let first = self.sent;
        self.sent += count;
        if self.sent > self.counts.numbers {
            return Err(Reject::MoreValues);
        }
        let numbers = channel.scalars(label, count, || {
            let padded = |(i, number)| number + self.pad(first + i);
            make().into_iter().enumerate().map(padded).collect()
        })?;
        let hidden = |(i, number)| Hidden {
            known: number - self.pad(first + i),
            form: Affine::from(number) - Affine::unknown(first + i),
        };
        Ok(numbers.into_iter().enumerate().map(hidden).collect())
    }

    fn known(value: &Hidden<E>) -> E {
        value.known
    }

    fn zero(&mut self, value: Hidden<E>, _: Reject) -> Result<(), Reject> {
        self.linear.push(value.form);
        Ok(())
    }

    /// It has an inverse, which is sent too.
    fn not_zero(&mut self, channel: &mut Channel, value: Hidden<E>, reason: Reject) -> Result<(), Reject> {
        if PROVING && value.known == E::ZERO {
            return Err(reason);
        }
        let inverse = self.receive(channel, "inverse", 1, || vec![value.known.inverse()])?;
        let product = self.product(value, inverse[0].clone());
        self.zero(product - E::ONE.into(), reason)
    }

    fn product(&mut self, x: Hidden<E>, y: Hidden<E>) -> Hidden<E> {
        let made = Hidden {
            known: x.known * y.known,
            form: Affine::unknown(PRODUCTS + self.factors.len()),
        };
        self.factors.push([x, y]);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::Counting;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::field::F;
    use crate::multilinear::sumcheck;
    use crate::quadratic::Quadratic;

    /// A sumcheck of x y, and x and y at its end: what both sides do.
    fn reduction<E: Extension, C: Checks<E>>(
        channel: &mut Channel,
        checks: &mut C,
        claim: E,
        tables: Option<[Vec<E>; 2]>,
    ) -> Result<(), Reject> {
        let product = |[x, y]: &[E; 2]| *x * *y;
        let reduced = sumcheck::<E, C, 2, 2>(channel, checks, "round", 5, claim.into(), tables, product)?;
        let ends = checks.receive(channel, "ends", 2, || {
            let tables = reduced.tables.as_ref().expect("proving");
            vec![tables[0][0], tables[1][0]]
        })?;
        checks.not_zero(channel, ends[0].clone(), Reject::Denominator)?;
        let product = checks.product(ends[0].clone(), ends[1].clone());
        checks.zero(product - reduced.claim, Reject::Product)
    }

    fn equations_of_pads<E: Extension>() {
        let tables = [0, 100].map(|seed| (seed..seed + 32).map(element::<E>).collect::<Vec<E>>());
        let claim = tables[0]
            .iter()
            .zip(&tables[1])
            .fold(E::ZERO, |sum, (&x, &y)| sum + x * y);
        let mut counting = Counting::default();
        reduction(&mut Channel::nothing(), &mut counting, claim, None).unwrap();
        let counts = counting.0;
        assert_eq!((counts.numbers, counts.products, counts.equations), (13, 2, 2));
        let pads: Vec<E> = draw_pads(counts, &Randomness::new(&[1; 32], &[b"pads"]));
        for error in [E::ZERO, E::ONE] {
            let mut channel = Channel::prover(None);
            let mut proving = Masking::<E, true>::new(counts, &pads);
            reduction(&mut channel, &mut proving, claim + error, Some(tables.clone())).unwrap();
            let own = proving.finish(&mut channel).unwrap();
            let proof = channel.finish().unwrap();
            let mut channel = Channel::verifier(&proof);
            let mut verifying = Masking::<E, false>::new(counts, &[]);
            reduction(&mut channel, &mut verifying, claim + error, None).unwrap();
            let equation = verifying.finish(&mut channel).unwrap();
            assert!((own.constant, &own.coefficients) == (equation.constant, &equation.coefficients));
            let holds = |pads: &[E]| {
                let terms = pads.iter().zip(&equation.coefficients);
                terms.fold(equation.constant, |sum, (&pad, &c)| sum + c * pad) == E::ZERO
            };
            assert_eq!(holds(&pads), error == E::ZERO);
            for place in 0..pads.len() {
                let mut other = pads.clone();
                other[place] += E::ONE;
                assert!(!holds(&other), "{place}");
            }
        }
    }

    /// What a verifier notes who asks whether the product of two numbers is a third, 77, which it is not; the pads of an
    /// honest prover, the scale of products, and what is sent in place of the factors.
    struct Forgery<E: Extension> {
        noted: Masking<'static, E, false>,
        pads: Vec<E>,
        scale: E,
        less: [E; 2],
    }

    const CLAIMED: u64 = 77;

    impl<E: Extension> Forgery<E> {
        fn new() -> Self {
            let counts = Counts {
                numbers: 2,
                products: 1,
                equations: 1,
            };
            let pads: Vec<E> = draw_pads(counts, &Randomness::new(&[2; 32], &[b"forgery"]));
            let numbers = [element::<E>(5), element(6)];
            let hidden = |i: usize| Hidden {
                known: numbers[i] + pads[i],
                form: Affine::from(numbers[i] + pads[i]) - Affine::unknown(i),
            };
            let mut noted = Masking::new(counts, &[]);
            let product = noted.product(hidden(0), hidden(1));
            noted
                .zero(product - Self::claimed().into(), Reject::Equation)
                .unwrap();
            let scale = element(7);
            let less = [numbers[0] * scale - pads[2], numbers[1] - pads[3]];
            Self {
                noted,
                pads,
                scale,
                less,
            }
        }

        fn claimed() -> E {
            E::from(F::reduced(CLAIMED))
        }

        /// Whether the pads fulfil the sum of the product's equation, rho's and sigma's, with these factors.
        fn holds(&self, factors: [u64; 3]) -> bool {
            let factors = factors.map(|factor| E::from(F::reduced(factor)));
            let made = self.noted.combined(self.scale, &self.less, &factors);
            let terms = made.coefficients.iter().zip(&self.pads);
            terms.fold(made.constant, |sum, (&c, &pad)| sum + c * pad) == E::ZERO
        }

        fn each(&self) -> [bool; 3] {
            [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|factors| self.holds(factors))
        }
    }

    fn forgeries<E: Extension>() {
        let honest = Forgery::<E>::new();
        let [a, b, c] = [2, 3, 4].map(|place| honest.pads[place]);
        let [rho, sigma] = honest.less;
        let wanted = honest.scale * Forgery::<E>::claimed();
        assert_eq!(honest.each(), [false, true, true]);
        // A rho, or a sigma, that gives the product that is claimed: its own equation alone is not fulfilled.
        let forged = Forgery {
            less: [(wanted - c - sigma * a) * (b + sigma).inverse(), sigma],
            ..Forgery::new()
        };
        assert_eq!(forged.each(), [true, false, true]);
        assert!(forged.holds([3, 0, 5]) && !forged.holds([3, 4, 5]));
        let forged = Forgery {
            less: [rho, (wanted - c - rho * b) * (a + rho).inverse()],
            ..Forgery::new()
        };
        assert_eq!(forged.each(), [true, true, false]);
        assert!(forged.holds([3, 4, 0]) && !forged.holds([3, 4, 5]));
        // A third pad that is not the product: it fits one scale, so it must be fixed before that.
        let mut forged = Forgery::<E>::new();
        forged.pads[4] = wanted - sigma * a - rho * b - rho * sigma;
        assert!(forged.pads[4] != a * b);
        assert_eq!(forged.each(), [true; 3]);
        let numbers = [element::<E>(5), element(6)];
        for seed in 8..20 {
            forged.scale = element(seed);
            forged.less = [numbers[0] * forged.scale - a, numbers[1] - b];
            assert_eq!(forged.each(), [false, true, true]);
            assert!(!forged.holds([3, 4, 5]));
        }
        // Without its term the equation says another product: r A B - a b over r, which fits the claim for one scale too.
        let scale = a * b * (numbers[0] * numbers[1] - Forgery::claimed()).inverse();
        let mut forged = Forgery::<E>::new();
        forged.scale = scale;
        forged.less = [numbers[0] * scale - a, numbers[1] - b];
        assert!(!forged.holds([3, 4, 5]));
        forged.pads[4] = E::ZERO;
        assert!(forged.holds([3, 4, 5]));
    }

    #[test]
    fn a_false_product_passes_without_any_one_equation_or_with_a_triple_made_after_the_scale() {
        forgeries::<Quadratic>();
        forgeries::<Cubic>();
    }

    #[test]
    fn the_equation_holds_of_the_pads_of_a_true_claim_alone() {
        equations_of_pads::<Quadratic>();
        equations_of_pads::<Cubic>();
    }
}
