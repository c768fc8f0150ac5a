//! The operators and modules that are open on a thread while it launches work.

use rustc_hash::FxHashMap;

use super::super::super::category_words::CategoryWords;
use super::super::super::{ARGUMENTS, CATEGORY, CORRELATION};
use super::super::kernel_slice::SliceTrack;
use super::cost::{self, OperatorCost, StatedInputs};
use super::kernel_sequence::{KernelSequence, MODULE, Owner};
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::call_columns::{CallFields, FieldColumns, first_row};
use crate::model::NameId;
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// Categories of operators of PyTorch, in new and old traces.
const OPERATORS: [&str; 2] = ["cpu_op", "Operator"];
/// Category of calls of Python.
const CALLS: [&str; 1] = ["python_function"];
/// Fields with the shapes of an operator's inputs, in new and old traces, their types, and values.
const INPUTS: [&str; 4] = ["Input Dims", "Input dims", "Input type", "Concrete Inputs"];
const NO_INPUTS: [&str; 4] = [""; 4];

/// Whether a thread of the trace states the shapes of inputs.
pub(in super::super) fn states_shapes<B: Bytes>(segment: &Segment<B>) -> bool {
    segment.footer().fields.iter().any(|(_, field)| INPUTS[..2].contains(&field.name.as_str()))
}

/// An operator of one shape: numbers of name, lengths, types and values in the dictionary.
pub(super) type ShapeKey = [Option<u32>; 4];

/// A slice that is open. Times are in picoseconds.
#[derive(Debug, Default)]
pub(super) struct OpenScope {
    pub(super) name: u32,
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
    /// The kernels that it launched, itself or by what it called.
    pub(super) kernels: KernelSequence,
}

/// An operator that is open.
#[derive(Debug, Default)]
pub(super) struct OpenOperator {
    pub(super) slice: OpenScope,
    /// Its cost, if that is known and no operator around it is counted for it.
    pub(super) cost: Option<(ShapeKey, OperatorCost)>,
    /// Whether it has launched work.
    pub(super) has_launched: bool,
}

/// The operators and modules that are open on a thread, from the outermost one on.
#[derive(Debug, Default)]
pub(super) struct OpenScopes {
    pub(super) operators: Vec<OpenOperator>,
    pub(super) modules: Vec<OpenScope>,
}

/// A call of the host in the order of its thread.
pub(super) struct ThreadCall {
    pub(super) row: u32,
    pub(super) correlation: Option<i64>,
}

/// A reader of the calls of a thread.
pub(super) trait CallVisitor {
    /// Looks at a call, and tells whether it launches work.
    fn call(&mut self, call: ThreadCall, open: &mut OpenScopes) -> bool;

    /// Looks at a slice that has ended. `around` is the one that called it, an operator or a module
    /// as it is.
    fn close(&mut self, _owner: Owner, _ended: OpenScope, _around: Option<&mut OpenScope>) {}
}

/// Hands the calls of a thread to a visitor, with what is open then. Costs are those of operators
/// only if they are wanted.
pub(super) fn walk<B: Bytes>(
    segment: &Segment<B>,
    of: SliceTrack,
    wants_costs: bool,
    cancel: Cancel<'_>,
    visitor: &mut dyn CallVisitor,
) -> Result<()> {
    let SliceTrack { track, table } = of;
    let [dims, old_dims, types, values] = if wants_costs { INPUTS } else { NO_INPUTS };
    let names = [ARGUMENTS[CORRELATION], ARGUMENTS[CATEGORY], dims, old_dims, types, values];
    let columns = FieldColumns::of(segment, table, names);
    let (mut operators, mut calls) = (CategoryWords::new(&OPERATORS), CategoryWords::new(&CALLS));
    let mut known = NameFacts { segment, costs: FxHashMap::default(), modules: FxHashMap::default() };
    let mut open = OpenScopes::default();
    for block in segment.blocks_of(track)? {
        cancel.check()?;
        let fields = columns.block(segment, block)?;
        let mut core = BlockReader::new(segment, table, block)?;
        let starts = core.core_ints(ColumnRole::Start)?;
        let durations = core.core_ints(ColumnRole::Duration)?;
        let names = core.core_ints(ColumnRole::Name)?;
        for (at, row) in (0..starts.len()).zip(first_row(segment, table, block)?..) {
            open.reach(starts[at], visitor);
            let call = ThreadCall { row, correlation: fields.int(0, at) };
            if visitor.call(call, &mut open) {
                continue;
            }
            let name = u32::try_from(names[at]).unwrap_or_default();
            let (start_ps, end_ps) = (starts[at], starts[at].saturating_add(durations[at].max(0)));
            let category = fields.code(1, at);
            if operators.are_in(segment, category)? {
                let is_counted = !wants_costs || open.operators.iter().any(|around| around.cost.is_some());
                let cost = if is_counted { None } else { known.cost(name, &fields, at)? };
                let slice = OpenScope { name, start_ps, end_ps, ..OpenScope::default() };
                open.operators.push(OpenOperator { slice, cost, has_launched: false });
            } else if calls.are_in(segment, category)? && known.is_module(name)? {
                open.modules.push(OpenScope { name, start_ps, end_ps, ..OpenScope::default() });
            }
        }
    }
    open.reach(i64::MAX, visitor);
    Ok(())
}

impl OpenScopes {
    /// Ends what is over.
    fn reach(&mut self, time_ps: i64, visitor: &mut dyn CallVisitor) {
        while self.modules.last().is_some_and(|last| last.end_ps <= time_ps) {
            if let Some(ended) = self.modules.pop() {
                visitor.close(Owner::Module, ended, self.modules.last_mut());
            }
        }
        while self.operators.last().is_some_and(|last| last.slice.end_ps <= time_ps) {
            if let Some(ended) = self.operators.pop() {
                let around = self.operators.last_mut().map(|around| &mut around.slice);
                visitor.close(Owner::Operator, ended.slice, around);
            }
        }
    }
}

/// Facts about names, each looked up once.
struct NameFacts<'s, B> {
    segment: &'s Segment<B>,
    costs: FxHashMap<ShapeKey, Option<OperatorCost>>,
    modules: FxHashMap<u32, bool>,
}

impl<B: Bytes> NameFacts<'_, B> {
    fn cost(
        &mut self,
        name: u32,
        fields: &CallFields<6>,
        at: usize,
    ) -> Result<Option<(ShapeKey, OperatorCost)>> {
        let Some(dims) = fields.code(2, at).or_else(|| fields.code(3, at)) else { return Ok(None) };
        let key = [Some(name), Some(dims), fields.code(4, at), fields.code(5, at)];
        let cost = match self.costs.get(&key) {
            Some(known) => *known,
            None => {
                let segment = self.segment;
                let text = |code: Option<u32>| code.map_or(Ok(""), |code| segment.text(NameId(code)));
                let [name, dims, types, values] = key;
                let stated = StatedInputs { dims: text(dims)?, types: text(types)?, values: text(values)? };
                let cost = cost::of(text(name)?, stated);
                self.costs.insert(key, cost);
                cost
            }
        };
        Ok(cost.map(|cost| (key, cost)))
    }

    fn is_module(&mut self, name: u32) -> Result<bool> {
        if let Some(known) = self.modules.get(&name) {
            return Ok(*known);
        }
        let is_module = self.segment.text(NameId(name))?.starts_with(MODULE);
        self.modules.insert(name, is_module);
        Ok(is_module)
    }
}
