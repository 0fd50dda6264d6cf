//! A plan as Python writes it down: records of what it is made of.

use circuitize_tensor::counting::Counts;
use circuitize_tensor::errors::PlanError;
use circuitize_tensor::field::F;
use circuitize_tensor::geometry::{Geometry, Vector};
use circuitize_tensor::plan::{Base, Plan};
use circuitize_tensor::records::{FormRecord, Records, ViewRecord};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::buffers::refused;

fn elements<T: Element>(array: &PyBuffer<T>, py: Python<'_>) -> PyResult<Vec<T>> {
    if array.is_c_contiguous() {
        array.to_vec(py)
    } else {
        Err(PyValueError::new_err("expected a contiguous array"))
    }
}

pub fn field_elements(array: &PyBuffer<i64>, py: Python<'_>) -> PyResult<Vec<F>> {
    Ok(elements(array, py)?.into_iter().map(F::signed).collect())
}

/// The structure of a statement, read once from Python's records.
#[pyclass(frozen, name = "TensorPlan", module = "circuitize._native")]
pub struct PyPlan(pub Plan);

type GeometryRecord = (usize, usize, usize, usize, usize, usize);
pub type LayoutRecord = (Vec<GeometryRecord>, Vec<GeometryRecord>, (usize, usize, usize));
fn base(record: &Bound<'_, PyAny>) -> PyResult<Base> {
    let kind: String = record.get_item(0)?.extract()?;
    let shape: Vec<usize> = record.get_item(1)?.extract()?;
    match kind.as_str() {
        "column" => Ok(Base::Column {
            shape,
            commitment: record.get_item(2)?.extract()?,
            offset: record.get_item(3)?.extract()?,
        }),
        "public" => Ok(Base::Public { shape }),
        "rows" => Ok(Base::Rows {
            shape,
            column: record.get_item(2)?.extract()?,
            index: record.get_item(3)?.extract()?,
        }),
        "constant" => {
            let values: PyBuffer<i64> = record.get_item(2)?.extract()?;
            Ok(Base::Constant {
                shape,
                values: field_elements(&values, record.py())?,
            })
        }
        "product" => {
            let letters: [String; 3] = record.get_item(2)?.extract()?;
            let forms: [usize; 2] = record.get_item(3)?.extract()?;
            Ok(Base::Product {
                shape,
                letters: letters.map(String::into_bytes),
                forms,
            })
        }
        _ => Err(refused(PlanError::Kind(kind))),
    }
}

#[pymethods]
impl PyPlan {
    /// `openings` says of each group, in zero knowledge, how often its root may be opened; None of plans without.
    #[new]
    #[pyo3(signature = (degree, ports, commitments, bases, views, forms, lookups, tables, zeros, openings=None))]
    #[expect(clippy::too_many_arguments, reason = "one list per kind of record")]
    fn new(
        py: Python<'_>,
        degree: usize,
        ports: Vec<Vec<u8>>,
        commitments: Vec<usize>,
        bases: Vec<Bound<'_, PyAny>>,
        views: Vec<ViewRecord>,
        forms: Vec<FormRecord>,
        lookups: Vec<(usize, usize, Option<usize>)>,
        tables: Vec<(usize, PyBuffer<i64>, usize)>,
        zeros: Vec<usize>,
        openings: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let tables = tables.iter().map(|(size, values, column)| {
            let values = field_elements(values, py)?;
            Ok((*size, values, *column))
        });
        let records = Records {
            degree,
            ports,
            commitments,
            bases: bases.iter().map(base).collect::<PyResult<_>>()?,
            views,
            forms,
            lookups,
            tables: tables.collect::<PyResult<_>>()?,
            zeros,
            openings,
        };
        Plan::of(records).map(Self).map_err(refused)
    }

    /// For each table its end, random words, variables of a leaf, bits, rate and queries; the same of each vector of the opening; and, in zero
    /// knowledge, how many numbers are sent, products shown, and equations made.
    fn layout(&self, py: Python<'_>) -> PyResult<LayoutRecord> {
        let found = py.detach(|| self.0.layout().cloned());
        let found = found.map_err(refused)?;
        Ok(layout_record(&found.tables, &found.vectors, found.counts))
    }
}

/// The sizes of a proof, as Python reads them.
pub fn layout_record(tables: &[Geometry], vectors: &[Vector], counts: Counts) -> LayoutRecord {
    let record = |one: &Geometry| (one.end, one.random, one.fold, one.bits, one.rate, one.queries);
    (
        tables.iter().map(record).collect(),
        vectors.iter().map(|vector| record(&vector.geometry)).collect(),
        (counts.numbers, counts.products, counts.equations),
    )
}
