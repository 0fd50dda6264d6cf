//! Verifies the file of a proof: `verify PROVER KEY PUBLICS PROOF`, or `verify tensor INSTANCE PROOF`.
//!
//! KEY, PUBLICS and INSTANCE are the verifier's own: docs/verifying.md says how it makes them.

use std::error::Error;
use std::process::ExitCode;

use circuitize_verify::publics::Publics;
use circuitize_verify::{groth16, halo2, mirage, tensor};

fn verified(prover: &str, files: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    match (prover, files) {
        ("groth16", [key, publics, proof]) => groth16(key, &Publics::decode(publics)?, proof)?,
        ("mirage", [key, publics, proof]) => mirage(key, &Publics::decode(publics)?, proof)?,
        ("halo2", [key, publics, proof]) => halo2(key, &Publics::decode(publics)?, proof)?,
        ("tensor", [instance, proof]) => tensor(instance, proof)?,
        _ => return Err("expected a prover, and KEY PUBLICS PROOF or for tensor INSTANCE PROOF".into()),
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let prover = arguments.first().map_or("", String::as_str);
    let files = arguments
        .iter()
        .skip(1)
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>();
    if let Err(reason) = files
        .map_err(Into::into)
        .and_then(|files| verified(prover, &files))
    {
        eprintln!("the proof does not hold: {reason}");
        return ExitCode::FAILURE;
    }
    println!("the proof holds");
    ExitCode::SUCCESS
}
