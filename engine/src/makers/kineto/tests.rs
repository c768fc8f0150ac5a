//! Operations of all libraries, and steps, read from segments.

use super::collectives::read;
use crate::base::Result;
use crate::exec::Cancel;
use crate::ingest::{BuildOptions, Builder};
use crate::makers::CallIds;
use crate::model::{
    CollectiveKind, Communicator, FieldId, FieldSpec, Identity, Membership, Nesting, RankCalls, RankInfo,
    Role, Sink, SliceForm, SliceRecord, TableId, TableKind, TableSpec, TimedBy, TrackId, TrackSpec, Value,
};
use crate::segment::Segment;
use crate::spill::MemoryScratch;

const US: i64 = 1_000_000;

/// A slice: name, start and end in microseconds, arguments.
type Row<'a> = (&'a str, (i64, i64), &'a [(&'a str, Value<'a>)]);

/// A track: its role and its slices.
type Rows<'a> = (Role, &'a [Row<'a>]);

fn add(sink: &mut dyn Sink, table: TableId, number: u32, (role, rows): &Rows<'_>) -> Result<TrackId> {
    let identity = Identity { number: Some(number), ..Identity::of(*role) };
    let spec = TrackSpec::slices("track", None, table, Nesting::Concurrent, number.into());
    let track = sink.track(spec.showing(identity))?;
    for &(name, (start, end), arguments) in *rows {
        let mut fields: Vec<(FieldId, Value<'_>)> = Vec::new();
        for &(key, value) in arguments {
            fields.push((sink.field(table, FieldSpec::named(key))?, value));
        }
        let (start_ps, duration_ps) = (start * US, (end - start) * US);
        let name = sink.name(name)?;
        sink.slice(&SliceRecord {
            track,
            start_ps,
            duration_ps,
            name,
            form: SliceForm::Complete,
            fields: &fields,
        })?;
    }
    Ok(track)
}

/// The operations of a trace with these tracks.
fn calls(tracks: &[Rows<'_>]) -> RankCalls {
    calls_of(&[], tracks)
}

/// The operations of a trace with these properties and tracks.
fn calls_of(properties: &[(&str, Value<'_>)], tracks: &[Rows<'_>]) -> RankCalls {
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    builder.rank(RankInfo { source: "trace_event".to_owned(), ..RankInfo::default() });
    let table = TableSpec::new("slice", TableKind::Slices, "").named_by("name");
    let table = builder.table(table).unwrap();
    let mut number = 0;
    for track in tracks {
        // Annotations are those of the stream before them.
        number += u32::from(track.0 != Role::Annotations);
        add(&mut builder, table, number, track).unwrap();
    }
    let metadata = builder.table(TableSpec::side("metadata", "")).unwrap();
    for &(key, value) in properties {
        let fields = ["key", "value"].map(|name| builder.field(metadata, FieldSpec::named(name)).unwrap());
        builder.row(metadata, &[(fields[0], Value::Text(key)), (fields[1], value)]).unwrap();
    }
    builder.finish().unwrap();
    read(&Segment::open(bytes).unwrap(), CallIds::Read, Cancel::NEVER).unwrap()
}

/// Kind, type, count and bytes of each call.
fn shown(calls: &RankCalls) -> Vec<(CollectiveKind, &str, u64, u64)> {
    let of = |signature: &u32| {
        let one = &calls.signatures[*signature as usize];
        (one.kind, one.dtype.as_str(), one.count, one.bytes)
    };
    calls.calls.signatures.iter().map(of).collect()
}

#[test]
fn kinds_of_nccl_come_from_arguments_or_the_kernel() {
    let arguments = [
        ("Collective name", Value::Text("_reduce_scatter_base")),
        ("dtype", Value::Text("BFloat16")),
        ("In msg nelems", Value::Int(8)),
        ("Out msg nelems", Value::Int(4)),
        ("Group size", Value::Int(2)),
        ("Process Group Name", Value::Text("0")),
        ("Process Group Ranks", Value::Text("[0, 1]")),
    ];
    let found = calls(&[(
        Role::Kernels,
        &[
            (
                "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                (0, 5),
                &arguments,
            ),
            ("ncclKernel_AllReduce_RING_LL_Sum_float", (6, 9), &[]),
            ("void gemm", (9, 12), &[]),
        ],
    )]);
    let kinds = [(CollectiveKind::ReduceScatter, "BFloat16", 8, 16), (CollectiveKind::AllReduce, "", 0, 0)];
    assert_eq!(shown(&found), kinds);
    assert_eq!(found.compute_ps, 3 * US);
}

#[test]
fn kinds_of_rccl_come_from_arguments_because_its_kernels_are_generic() {
    let named = |name| {
        [
            ("Collective name", Value::Text(name)),
            ("dtype", Value::Text("Float")),
            ("In msg nelems", Value::Int(3)),
            ("Out msg nelems", Value::Int(3)),
            ("Process Group Name", Value::Text("1")),
            ("Process Group Ranks", Value::Text("[0, 1]")),
            ("correlation", Value::Int(7)),
        ]
    };
    let (reduce, gather) = (named("allreduce"), named("_allgather_base"));
    let dims = [("Input Dims", Value::Text("[[4, 2]]")), ("Input type", Value::Text("[\"float\"]"))];
    let correlation = [("correlation", Value::Int(9))];
    let found = calls(&[
        (
            Role::Kernels,
            &[
                ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", (10, 15), &reduce),
                ("rcclGenericKernel<1>", (20, 25), &gather),
                ("ncclDevKernel_Generic_4", (30, 35), &[]),
                ("ncclDevKernel_Generic_4", (40, 45), &correlation),
            ],
        ),
        (Role::HostThread, &[("rccl:broadcast", (1, 4), &dims), ("hipLaunchKernel", (2, 3), &correlation)]),
    ]);
    let kinds = [
        (CollectiveKind::AllReduce, "Float", 3, 12),
        (CollectiveKind::AllGather, "Float", 3, 12),
        // Nothing tells the kind, so nothing is certain of it.
        (CollectiveKind::Other, "", 0, 0),
        // The annotation around the launch tells it.
        (CollectiveKind::Broadcast, "float", 8, 32),
    ];
    assert_eq!(shown(&found), kinds);
}

#[test]
fn gloo_works_on_threads_of_the_host_where_no_kernels_are() {
    let dims = [("Input Dims", Value::Text("[[4]]")), ("Input type", Value::Text("[\"float\"]"))];
    let host: &[Row<'_>] = &[
        ("ProfilerStep#3", (0, 100), &[]),
        ("gloo:all_reduce", (10, 20), &dims),
        ("gloo:barrier", (30, 31), &[]),
        ("gloo:send", (40, 41), &[]),
        ("aten::add", (50, 60), &[]),
    ];
    let found = calls(&[(Role::HostThread, host)]);
    let kinds = [
        (CollectiveKind::AllReduce, "float", 4, 16),
        (CollectiveKind::Barrier, "", 0, 0),
        (CollectiveKind::Send, "", 0, 0),
    ];
    assert_eq!(shown(&found), kinds);
    assert_eq!(found.calls.steps, [3; 3]);
    // With kernels the host's operations of Gloo are only those of the control.
    let kernel: &[Row<'_>] = &[("ncclDevKernel_AllGather_RING_LL", (5, 8), &[])];
    let both = calls(&[(Role::Kernels, kernel), (Role::HostThread, host)]);
    assert_eq!(shown(&both), [(CollectiveKind::AllGather, "", 0, 0)]);
}

#[test]
fn steps_are_those_of_launches_and_not_of_starts() {
    let launched = |number| [("correlation", Value::Int(number))];
    let (first, second, third) = (launched(1), launched(2), launched(3));
    let kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    // The host launches the second call in step 10. It starts while the host is in step 11.
    let kernels: &[Row<'_>] =
        &[(kernel, (20, 25), &first), (kernel, (60, 65), &second), (kernel, (70, 75), &third)];
    let host: &[Row<'_>] = &[
        ("ProfilerStep#10", (0, 50), &[]),
        ("cudaLaunchKernelExC", (10, 11), &first),
        ("cudaLaunchKernelExC", (40, 41), &second),
        ("ProfilerStep#11", (50, 90), &[]),
        ("cudaLaunchKernelExC", (55, 56), &third),
    ];
    let found = calls(&[(Role::Kernels, kernels), (Role::HostThread, host)]);
    assert_eq!(found.calls.steps, [10, 10, 11]);
    // Marks on the device count before launches.
    let annotation = [("cat", Value::Text("gpu_user_annotation"))];
    let marked: &[Row<'_>] = &[
        ("ProfilerStep#10", (20, 25), &annotation),
        (kernel, (20, 25), &first),
        ("ProfilerStep#11", (60, 75), &annotation),
        (kernel, (60, 65), &second),
        (kernel, (70, 75), &third),
    ];
    let found = calls(&[(Role::Kernels, marked), (Role::HostThread, host)]);
    assert_eq!(found.calls.steps, [10, 11, 11]);
    assert_eq!(calls(&[(Role::Kernels, kernels)]).calls.steps, [0; 0]);
}

#[test]
fn annotations_of_a_stream_mark_its_steps_and_are_no_work() {
    let kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    let annotation = [("cat", Value::Text("gpu_user_annotation"))];
    let kernels: &[Row<'_>] =
        &[(kernel, (20, 25), &[]), ("void gemm", (30, 35), &[]), (kernel, (60, 65), &[])];
    let marks: &[Row<'_>] = &[
        ("ProfilerStep#10", (20, 35), &annotation),
        ("nccl:all_reduce", (20, 25), &annotation),
        ("ProfilerStep#11", (60, 65), &annotation),
    ];
    // Another stream is a step behind.
    let late: &[Row<'_>] =
        &[("ProfilerStep#9", (10, 50), &annotation), ("ProfilerStep#10", (61, 90), &annotation)];
    let found = calls(&[
        (Role::Kernels, kernels),
        (Role::Annotations, marks),
        (Role::Kernels, kernels),
        (Role::Annotations, late),
    ]);
    // The calls of both streams, in the order of time.
    assert_eq!(found.calls.steps, [10, 9, 11, 9]);
    assert_eq!(found.compute_ps, 5 * US);
}

#[test]
fn copies_and_fills_are_no_idle_time() {
    let category = |name| [("cat", Value::Text(name))];
    let (kernel, copy, fill) = (category("kernel"), category("gpu_memcpy"), category("gpu_memset"));
    let found = calls(&[
        (
            Role::Kernels,
            &[
                ("Memset (Device)", (10, 15), &fill),
                ("void gemm", (100, 200), &kernel),
                ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", (900, 1000), &kernel),
            ],
        ),
        // Half of the first copy lies under the computation. Old traces state no category.
        (
            Role::Kernels,
            &[("Memcpy HtoD", (150, 250), &copy), ("Memcpy DtoD (Device -> Device)", (300, 700), &[])],
        ),
        (Role::Kernels, &[("memset_rows_kernel", (700, 710), &kernel)]),
    ]);
    assert_eq!((found.compute_ps, found.communication_ps), (110 * US, 100 * US));
    assert_eq!((found.busy_ps, found.copy_ps), (210 * US, 455 * US));
    assert_eq!(found.span_ps, 990 * US);
}

#[test]
fn all_reduces_of_inference_servers_communicate() {
    let found = calls(&[(
        Role::Kernels,
        &[
            ("void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)", (0, 10), &[]),
            ("void gemm<float>(float*)", (10, 40), &[]),
            ("void deep_ep::internode_ll::combine<true, 7168>(void*)", (40, 45), &[]),
            ("void at::native::reduce_kernel<512, 1>(float)", (45, 50), &[]),
        ],
    )]);
    let kinds = [(CollectiveKind::AllReduce, "", 0, 0), (CollectiveKind::AllToAll, "", 0, 0)];
    assert_eq!(shown(&found), kinds);
    assert_eq!((found.compute_ps, found.communication_ps), (35 * US, 15 * US));
}

const ONE_GROUP: &str = r#"{"backend":"own","rank":1,"world_size":2,
    "pg_config":[{"pg_name":"0","pg_size":2,"ranks":[0,1]},{"pg_name":"1","pg_size":1,"ranks":[1]}]}"#;

/// The communicator of each call.
fn groups(calls: &RankCalls) -> Vec<&Communicator> {
    let of = |signature: &u32| calls.signatures[*signature as usize].communicator;
    calls.calls.signatures.iter().map(|one| &calls.communicators[of(one) as usize]).collect()
}

#[test]
fn calls_without_a_group_belong_to_the_only_one_that_fits() {
    let properties = [("distributedInfo", Value::Json(ONE_GROUP)), ("host_name", Value::Text("node0"))];
    let dims = [("Input Dims", Value::Text("[[4]]")), ("Input type", Value::Text("[\"float\"]"))];
    // The threads of a group take its calls in turn.
    let first: &[Row<'_>] = &[("own:all_reduce", (10, 20), &dims), ("own:send", (40, 41), &[])];
    let second: &[Row<'_>] = &[("own:all_reduce", (25, 30), &dims), ("own:recv", (45, 46), &[])];
    let found = calls_of(&properties, &[(Role::HostThread, first), (Role::HostThread, second)]);
    assert_eq!((found.timed_by, found.host.as_deref()), (TimedBy::Host, Some("node0")));
    for group in groups(&found) {
        assert_eq!((group.name.as_str(), group.membership), ("0", Membership::Stated));
        assert_eq!((&group.ranks[..], group.size), (&[0, 1][..], 2));
    }
    let peers: Vec<Option<u32>> =
        found.calls.signatures.iter().map(|one| found.signatures[*one as usize].peer).collect();
    assert_eq!(peers, [None, None, Some(0), Some(0)], "the other of two ranks");

    // The same holds for kernels on streams, unless others have numbers.
    let bare: &[Row<'_>] = &[("ncclKernel_AllReduce_RING_LL_Sum_float", (6, 9), &[])];
    let found = calls_of(&properties, &[(Role::Kernels, bare)]);
    assert_eq!((found.timed_by, groups(&found)[0].name.as_str()), (TimedBy::Device, "0"));
    let numbered = [
        ("Collective name", Value::Text("allreduce")),
        ("Process Group Name", Value::Text("0")),
        ("Process Group Ranks", Value::Text("[0, 1]")),
        ("Group size", Value::Int(2)),
        ("Seq", Value::Int(7)),
    ];
    let numbered: &[Row<'_>] = &[("ncclDevKernel_AllReduce_Sum_f32_RING_LL", (1, 2), &numbered)];
    let found = calls_of(&properties, &[(Role::Kernels, numbered), (Role::Kernels, bare)]);
    assert_eq!(groups(&found)[1].membership, Membership::Unknown);
}

#[test]
fn groups_between_which_a_call_can_choose_are_kept() {
    let info = ONE_GROUP.replace(r#""pg_size":1,"ranks":[1]"#, r#""pg_size":3,"ranks":[0,1,2]"#);
    let properties = [("distributedInfo", Value::Json(&info))];
    let sized = [("Group size", Value::Int(3))];
    let rows: &[Row<'_>] = &[("own:all_reduce", (10, 20), &[]), ("own:barrier", (30, 40), &sized)];
    let found = calls_of(&properties, &[(Role::HostThread, rows)]);
    assert_eq!(found.choices.iter().map(|one| one.size).collect::<Vec<_>>(), [2, 3]);
    let shown: Vec<(Membership, u32)> =
        groups(&found).iter().map(|group| (group.membership, group.size)).collect();
    assert_eq!(shown, [(Membership::Unknown, 0), (Membership::Stated, 3)]);
}
