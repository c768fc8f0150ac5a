"""Parquet with an encoding for each column and zstd, read with pyarrow and with DuckDB."""

import time

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from events import FIELDS, TABLES, Job, peak_mib, row_sum, steps

job = Job("Parquet", f"(pyarrow {pa.__version__})")
GROUP_ROWS = 122_880
# Ascending numbers are stored as differences.
ASCENDING = {"instruction": ["timestamp"], "dma": ["timestamp", "dma_id"], "counter": ["timestamp"]}
FILE = job.home / "instruction.parquet"
pa.set_cpu_count(2)


def ingest():
    job.clear()
    begin = time.perf_counter()
    for table in TABLES:
        source = pq.ParquetFile(job.directory / f"{table}.parquet", pre_buffer=False)
        names = source.schema_arrow.names
        coded = [name for name in names if name not in ASCENDING[table] and name != "dma_throughput"]
        writer = pq.ParquetWriter(
            job.home / f"{table}.parquet",
            source.schema_arrow,
            version="2.6",
            data_page_version="2.0",
            write_page_index=True,
            compression="zstd",
            compression_level=9,
            use_dictionary=coded,
            column_encoding={name: "DELTA_BINARY_PACKED" for name in ASCENDING[table]},
            dictionary_pagesize_limit=64 << 20,
        )
        for batch in source.iter_batches(GROUP_ROWS):
            writer.write_batch(batch, row_group_size=GROUP_ROWS)
        writer.close()
    job.ingested(time.perf_counter() - begin)


def number(value):
    return pa.scalar(max(value, 0), pa.uint64())


def window(dataset, engine, earliest, start, end):
    ends = pc.field("timestamp") + pc.field("duration").cast(pa.uint64())
    overlaps = (pc.field("timestamp") < number(end)) & (ends > number(start))
    wanted = (pc.field("engine") == engine) & (pc.field("timestamp") >= number(earliest)) & overlaps
    return dataset.to_table(columns=FIELDS, filter=wanted)


def with_arrow():
    dataset = ds.dataset(FILE)
    field = pc.field
    store = f"Parquet, by pyarrow {pa.__version__}"
    ask = lambda name, at: job.ask(
        name, job.all_windows(), lambda w: window(dataset, w[0], w[at], w[3], w[4]), row_sum, store=store
    )
    ask("W1", 1)
    ask("W2", 2)
    totals = lambda result: (pc.sum(result["d_count"]).as_py(), pc.sum(result["d_sum"]).as_py())

    def cells(_):
        rows = dataset.to_table(columns=["engine", "timestamp", "duration"])
        cell = pc.divide(pc.subtract(rows["timestamp"], number(job.start_ns)), number(job.cell_ns))
        rows = pa.table({"e": rows["engine"], "c": cell, "d": rows["duration"]})
        return rows.group_by(["e", "c"]).aggregate([("d", "count"), ("d", "sum"), ("d", "max")])

    job.cells(cells, totals, store=store)

    def groups(span):
        start, end = number(span[0]), number(span[1])
        ends = field("timestamp") + field("duration").cast(pa.uint64())
        wanted = (field("timestamp") >= number(span[0] - job.longest_ns)) & (field("timestamp") < end) & (ends > start)
        rows = dataset.to_table(columns=["opcode", "timestamp", "duration"], filter=wanted)
        ends = pc.min_element_wise(pc.add(rows["timestamp"], rows["duration"].cast(pa.uint64())), end)
        inside = pc.subtract(ends, pc.max_element_wise(rows["timestamp"], start))
        rows = pa.table({"o": rows["opcode"], "d": inside})
        return rows.group_by("o").aggregate([("d", "count"), ("d", "sum")])

    job.ask("G1", job.spans, groups, totals, store=store)
    matches = lambda needle: pc.match_substring(field("operands"), needle) | pc.match_substring(field("hlo_name"), needle)
    job.ask("S1", job.needles, lambda needle: dataset.count_rows(filter=matches(needle)), lambda n: (n, 0), store=store)
    job.show("memory", store, peak_mib=peak_mib())


def with_duckdb():
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("SET parquet_metadata_cache = true")
    store = f"Parquet, by DuckDB {duckdb.__version__}"
    table = lambda sql: connection.sql(sql).to_arrow_table()
    ask = lambda name, at: job.ask(
        name,
        job.all_windows(),
        lambda w: table(
            f"SELECT {','.join(FIELDS)} FROM '{FILE}' WHERE engine = '{w[0]}' AND timestamp >= {max(w[at], 0)}"
            f" AND timestamp < {w[4]} AND timestamp + duration > {w[3]}"
        ),
        row_sum,
        store=store,
    )
    ask("W1", 1)
    ask("W2", 2)
    totals = lambda result: (sum(result["rows"].to_pylist()), sum(result["busy"].to_pylist()))
    job.cells(
        lambda _: table(
            f"SELECT engine, (timestamp - {job.start_ns}) // {job.cell_ns} cell, count(*) rows, sum(duration) busy,"
            f" max(duration), arg_max(timestamp, duration) FROM '{FILE}' GROUP BY 1, 2"
        ),
        totals,
        store=store,
    )
    job.ask(
        "G1",
        job.spans,
        lambda span: table(
            "SELECT opcode, count(*) rows,"
            f" sum(least(timestamp + duration, {span[1]}) - greatest(timestamp, {span[0]})) busy FROM '{FILE}'"
            f" WHERE timestamp >= {span[0] - job.longest_ns} AND timestamp < {span[1]}"
            f" AND timestamp + duration > {span[0]} GROUP BY 1"
        ),
        totals,
        store=store,
    )
    contains = "contains(operands, ?) OR contains(hlo_name, ?)"
    count = lambda needle: connection.execute(f"SELECT count(*) FROM '{FILE}' WHERE {contains}", [needle, needle])
    job.ask("S1", job.needles, lambda needle: count(needle).fetchone()[0], lambda n: (n, 0), store=store)


def query():
    with_arrow()
    with_duckdb()


def cold():
    job.cold(lambda w: window(ds.dataset(FILE), w[0], w[1], w[3], w[4]))


steps(job, ingest, query, cold)
