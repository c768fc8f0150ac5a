//! Costs of operators of PyTorch by the shapes of their inputs: matrix products, convolutions and
//! attention. The definitions are those of TraceLens' performance models.

use super::super::super::element_bytes;
use crate::makers::call_columns::integers;
use crate::metrics::NumberWidth;

/// The floating-point operations of one execution, and the bytes that it has to read and write if
/// each input is read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OperatorCost {
    pub(super) flops: u64,
    pub(super) bytes: u64,
    /// `None` if the type of the elements is not known.
    pub(super) precision: Option<NumberWidth>,
}

/// The inputs of an operator, in the words of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatedInputs<'t> {
    /// Lengths of each input: `[[8,16],[16,4]]`.
    pub(super) dims: &'t str,
    /// Type of each input: `["float","float"]`.
    pub(super) types: &'t str,
    /// Value of each input that is no tensor: `["","","True"]`. Old traces have none.
    pub(super) values: &'t str,
}

/// Longest list of inputs and longest list of lengths that are looked at.
const MOST_INPUTS: usize = 64;

/// The cost of an operator. `None` if none is defined for it, or if the trace lacks what it needs.
pub(super) fn of(name: &str, stated: StatedInputs<'_>) -> Option<OperatorCost> {
    let kind = CostModel::of(name)?;
    let inputs = OperatorInputs::of(stated)?;
    let OperationCount { flops, outputs } = match kind {
        CostModel::Product { first } => inputs.product(first)?,
        CostModel::Convolution => inputs.convolution()?,
        CostModel::ConvolutionBackward(of) => inputs.convolution_backward(of)?,
        CostModel::Attention { heads_first, causal } => inputs.attention(heads_first, causal)?,
    };
    let mut bytes = outputs.checked_mul(inputs.bytes_of(0).max(1))?;
    for (at, dims) in inputs.dims.iter().enumerate() {
        let read = elements(dims).unwrap_or(0).checked_mul(inputs.bytes_of(at))?;
        bytes = bytes.checked_add(if dims.is_empty() { 0 } else { read })?;
    }
    Some(OperatorCost { flops, bytes, precision: inputs.precision() })
}

/// Operators whose cost is defined.
#[derive(Debug, Clone, Copy)]
enum CostModel {
    /// A product of the inputs `first` and the next one.
    Product {
        first: usize,
    },
    Convolution,
    ConvolutionBackward(BackwardInputs),
    /// Queries, keys and values. `causal` is the input that tells whether later keys are left out.
    Attention {
        heads_first: bool,
        causal: usize,
    },
}

/// Order of the inputs of a backward convolution.
#[derive(Debug, Clone, Copy)]
struct BackwardInputs {
    gradient: usize,
    input: usize,
}

impl CostModel {
    fn of(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("aten::")? {
            "mm" | "bmm" | "_scaled_mm" => Self::Product { first: 0 },
            "addmm" | "baddbmm" | "_addmm_activation" => Self::Product { first: 1 },
            "convolution" | "_convolution" => Self::Convolution,
            "convolution_backward" => Self::ConvolutionBackward(BackwardInputs { gradient: 0, input: 1 }),
            "cudnn_convolution_backward" | "miopen_convolution_backward" => {
                Self::ConvolutionBackward(BackwardInputs { gradient: 1, input: 0 })
            }
            "_scaled_dot_product_flash_attention" => Self::Attention { heads_first: true, causal: 4 },
            "_scaled_dot_product_efficient_attention" => Self::Attention { heads_first: true, causal: 6 },
            "_scaled_dot_product_cudnn_attention" => Self::Attention { heads_first: true, causal: 6 },
            "_flash_attention_forward" => Self::Attention { heads_first: false, causal: 8 },
            _ => return None,
        })
    }
}

/// Floating-point operations, and elements that are written.
struct OperationCount {
    flops: u64,
    outputs: u64,
}

struct OperatorInputs {
    dims: Vec<Vec<u64>>,
    types: Vec<String>,
    values: Vec<String>,
}

