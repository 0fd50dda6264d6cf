//! How many pads a plan takes, counted by a verifier of zeros.

use crate::channel::Channel;
use crate::checks::Checks;
use crate::errors::Reject;
use crate::extension::Extension;

/// Pads of a product: two masks of its factors, and their product.
pub const TRIPLE: usize = 3;

/// How many pads a plan takes: one for each number that is sent, and a triple for each product of two; and how many
/// equations it makes of them, before those of triples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub numbers: usize,
    pub products: usize,
    pub equations: usize,
}

impl Counts {
    pub fn pads(&self) -> usize {
        self.numbers + TRIPLE * self.products
    }
}

/// Counts what a plan sends: a verifier of zeros.
#[derive(Default)]
pub struct Counting(pub Counts);

impl<E: Extension> Checks<E> for Counting {
    const PROVING: bool = false;
    const CHECKING: bool = true;
    const COUNTING: bool = true;

    type Value = E;

    fn receive(
        &mut self,
        channel: &mut Channel,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<E>, Reject> {
        self.0.numbers += count;
        channel.scalars(label, count, make)
    }

    fn known(value: &E) -> E {
        *value
    }

    fn zero(&mut self, _: E, _: Reject) -> Result<(), Reject> {
        self.0.equations += 1;
        Ok(())
    }

    fn not_zero(&mut self, channel: &mut Channel, value: E, reason: Reject) -> Result<(), Reject> {
        let inverse = self.receive(channel, "inverse", 1, Vec::new)?;
        let product = self.product(value, inverse[0]);
        Checks::<E>::zero(self, product, reason)
    }

    fn product(&mut self, x: E, y: E) -> E {
        self.0.products += 1;
        x * y
    }
}
