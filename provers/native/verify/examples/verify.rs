//! Verifies the file of a proof: `verify PROVER KEY PUBLICS PROOF`, or `verify tensor INSTANCE PROOF`.
//!
//! KEY, PUBLICS and INSTANCE are the verifier's own: docs/verifying.md says how it makes them.

use std::error::Error;

use circuitize_verify::publics::Publics;
use circuitize_verify::{groth16, halo2, mirage, tensor};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let prover = arguments.first().map_or("", String::as_str);
    let files = arguments.iter().skip(1).map(std::fs::read);
    let files = files.collect::<Result<Vec<_>, _>>()?;
    match (prover, &files[..]) {
        ("groth16", [key, publics, proof]) => groth16(key, &Publics::decode(publics)?, proof)?,
        ("mirage", [key, publics, proof]) => mirage(key, &Publics::decode(publics)?, proof)?,
        ("halo2", [key, publics, proof]) => halo2(key, &Publics::decode(publics)?, proof)?,
        ("tensor", [instance, proof]) => tensor(instance, proof)?,
        _ => {
            return Err(
                "expected groth16, mirage or halo2, KEY, PUBLICS and PROOF; or tensor, INSTANCE and PROOF"
                    .into(),
            );
        }
    }
    println!("the proof holds");
    Ok(())
}