impl OperatorInputs {
    fn of(stated: StatedInputs<'_>) -> Option<Self> {
        let dims = length_lists(stated.dims)?;
        let texts = |text: &str| -> Vec<String> {
            // A text with a quotation mark inside would put all later ones into another place.
            let parts = text.split('"').skip(1).step_by(2).take(MOST_INPUTS);
            if text.contains('\\') { Vec::new() } else { parts.map(str::to_owned).collect() }
        };
        Some(Self { dims, types: texts(stated.types), values: texts(stated.values) })
    }

    fn tensor(&self, at: usize) -> Option<&[u64]> {
        self.dims.get(at).map(Vec::as_slice).filter(|dims| !dims.is_empty() && dims.len() <= MOST_INPUTS)
    }

    fn type_of(&self, at: usize) -> &str {
        self.types.get(at).map_or("", String::as_str)
    }

    fn bytes_of(&self, at: usize) -> u64 {
        let name = self.type_of(at);
        element_bytes(name.strip_prefix("c10::").unwrap_or(name))
    }

    fn precision(&self) -> Option<NumberWidth> {
        let name = self.type_of(0).strip_prefix("c10::").unwrap_or(self.type_of(0)).to_ascii_lowercase();
        Some(match name.as_str() {
            "double" => NumberWidth::Double,
            "float" => NumberWidth::Single,
            "half" | "bfloat16" => NumberWidth::Half,
            name if name.starts_with("float8") => NumberWidth::Eight,
            _ => return None,
        })
    }

    fn product(&self, first: usize) -> Option<OperationCount> {
        let (a, b) = (self.tensor(first)?, self.tensor(first + 1)?);
        let ([batches_a @ .., m, k], [batches_b @ .., rows, n]) = (a, b) else { return None };
        if k != rows || batches_a != batches_b {
            return None;
        }
        let outputs = elements(batches_a)?.checked_mul(*m)?.checked_mul(*n)?;
        Some(OperationCount { flops: outputs.checked_mul(*k)?.checked_mul(2)?, outputs })
    }

    /// Input, weight, bias, stride, padding, dilation, transposed.
    fn convolution(&self) -> Option<OperationCount> {
        let (input, weight) = (self.tensor(0)?, self.tensor(1)?);
        let ([batch, _, spatial @ ..], [_, second, kernel @ ..]) = (input, weight) else { return None };
        if spatial.len() != kernel.len() || spatial.is_empty() {
            return None;
        }
        // Old traces state no values: then the stride is not known, either.
        if self.values.get(6)? == "True" {
            let flops = elements(spatial)?.checked_mul(*batch)?.checked_mul(elements(weight)?)?;
            // Lengths of the output depend on more than is looked at: its pixels are at least those
            // of the input.
            let outputs = batch.checked_mul(*second)?.checked_mul(elements(spatial)?)?;
            return Some(OperationCount { flops: flops.checked_mul(2)?, outputs });
        }
        let list = |at: usize| {
            let found: Vec<u64> = integers(self.values.get(at)?).map(u64::from).collect();
            match found.len() {
                1 => Some(vec![found[0]; kernel.len()]),
                length if length == kernel.len() => Some(found),
                _ => None,
            }
        };
        let (stride, padding, dilation) = (list(3)?, list(4)?, list(5)?);
        let mut pixels = 1_u64;
        for at in 0..kernel.len() {
            let reach = dilation[at].checked_mul(kernel[at].checked_sub(1)?)?.checked_add(1)?;
            let padded = spatial[at].checked_add(padding[at].checked_mul(2)?)?;
            let steps = padded.checked_sub(reach)?.checked_div(stride[at])?;
            pixels = pixels.checked_mul(steps.checked_add(1)?)?;
        }
        let outputs = batch.checked_mul(weight[0])?.checked_mul(pixels)?;
        let flops = batch.checked_mul(pixels)?.checked_mul(elements(weight)?)?.checked_mul(2)?;
        Some(OperationCount { flops, outputs })
    }

