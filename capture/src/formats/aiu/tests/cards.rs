//! Ranks of PyTorch's dialect with several devices.

use super::*;

/// Kernels that run on two devices at the same time: device, name, start and duration in
/// microseconds.
const KERNELS: [(u32, &str, u32, u32); 6] = [
    (0, "mul", 100, 40),
    (1, "mul", 110, 80),
    (0, "add", 150, 50),
    (1, "add", 200, 20),
    (0, "mul", 220, 80),
    (1, "add", 220, 30),
];

const LOG: &str = "~~~ Ideal/Total Cycles ~~~\nmul-opCatScalar   22000\nadd-opCatBroadcast   11000\n\
    ====== Perf Summary End ======\n";

fn trace() -> String {
    let kernel = |&(device, name, start, duration): &(u32, &str, u32, u32)| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{device},"tid":1,"ts":{start},"dur":{duration},"args":{{"device":{device},"stream":1}}}}"#
        )
    };
    let copy = |device: u32| {
        format!(
            r#"{{"ph":"X","cat":"gpu_memcpy","name":"Memcpy (HtoD)","pid":{device},"tid":1,"ts":90,"dur":5,"args":{{"device":{device},"memory bandwidth (GB/s)":2}}}}"#
        )
    };
    let events: Vec<String> = KERNELS.iter().map(kernel).chain([copy(0), copy(1)]).collect();
    format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"AIU"}},{{"id":1,"name":"AIU"}}],"traceEvents":[{}]}}"#,
        events.join(",")
    )
}

#[test]
fn each_device_of_a_rank_has_its_rows_and_counters() {
    let files = [("a.json", trace()), ("c.log", LOG.to_owned())];
    let rank = read(&files, AiuSettings::default()).remove(0);
    let us = |row: &[(String, OwnedValue)], name: &str| (float(row, name) / 1e3).round() as i64;
    let active: Vec<[i64; 5]> = rank
        .rows_of("aiu_active")
        .map(|row| {
            [
                int(row, "device"),
                us(row, "kernel_time"),
                us(row, "busy_time"),
                us(row, "start"),
                us(row, "end"),
            ]
        })
        .collect();
    let zero = active[0][3];
    assert_eq!(active, [[0, 170, 170, zero, zero + 200], [1, 130, 130, zero + 10, zero + 150]]);
    let kernels: Vec<(i64, i64, i64)> = rank
        .rows_of("aiu_kernel")
        .map(|row| (int(row, "device"), us(row, "total"), int(row, "calls")))
        .collect();
    assert_eq!(kernels, [(0, 120, 2), (0, 50, 1), (1, 80, 1), (1, 50, 2)]);
    let totals: Vec<(i64, i64, i64)> = rank
        .rows_of("aiu_category")
        .filter(|row| field(row, "category") == Some(&OwnedValue::Text("Total".to_owned())))
        .map(|row| (int(row, "device"), us(row, "kernel_time"), us(row, "ideal_time")))
        .collect();
    assert_eq!(totals, [(0, 170, 50), (1, 130, 40)]);
    for device in 0..2 {
        let name = format!("PT active, device {device}");
        let most = samples(&rank, &name).iter().map(|(_, value)| *value).fold(0.0, f64::max);
        assert!((0.2..=0.5).contains(&most), "{name}: {most}");
        let rates: Vec<f64> =
            samples(&rank, &format!("Transfer rate, device {device}")).iter().map(|of| of.1).collect();
        assert_eq!(rates, [2e9, 0.0]);
    }
}

#[test]
fn counters_of_several_devices_have_a_group_of_the_rank() {
    let rank = read(&[("rank_1.json", trace())], AiuSettings::default()).remove(0);
    let counter =
        rank.samples.iter().find(|sample| rank.path(sample.track).ends_with("Transfer rate, device 0"));
    let track = counter.unwrap().track;
    assert_eq!(rank.path(track), "AIUs of rank 1/Transfer rate, device 0");
    assert_eq!(rank.tracks[track.0 as usize].identity.chip, None);
    assert_eq!((rank.rank.rank, rank.rank.device), (Some(1), None));
    // A rank of one device is that device.
    let one = trace().replace("\"device\":1", "\"device\":0");
    let one = read(&[("rank_1.json", one)], AiuSettings::default()).remove(0);
    assert!(one.samples.iter().all(|sample| one.path(sample.track).starts_with("AIU 1/")));
}

#[test]
fn the_only_device_of_a_rank_is_not_named() {
    let rank = read_one(&trace().replace("\"device\":1", "\"device\":0"));
    let row = rank.rows_of("aiu_active").next().unwrap();
    assert_eq!((rank.rows_of("aiu_active").count(), field(row, "device")), (1, None));
    assert_eq!(samples(&rank, "Transfer rate").len(), 2);
}
