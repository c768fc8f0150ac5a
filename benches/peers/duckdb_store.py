"""DuckDB as one would set it up for this: newest storage, enums, a column of ends, and a pyramid of cells as a table."""

import time

import duckdb
from events import ENGINES, FIELDS, Job, peak_mib, row_sum, steps

job = Job("DuckDB", duckdb.__version__)
FILE = job.home / "profile.duckdb"
# The finest cells, as a power of two of nanoseconds.
FINEST = 12


def connect(mode):
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"ATTACH '{FILE}' AS profile ({mode})")
    connection.execute("USE profile")
    return connection


def ingest():
    job.clear()
    begin = time.perf_counter()
    connection = connect("STORAGE_VERSION 'latest'")
    opcodes = (job.directory / "instruction.opcode.txt").read_text().splitlines()
    for name, texts in (("engines", ENGINES), ("opcodes", opcodes)):
        values = ",".join(f"'{text}'" for text in texts)
        connection.execute(f"CREATE TYPE {name} AS ENUM ({values})")
    connection.execute(
        f"CREATE TABLE instruction AS SELECT * REPLACE (engine::engines AS engine, opcode::opcodes AS opcode),"
        f" timestamp + duration AS ends FROM '{job.directory}/instruction.parquet'"
    )
    for table in ("dma", "counter"):
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM '{job.directory}/{table}.parquet'")
    connection.execute(
        f"CREATE TABLE cell AS SELECT {FINEST}::UTINYINT level, engine, ((timestamp - {job.start_ns}) >> {FINEST})::UINTEGER cell,"
        " count(*) rows, sum(duration)::UBIGINT busy, max(duration) longest, arg_max(timestamp, duration) longest_at"
        " FROM instruction GROUP BY 2, 3 ORDER BY 2, 3"
    )
    level = FINEST
    while (job.end_ns - job.start_ns) >> level > 512:
        connection.execute(
            f"INSERT INTO cell SELECT {level + 1}, engine, cell >> 1, sum(rows), sum(busy)::UBIGINT, max(longest),"
            f" arg_max(longest_at, longest) FROM cell WHERE level = {level} GROUP BY 2, 3 ORDER BY 2, 3"
        )
        level += 1
    connection.execute("CHECKPOINT")
    connection.close()
    job.ingested(time.perf_counter() - begin)


def window(connection, engine, earliest, start, end):
    return connection.sql(
        f"SELECT {','.join(FIELDS)} FROM instruction WHERE engine = '{engine}' AND timestamp >= {earliest}"
        f" AND timestamp < {end} AND ends > {start}"
    ).to_arrow_table()


def query():
    connection = connect("READ_ONLY")
    table = lambda sql: connection.sql(sql).to_arrow_table()
    totals = lambda result: (sum(result["rows"].to_pylist()), sum(result["busy"].to_pylist()))
    job.ask("W1", job.all_windows(), lambda w: window(connection, w[0], w[1], w[3], w[4]), row_sum)
    job.ask("W2", job.all_windows(), lambda w: window(connection, w[0], w[2], w[3], w[4]), row_sum)
    job.cells(
        lambda _: table(
            f"SELECT engine, (timestamp - {job.start_ns}) // {job.cell_ns} cell, count(*) rows, sum(duration) busy,"
            " max(duration), arg_max(timestamp, duration) FROM instruction GROUP BY 1, 2"
        ),
        totals,
    )
    level = next(level for level in range(FINEST, 60) if (2 << level) > job.cell_ns)
    job.cells(
        lambda _: table(f"SELECT engine, cell, rows, busy, longest, longest_at FROM cell WHERE level = {level}"),
        totals,
        name="Z1-tiles",
        runs=30,
    )
    job.ask(
        "G1",
        job.spans,
        lambda span: table(
            f"SELECT opcode, count(*) rows, sum(least(ends, {span[1]}) - greatest(timestamp, {span[0]})) busy FROM instruction"
            f" WHERE timestamp >= {span[0] - job.longest_ns} AND timestamp < {span[1]} AND ends > {span[0]} GROUP BY 1"
        ),
        totals,
    )
    contains = "contains(operands, ?) OR contains(hlo_name, ?)"
    count = lambda needle: connection.execute(f"SELECT count(*) FROM instruction WHERE {contains}", [needle, needle])
    job.ask("S1", job.needles, lambda needle: count(needle).fetchone()[0], lambda rows: (rows, 0))
    job.show("memory", peak_mib=peak_mib())


def cold():
    job.cold(lambda w: window(connect("READ_ONLY"), w[0], w[1], w[3], w[4]))


steps(job, ingest, query, cold)
