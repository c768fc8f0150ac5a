//! Peak rates of devices by the name that a trace states.

use super::super::device_name;
use crate::base::Result;
use crate::exec::Cancel;
use crate::metrics::{GivenPeaks, NumberWidth, PeakRates};
use crate::segment::{Bytes, Segment};

/// The rates of a device, without sparsity, in 10¹² operations and 10⁹ bytes a second: those of its
/// matrix units where it has them for such numbers.
struct KnownDevice {
    /// Part of its name.
    word: &'static str,
    double: f64,
    single: f64,
    half: f64,
    eight: f64,
    bandwidth: f64,
}

const fn device(word: &'static str, rates: [f64; 4], bandwidth: f64) -> KnownDevice {
    KnownDevice { word, double: rates[0], single: rates[1], half: rates[2], eight: rates[3], bandwidth }
}

/// Data sheets of NVIDIA and AMD. The name of a device with more than one memory has the size.
const KNOWN: [KnownDevice; 24] = [
    device("V100", [7.8, 15.7, 125.0, 62.8], 900.0),
    device("V100-PCIE", [7.0, 14.0, 112.0, 56.0], 900.0),
    device("T4", [0.25, 8.1, 65.0, 130.0], 320.0),
    device("RTX 2080 Ti", [0.42, 13.4, 107.6, 215.2], 616.0),
    device("RTX 3090", [0.56, 35.6, 142.0, 284.0], 936.0),
    device("RTX 4090", [1.3, 82.6, 330.3, 660.6], 1_008.0),
    device("A10", [0.98, 62.5, 125.0, 250.0], 600.0),
    device("A100", [19.5, 156.0, 312.0, 624.0], 1_555.0),
    device("A100-SXM4-80GB", [19.5, 156.0, 312.0, 624.0], 2_039.0),
    device("A100 80GB PCIe", [19.5, 156.0, 312.0, 624.0], 1_935.0),
    device("L4", [0.47, 60.0, 121.0, 242.5], 300.0),
    device("L40S", [1.4, 183.0, 362.0, 733.0], 864.0),
    device("H100", [66.9, 494.7, 989.4, 1_978.9], 3_350.0),
    device("H100 PCIe", [51.2, 378.0, 756.0, 1_513.0], 2_000.0),
    device("H100 NVL", [60.0, 417.5, 835.5, 1_671.0], 3_900.0),
    device("H200", [66.9, 494.7, 989.4, 1_978.9], 4_800.0),
    device("B200", [37.0, 1_100.0, 2_250.0, 4_500.0], 8_000.0),
    device("MI100", [11.5, 46.1, 184.6, 184.6], 1_229.0),
    device("MI210", [45.3, 45.3, 181.0, 181.0], 1_638.0),
    // A trace has a device for each of the two dies.
    device("MI250", [45.3, 45.3, 181.0, 181.0], 1_638.0),
    device("MI250X", [47.9, 47.9, 191.5, 191.5], 1_638.0),
    device("MI300X", [163.4, 653.7, 1_307.4, 2_614.9], 5_300.0),
    device("MI325X", [163.4, 653.7, 1_307.4, 2_614.9], 6_000.0),
    device("MI355X", [78.6, 157.3, 2_516.6, 5_033.2], 8_000.0),
];

/// The peaks of a rank's devices, from its trace and from the user.
pub(super) struct DevicePeak {
    device: Option<&'static KnownDevice>,
    given: GivenPeaks,
}

impl DevicePeak {
    /// Reads the name of the rank's devices.
    pub(super) fn read<B: Bytes>(
        segment: &Segment<B>,
        given: GivenPeaks,
        cancel: Cancel<'_>,
    ) -> Result<Self> {
        let name = device_name::read(segment, cancel)?;
        Ok(Self { device: name.as_deref().and_then(known), given })
    }

    /// The peaks for numbers of a precision. `None` if the device is not known.
    pub(super) fn of(&self, precision: Option<NumberWidth>) -> Option<PeakRates> {
        let known = |rate: fn(&KnownDevice) -> f64, unit: f64| self.device.map(|device| rate(device) * unit);
        let flops = match precision? {
            NumberWidth::Double => known(|device| device.double, 1e12),
            NumberWidth::Single => known(|device| device.single, 1e12),
            NumberWidth::Half => known(|device| device.half, 1e12),
            NumberWidth::Eight => known(|device| device.eight, 1e12),
        };
        let given = |rate: Option<u64>| rate.map(|rate| rate as f64);
        let bytes = known(|device| device.bandwidth, 1e9);
        Some(PeakRates {
            flops: given(self.given.flops).or(flops)?,
            bytes: given(self.given.bytes).or(bytes)?,
        })
    }
}

/// The device with the longest of the words in its name.
fn known(name: &str) -> Option<&'static KnownDevice> {
    let is_part = |device: &&KnownDevice| {
        name.match_indices(device.word).any(|(at, word)| {
            // "A10" is no part of "A100", and "L4" none of "L40".
            let after = name[at + word.len()..].chars().next();
            let before = name[..at].chars().next_back();
            let ends = |sign: Option<char>| sign.is_none_or(|sign| !sign.is_ascii_alphanumeric());
            ends(before) && ends(after)
        })
    };
    KNOWN.iter().filter(is_part).max_by_key(|device| device.word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_name_counts() {
        let bandwidth = |name: &str| known(name).map(|device| device.bandwidth);
        assert_eq!(bandwidth("NVIDIA H100 80GB HBM3"), Some(3_350.0));
        assert_eq!(bandwidth("NVIDIA H100 PCIe"), Some(2_000.0));
        assert_eq!(bandwidth("NVIDIA A100-PG509-200"), Some(1_555.0));
        assert_eq!(bandwidth("NVIDIA A100-SXM4-80GB"), Some(2_039.0));
        assert_eq!(bandwidth("AMD Instinct MI300X VF"), Some(5_300.0));
        assert_eq!(bandwidth("NVIDIA A10"), Some(600.0));
        for unknown in ["AMD Radeon Graphics", "ARTEMIS", "NVIDIA L40", "NVIDIA A10G"] {
            assert_eq!(bandwidth(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn given_peaks_come_before_known_ones() {
        let given = GivenPeaks { flops: None, bytes: Some(7) };
        let peak = DevicePeak { device: known("Tesla V100-SXM2-16GB"), given };
        let of = peak.of(Some(NumberWidth::Half)).unwrap();
        assert_eq!((of.flops, of.bytes), (125e12, 7.0));
        assert_eq!(DevicePeak { device: None, given }.of(Some(NumberWidth::Half)), None);
        let given = GivenPeaks { flops: Some(9), bytes: Some(7) };
        assert!(DevicePeak { device: None, given }.of(Some(NumberWidth::Single)).is_some());
    }
}
