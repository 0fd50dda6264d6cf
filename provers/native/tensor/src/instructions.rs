//! Which vector instructions are computed with: the widest that the processor has, or that `CIRCUITIZE_SIMD` allows.

use std::sync::OnceLock;

/// Widths of vectors, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    Portable,
    Avx2,
    Avx512,
}

impl Width {
    const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    fn here(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// A width whose instructions this processor, and its operating system, are known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Width);

impl Instructions {
    pub fn width(self) -> Width {
        self.0
    }

    /// All that are here, narrowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Width::ALL.into_iter().filter(|width| width.here()).map(Self)
    }

    /// The widest that are here, no wider than a cap where there is one; an error in one line where it names no width.
    fn within(cap: Option<&str>) -> Result<Self, String> {
        let most = match cap {
            None => Width::Avx512,
            Some(name) => Width::ALL.into_iter().find(|width| width.name() == name).ok_or_else(|| {
                format!(
                    "expected portable, avx2 or avx512 in the environment variable {VARIABLE}, found {name:?}; \
                     set one of them, or unset it for the widest that the processor has"
                )
            })?,
        };
        let widest = Self::available().rfind(|found| found.0 <= most);
        Ok(widest.unwrap_or(Self(Width::Portable)))
    }

    /// Those of this process: the environment is read once.
    pub fn of_environment() -> Result<Self, String> {
        static CHOSEN: OnceLock<Result<Instructions, String>> = OnceLock::new();
        let cap = || std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned());
        CHOSEN.get_or_init(|| Self::within(cap().as_deref())).clone()
    }

    /// The same, and portable ones where the environment names no width, which `of_environment` tells.
    pub fn chosen() -> Self {
        Self::of_environment().unwrap_or(Self(Width::Portable))
    }
}

const VARIABLE: &str = "CIRCUITIZE_SIMD";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_never_exceeded_and_the_widest_below_it_is_taken() {
        let here: Vec<Width> = Instructions::available().map(Instructions::width).collect();
        assert!(here.is_sorted() && here[0] == Width::Portable);
        assert_eq!(Instructions::within(None).unwrap().width(), *here.last().unwrap());
        for cap in Width::ALL {
            let found = Instructions::within(Some(cap.name())).unwrap().width();
            assert!(found <= cap && here.contains(&found));
            assert!(here.iter().all(|&other| other <= found || other > cap));
        }
    }

    #[test]
    fn a_cap_that_names_no_width_is_an_error() {
        for name in ["", "AVX2", "sse2", "avx512 "] {
            let told = Instructions::within(Some(name)).unwrap_err();
            assert!(told.contains(&format!("found {name:?}")), "{told}");
        }
    }
}
