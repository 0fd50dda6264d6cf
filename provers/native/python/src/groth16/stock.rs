//! Stock ark-groth16 over the same matrices: what the benchmark measures ours against.

use ark_bn254::{Bn254, Fr};
use ark_groth16::{Groth16, ProvingKey};
use ark_relations::gr1cs::{
    ConstraintSynthesizer, ConstraintSystemRef, LinearCombination, SynthesisError, Variable,
};
use ark_relations::utils::matrix::Matrix as StockMatrix;
use ark_std::UniformRand;
use ark_std::rand::SeedableRng;
use ark_std::rand::rngs::StdRng;
use circuitize_groth16::system::{Matrix, System, Witness};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::SystemArrays;
use crate::buffers::elements;

/// The system as ark-relations wants it built.
struct Circuit<'a> {
    system: &'a System<'a>,
    witness: &'a Witness,
}

impl ConstraintSynthesizer<Fr> for Circuit<'_> {
    fn generate_constraints(self, constraints: ConstraintSystemRef<Fr>) -> Result<(), SynthesisError> {
        let Self { system, witness } = self;
        for (wire, value) in witness.fields.iter().enumerate().skip(1) {
            if wire <= system.public {
                let _ = constraints.new_input_variable(|| Ok(*value))?;
            } else {
                let _ = constraints.new_witness_variable(|| Ok(*value))?;
            }
        }
        let variable = |wire: u32| match wire as usize {
            0 => Variable::One,
            wire if wire <= system.public => Variable::instance(wire),
            wire => Variable::witness(wire - system.public - 1),
        };
        let combination = |matrix: &Matrix, row| {
            let terms = matrix
                .row(row)
                .map(|(wire, code)| (system.coefficient(code), variable(wire)));
            LinearCombination(terms.collect::<Vec<_>>())
        };
        for row in 0..system.rows() {
            constraints.enforce_r1cs_constraint(
                || combination(&system.a, row),
                || combination(&system.b, row),
                || combination(&system.c, row),
            )?;
        }
        Ok(())
    }
}

/// A key of ark-groth16, with the matrices and the witness that it proves.
#[pyclass(frozen, name = "StockGroth16", module = "circuitize._native")]
struct Stock {
    key: ProvingKey<Bn254>,
    matrices: Vec<StockMatrix<Fr>>,
    fields: Vec<Fr>,
    public: usize,
}

#[pymethods]
impl Stock {
    #[new]
    fn new(py: Python<'_>, system: SystemArrays, witness: PyBuffer<u64>) -> PyResult<Self> {
        let (borrowed, witness) = (system.borrow()?, elements(&witness, "witness")?);
        py.detach(|| {
            let system = borrowed.system()?;
            let witness = Witness::new(witness, borrowed.wires)?;
            let circuit = Circuit {
                system: &system,
                witness: &witness,
            };
            let key = Groth16::<Bn254>::generate_random_parameters_with_reduction(
                circuit,
                &mut StdRng::seed_from_u64(0),
            )
            .map_err(|error| error.to_string())?;
            let terms = |matrix: &Matrix| {
                let row = |row| {
                    let terms = matrix.row(row);
                    terms
                        .map(|(wire, code)| (system.coefficient(code), wire as usize))
                        .collect()
                };
                (0..system.rows()).map(row).collect()
            };
            let matrices = [&system.a, &system.b, &system.c].map(terms).to_vec();
            Ok(Self {
                key,
                matrices,
                fields: witness.fields,
                public: system.public,
            })
        })
        .map_err(PyValueError::new_err::<String>)
    }

    /// Proves; whether the proof verifies.
    fn prove(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| {
            let mut random = StdRng::seed_from_u64(1);
            let (r, s) = (Fr::rand(&mut random), Fr::rand(&mut random));
            let rows = self.matrices[0].len();
            let proof = Groth16::<Bn254>::create_proof_with_reduction_and_matrices(
                &self.key,
                r,
                s,
                &self.matrices,
                self.public + 1,
                rows,
                &self.fields,
            )?;
            let key = ark_groth16::prepare_verifying_key(&self.key.vk);
            Groth16::<Bn254>::verify_proof(&key, &proof, &self.fields[1..=self.public])
        })
        .map_err(|error: SynthesisError| PyValueError::new_err(error.to_string()))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Stock>()
}
