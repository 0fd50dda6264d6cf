//! The rounds of one fold of an opening.

use crate::affine::Affine;
use crate::channel::Channel;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::geometry::FOLD;
use crate::multilinear::interpolate;
use crate::vectors::Prover;

/// What four rounds leave: the claim, their challenges, and weights on the carried pads that messages were masked with.
pub struct Left<E> {
    pub claim: E,
    pub point: Vec<E>,
    pub pads: Vec<(usize, E)>,
}

/// What rounds so far leave of the sumcheck of all tables together, to both sides: messages are masked where the opening
/// hides.
struct Rounds<E: Extension> {
    claim: Affine<E>,
    point: Vec<E>,
    hides: bool,
}

impl<E: Extension> Rounds<E> {
    fn new(target: E, hides: bool) -> Self {
        Self {
            claim: Affine::from(target),
            point: Vec::with_capacity(FOLD),
            hides,
        }
    }

    /// One round, of the message that was sent and the challenge behind it.
    fn bind(&mut self, sent: &[E], r: E) {
        let round = self.point.len();
        let less = [0, 1].map(|place| {
            let pad = |number| {
                if self.hides {
                    Affine::unknown(number)
                } else {
                    E::ZERO.into()
                }
            };
            Affine::from(sent[place]) - pad(2 * round + place)
        });
        self.claim = interpolate(self.claim.clone(), &less, r);
        self.point.push(r);
    }

    fn left(self) -> Left<E> {
        let pads = self
            .claim
            .terms
            .iter()
            .map(|&(place, coefficient)| (place, E::ZERO - coefficient));
        Left {
            claim: self.claim.constant,
            pads: pads.collect(),
            point: self.point,
        }
    }
}

/// The verifier's side of four rounds: every message is read, none is checked before the end of the opening.
pub fn check_rounds<E: Extension>(channel: &mut Channel, target: E, hides: bool) -> Result<Left<E>, Reject> {
    let mut rounds = Rounds::new(target, hides);
    for _ in 0..FOLD {
        let sent: Vec<E> = channel.read_scalars("whir.fold", 2)?;
        rounds.bind(&sent, channel.challenge("whir.fold"));
    }
    Ok(rounds.left())
}

/// The prover's side of four rounds, which bind four variables of its tables.
pub fn prove_rounds<E: Extension>(
    channel: &mut Channel,
    target: E,
    hides: bool,
    prover: &mut Prover<E>,
) -> Result<Left<E>, Reject> {
    let (mut rounds, mut known) = (Rounds::new(target, hides), target);
    for round in 0..FOLD {
        let sent = channel.scalars("whir.fold", 2, || {
            let own = prover.message(known);
            (0..2)
                .map(|place| own[place] + prover.pad(2 * round + place))
                .collect()
        })?;
        let r: E = channel.challenge("whir.fold");
        rounds.bind(&sent, r);
        let own = [0, 1].map(|place| sent[place] - prover.pad(2 * round + place));
        known = interpolate::<E, E>(known, &own, r);
        prover.tables.iter_mut().for_each(|tables| tables.bind(r));
    }
    Ok(rounds.left())
}
