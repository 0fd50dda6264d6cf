//! What a prover in zero knowledge adds to its own table (docs/zero-knowledge.md, "Objects").

use crate::commitment::{Commitment, fingerprint};
use crate::extension::Extension;
use crate::field::F;
use crate::layout::Layout;
use crate::masked::draw_pads;
use crate::merkle::Binding;
use crate::plan::Plan;
use crate::protocol::{Statement, Witness, public_bytes};
use crate::randomness::Randomness;
use crate::vectors::{carried_words, draw_carried};

/// What hides a proof: pads of what is sent before the opening, pads carried beside the leaves, and all that is drawn later.
pub struct Pads<E> {
    pub sent: Vec<E>,
    pub carried: Vec<E>,
    pub randomness: Randomness,
}

/// The proof's own table: its columns, then pads, then random words; carried pads beside its leaves.
pub fn own_table<E: Extension>(
    layout: &Layout,
    mut columns: Vec<F>,
    binding: Binding,
    randomness: Randomness,
) -> (Commitment, Pads<E>) {
    let geometry = *layout.tables.last().expect("the proof's own table");
    let sent: Vec<E> = draw_pads(layout.counts, &randomness);
    let words = |&pad: &E| (0..E::DEGREE).map(move |place| pad.coordinate(place));
    columns.extend(sent.iter().flat_map(words));
    let carried = draw_carried::<E>(&randomness, "carried", &geometry);
    let beside = carried_words(&carried, &geometry);
    let random = randomness.words("columns", geometry.random);
    let salts = randomness.secret("salts");
    let made = Commitment::with(columns, random, geometry, salts, beside, binding);
    let pads = Pads {
        sent,
        carried,
        randomness,
    };
    (made, pads)
}

/// The prover's randomness: of its secret, and all that the proof is of, so that no other proof shares any of it.
pub fn own_randomness(plan: &Plan, statement: &Statement, witness: &Witness, columns: &[F]) -> Randomness {
    let publics = public_bytes(plan, &witness.values).concat();
    let secret = witness.secrets.last().expect("a secret of the proof's own");
    let columns = fingerprint(columns);
    let parts: [&[u8]; 5] = [
        statement.digest,
        statement.context,
        &publics,
        &statement.roots.concat(),
        &columns,
    ];
    Randomness::new(secret, &parts)
}