    /// Gradients of the input and of the weight, as far as they are asked for.
    fn convolution_backward(&self, of: BackwardInputs) -> Option<OperationCount> {
        let (gradient, input, weight) = (self.tensor(of.gradient)?, self.tensor(of.input)?, self.tensor(2)?);
        // The last input of `convolution_backward` tells which are.
        let mask = self.values.last().filter(|mask| mask.contains("True") || mask.contains("False"));
        let wanted =
            |at: usize| mask.and_then(|mask| Some(mask.split(',').nth(at)?.contains("True"))).unwrap_or(true);
        let is_transposed = of.gradient == 0 && self.values.get(7).is_some_and(|value| value == "True");
        let ([batch, _, pixels @ ..], _) = (if is_transposed { input } else { gradient }, ()) else {
            return None;
        };
        if input.len() != gradient.len() || input.len() != weight.len() || pixels.is_empty() {
            return None;
        }
        let one = batch.checked_mul(elements(pixels)?)?.checked_mul(elements(weight)?)?.checked_mul(2)?;
        let mut work = OperationCount { flops: 0, outputs: 0 };
        for (is_wanted, written) in [(wanted(0), input), (wanted(1), weight)] {
            if is_wanted {
                work.flops = work.flops.checked_add(one)?;
                work.outputs = work.outputs.checked_add(elements(written)?)?;
            }
        }
        Some(work)
    }

    fn attention(&self, heads_first: bool, causal: usize) -> Option<OperationCount> {
        let (heads, place) = if heads_first { (1, 2) } else { (2, 1) };
        let four = |at: usize| self.tensor(at).filter(|dims| dims.len() == 4);
        let (queries, keys, values) = (four(0)?, four(1)?, four(2)?);
        let lengths = queries[place].checked_mul(keys[place])?;
        let products = queries[0].checked_mul(queries[heads])?.checked_mul(lengths)?;
        let width = queries[3].checked_add(values[3])?;
        let flops = products.checked_mul(width)?.checked_mul(2)?;
        let is_causal = self.values.get(causal).is_some_and(|value| value == "True");
        let outputs =
            queries[0].checked_mul(queries[heads])?.checked_mul(queries[place])?.checked_mul(values[3])?;
        // Half of the keys come after a query on average.
        let halved = is_causal && queries[place] == keys[place];
        Some(OperationCount { flops: if halved { flops / 2 } else { flops }, outputs })
    }
}

/// The lengths of each input, from compact JSON. Lists of tensors, which are lists of lists, have
/// none: no operator here takes one.
fn length_lists(text: &str) -> Option<Vec<Vec<u64>>> {
    let mut inputs = Vec::new();
    let mut rest = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    while let Some(start) = rest.find('[') {
        let mut depth = 0_usize;
        let end = rest[start..].find(|sign: char| {
            depth = if sign == '[' { depth + 1 } else { depth - usize::from(sign == ']') };
            depth == 0
        })?;
        let list = &rest[start + 1..start + end];
        let lengths = list.split(',').map(|length| length.trim().parse().ok());
        inputs.push(lengths.collect::<Option<Vec<u64>>>().unwrap_or_default());
        rest = &rest[start + end + 1..];
        if inputs.len() > MOST_INPUTS {
            return None;
        }
    }
    Some(inputs)
}

fn elements(dims: &[u64]) -> Option<u64> {
    dims.iter().try_fold(1_u64, |all, length| all.checked_mul(*length))
}

#[cfg(test)]
mod tests {
    //! Costs against products of the lengths, and inputs of real traces.

    use super::*;

    #[track_caller]
    fn check(name: &str, dims: &str, types: &str, values: &str, expected: Option<(u64, u64)>) {
        let cost = of(name, StatedInputs { dims, types, values });
        assert_eq!(cost.map(|cost| (cost.flops, cost.bytes)), expected, "{name} {dims}");
    }

    const BF16: &str = r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16"]"#;
    const F32: &str = r#"["float","float","float"]"#;

