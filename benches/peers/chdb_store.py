"""ClickHouse (chdb) as one would set it up for this: sorted by engine and start, codecs by column, an index of ends."""

import os
import sys
import time

import chdb
import pyarrow as pa
from chdb import session
from events import FIELDS, Job, peak_mib, row_sum, steps

job = Job("ClickHouse", f"(chdb {chdb.__version__})")
TEXT = "LowCardinality(String) CODEC(ZSTD(3))"
TABLES = {
    "instruction": (
        "timestamp UInt64 CODEC(DoubleDelta, ZSTD(3)), duration UInt32 CODEC(T64, ZSTD(3)),"
        f" engine {TEXT}, opcode {TEXT}, pc UInt32 CODEC(Delta(4), ZSTD(3)), operands String CODEC(ZSTD(3)),"
        f" hlo_name {TEXT}, layer_path {TEXT}, nki_source_location {TEXT},"
        " INDEX ends timestamp + duration TYPE minmax GRANULARITY 1",
        "(engine, timestamp)",
    ),
    "dma": (
        "timestamp UInt64 CODEC(DoubleDelta, ZSTD(3)), duration UInt32 CODEC(T64, ZSTD(3)), queue UInt8 CODEC(ZSTD(3)),"
        f" size UInt32 CODEC(T64, ZSTD(3)), src {TEXT}, dst {TEXT}, tensor {TEXT}, dma_id UInt32 CODEC(DoubleDelta, ZSTD(3))",
        "(queue, timestamp)",
    ),
    "counter": (
        "timestamp UInt64 CODEC(DoubleDelta, ZSTD(3)), pending_dma UInt16 CODEC(T64, ZSTD(3)),"
        " dma_throughput UInt32 CODEC(T64, ZSTD(3))",
        "timestamp",
    ),
}


def ingest():
    job.clear()
    begin = time.perf_counter()
    store = session.Session(str(job.home))
    store.query("CREATE DATABASE profile ENGINE = Atomic")
    for table, (columns, order) in TABLES.items():
        store.query(
            f"CREATE TABLE profile.{table} ({columns}) ENGINE = MergeTree ORDER BY {order}"
            " SETTINGS min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0"
        )
        store.query(
            f"INSERT INTO profile.{table} SELECT * FROM file('{job.directory}/{table}.parquet', Parquet)"
            " SETTINGS max_threads = 2, max_insert_threads = 1"
        )
    # One part each, as a store that is done has; windows are asked of that.
    for table in TABLES:
        store.query(f"OPTIMIZE TABLE profile.{table} FINAL")
    seconds = time.perf_counter() - begin
    parts = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'profile'"
    job.ingested(seconds, int(str(store.query(parts, "CSV")).strip()))


class Store:
    def __init__(self):
        self.session = session.Session(str(job.home))

    def table(self, sql):
        answer = self.session.query(f"{sql} SETTINGS max_threads = 2", "Arrow").bytes()
        return pa.ipc.open_file(pa.BufferReader(answer)).read_all()

    def window(self, engine, earliest, start, end):
        return self.table(
            f"SELECT {','.join(FIELDS)} FROM profile.instruction WHERE engine = '{engine}' AND timestamp >= {earliest}"
            f" AND timestamp < {end} AND timestamp + duration > {start}"
        )


def query():
    store = Store()
    totals = lambda result: (sum(result["rows"].to_pylist()), sum(result["busy"].to_pylist()))
    job.ask("W1", job.all_windows(), lambda w: store.window(w[0], w[1], w[3], w[4]), row_sum)
    job.ask("W2", job.all_windows(), lambda w: store.window(w[0], w[2], w[3], w[4]), row_sum)
    job.cells(
        lambda _: store.table(
            f"SELECT engine, intDiv(timestamp - {job.start_ns}, {job.cell_ns}) cell, count() rows, sum(duration) busy,"
            " max(duration) longest, argMax(timestamp, duration) longest_at FROM profile.instruction GROUP BY 1, 2"
        ),
        totals,
    )
    job.ask(
        "G1",
        job.spans,
        lambda span: store.table(
            "SELECT opcode, count() rows,"
            f" sum(least(timestamp + duration, {span[1]}) - greatest(timestamp, {span[0]})) busy FROM profile.instruction"
            f" WHERE timestamp >= {span[0] - job.longest_ns} AND timestamp < {span[1]}"
            f" AND timestamp + duration > {span[0]} GROUP BY 1"
        ),
        totals,
    )
    contains = "position(operands, '{0}') > 0 OR position(hlo_name, '{0}') > 0"
    job.ask(
        "S1",
        job.needles,
        lambda needle: store.table(f"SELECT count() rows FROM profile.instruction WHERE {contains.format(needle)}"),
        lambda result: (result["rows"][0].as_py(), 0),
    )
    job.show("memory", peak_mib=peak_mib())


def cold():
    job.cold(lambda w: Store().window(w[0], w[1], w[3], w[4]))


steps(job, ingest, query, cold)
# The embedded server's threads do not end by themselves.
sys.stdout.flush()
os._exit(0)
