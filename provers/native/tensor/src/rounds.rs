//! The rounds of one fold of an opening.

use crate::affine::Affine;
use crate::channel::{Channel, Reject};
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

/// Four rounds of the sumcheck of all tables together, masked where the opening hides.
pub fn rounds<E: Extension>(
    channel: &mut Channel,
    target: E,
    hides: bool,
    prover: &mut Option<Prover<E>>,
) -> Result<Left<E>, Reject> {
    let (mut claim, mut known) = (Affine::from(target), target);
    let mut point = Vec::with_capacity(FOLD);
    for round in 0..FOLD {
        let sent = channel.scalars("whir.fold", 2, || {
            let prover = prover.as_ref().expect("proving");
            let own = prover.message(known);
            (0..2)
                .map(|place| own[place] + prover.pad(2 * round + place))
                .collect()
        })?;
        let r: E = channel.challenge("whir.fold");
        let less = [0, 1].map(|place| {
            let pad = |number| {
                if hides {
                    Affine::unknown(number)
                } else {
                    E::ZERO.into()
                }
            };
            Affine::from(sent[place]) - pad(2 * round + place)
        });
        claim = interpolate(claim, &less, r);
        if let Some(prover) = prover {
            let own = [0, 1].map(|place| sent[place] - prover.pad(2 * round + place));
            known = interpolate::<E, E>(known, &own, r);
            prover.tables.iter_mut().for_each(|tables| tables.bind(r));
        }
        point.push(r);
    }
    let pads = claim
        .terms
        .iter()
        .map(|&(place, coefficient)| (place, E::ZERO - coefficient));
    Ok(Left {
        claim: claim.constant,
        point,
        pads: pads.collect(),
    })
}
