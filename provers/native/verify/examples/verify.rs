//! Verifies the file of a proof: `verify PROVER KEY PUBLICS PROOF`, or `verify tensor INSTANCE PROOF`; or a whole folder of
//! a proof or a run: `verify held HELD FOLDER`.
//!
//! KEY, PUBLICS, INSTANCE and HELD are the verifier's own: docs/verifying.md and docs/verify-anywhere.md say how it makes them.

use std::error::Error;
use std::fs::{File, metadata, read_dir};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use circuitize_verify::held::{Check, Held};
use circuitize_verify::publics::Publics;
use circuitize_verify::{groth16, halo2, mirage, tensor};

/// The most bytes of one file that are read, as of the command line.
const MOST_BYTES: u64 = 1 << 28;

/// The bytes of a file; an error for what is none, such as a pipe or a device, on which reading would wait for ever.
fn read(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut content = Vec::new();
    if metadata(path)?.is_file() {
        File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut content)?;
        if content.len() as u64 <= MOST_BYTES {
            return Ok(content);
        }
    }
    Err(format!("{path:?}: expected a file of at most {MOST_BYTES} bytes, found another").into())
}

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

/// Gives every file below a folder to a check, by its path there.
fn give(check: &mut Check, folder: &Path, before: &str) -> Result<(), Box<dyn Error>> {
    let mut entries = read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = format!("{before}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => give(check, &entry.path(), &format!("{path}/"))?,
            false => check.file(&path, &read(&entry.path())?)?,
        }
    }
    Ok(())
}

/// What is said of a folder that is what a held file says.
fn said(held: &str, folder: &str) -> Result<String, Box<dyn Error>> {
    let mut check = Check::new(Held::decode(&read(Path::new(held))?)?);
    give(&mut check, Path::new(folder), "")?;
    Ok(check.finish()?.join("\n"))
}

fn verdict(arguments: &[String]) -> Result<String, Box<dyn Error>> {
    match arguments {
        [held, file, folder] if held == "held" => said(file, folder),
        [prover, files @ ..] => {
            let files = files
                .iter()
                .map(|file| read(Path::new(file)))
                .collect::<Result<Vec<_>, _>>()?;
            verified(prover, &files)?;
            Ok("the proof holds".into())
        }
        [] => Err("expected a prover and its files, or held HELD FOLDER".into()),
    }
}

fn main() -> ExitCode {
    match verdict(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(lines) => {
            println!("{lines}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("the proof does not hold: {reason}");
            ExitCode::FAILURE
        }
    }
}