    #[test]
    fn products_read_both_and_write_one() {
        let bytes = (2 * 3 + 3 * 5 + 2 * 5) * 2;
        check("aten::mm", "[[2,3],[3,5]]", BF16, "", Some((2 * 2 * 3 * 5, bytes)));
        let batched = 4 * 7 * (2 * 3 + 3 * 5 + 2 * 5);
        check("aten::bmm", "[[7,2,3],[7,3,5]]", F32, "", Some((2 * 7 * 2 * 3 * 5, batched)));
        let with_bias = 4 * (5 + 2 * 3 + 3 * 5 + 2 * 5);
        check("aten::addmm", "[[5],[2,3],[3,5],[],[]]", F32, "", Some((60, with_bias)));
        check("aten::mm", "[[2,3],[4,5]]", F32, "", None);
        check("aten::mm", "[[2,3]]", F32, "", None);
        check("aten::mm", "no list", F32, "", None);
        check("aten::mm", "[[4294967295,4294967295],[4294967295,4294967295]]", F32, "", None);
        check("aten::relu", "[[2,3]]", F32, "", None);
    }

    #[test]
    fn convolutions_follow_stride_padding_and_groups() {
        // 7 × 7, stride 2, padding 3: 224 becomes 112.
        let values = r#"["","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1"]"#;
        let dims = "[[32,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]";
        let outputs = 32 * 64 * 112 * 112_u64;
        let bytes = 4 * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + outputs);
        check("aten::convolution", dims, F32, values, Some((2 * outputs * 3 * 7 * 7, bytes)));
        // Old traces do not state the stride.
        check("aten::convolution", dims, F32, "", None);
        let backward = "[[32,2048,7,7],[32,512,7,7],[2048,512,1,1],[],[],[],[],[],[],[],[]]";
        let one = 2 * 32 * 7 * 7 * 2048 * 512_u64;
        let (input, weight, gradient) = (32 * 512 * 49_u64, 2048 * 512_u64, 32 * 2048 * 49_u64);
        let both = 4 * (gradient + input + weight + input + weight);
        let mask =
            r#"["","","","[0]","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1","[True, True, False]"]"#;
        check("aten::convolution_backward", backward, F32, mask, Some((2 * one, both)));
        let mask = mask.replace("[True, True", "[False, True");
        let bytes = 4 * (gradient + input + weight + weight);
        check("aten::convolution_backward", backward, F32, &mask, Some((one, bytes)));
        let old = "[[32,512,7,7],[32,2048,7,7],[2048,512,1,1],[],[]]";
        check("aten::cudnn_convolution_backward", old, F32, "", Some((2 * one, both)));
    }

    #[test]
    fn lists_of_tensors_have_no_lengths() {
        assert_eq!(
            length_lists("[[2,3],[],[[1,2],[3]],[7]]"),
            Some(vec![vec![2, 3], vec![], vec![], vec![7]])
        );
        for broken in ["", "[", "[[2", "[[2,3]", "]["] {
            assert_eq!(length_lists(broken).unwrap_or_default(), Vec::<Vec<u64>>::new(), "{broken}");
        }
    }

    #[test]
    fn causal_attention_is_half_of_all() {
        let dims = "[[16,8,559,64],[16,8,559,64],[16,8,559,64],[],[],[],[]]";
        let whole = 2 * 2 * 16 * 8 * 559 * 559 * 64_u64;
        let bytes = 2 * 4 * 16 * 8 * 559 * 64_u64;
        let name = "aten::_scaled_dot_product_flash_attention";
        let values = |causal: &str| format!(r#"["","","","0.","{causal}","False","0.125"]"#);
        check(name, dims, BF16, &values("False"), Some((whole, bytes)));
        check(name, dims, BF16, &values("True"), Some((whole / 2, bytes)));
        let cost = of(name, StatedInputs { dims, types: BF16, values: "" }).unwrap();
        assert_eq!(cost.precision, Some(NumberWidth::Half));
    }
}
