"""InfluxDB 1.x over loopback, line protocol, one connection. Needs `influxd` on PATH."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse

import pyarrow as pa
import pyarrow.compute as pc
from events import TABLES, Job, pieces, size_of, steps

BINARY = shutil.which("influxd") or sys.exit("influxd is not on PATH")
VERSION = re.search(r"v([0-9.]+)", subprocess.run([BINARY, "version"], capture_output=True, text=True).stdout)
job = Job("InfluxDB", VERSION[1] if VERSION else "")
PORT = 18086
BATCH_LINES = 5000
# The disk counts as settled, all compactions done, when its size has not changed for so long.
SETTLED_S, LONGEST_WAIT_S = 40, 900
# Tags are what InfluxQL can group by.
TAGS = {"instruction": ["engine", "opcode"], "dma": ["queue"], "counter": []}
CONFIG = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{home}/meta"
  logging-enabled = false
[data]
  dir = "{home}/data"
  wal-dir = "{home}/wal"
  index-version = "tsi1"
  query-log-enabled = false
  cache-max-memory-size = "2g"
  cache-snapshot-memory-size = "64m"
  cache-snapshot-write-cold-duration = "10s"
  compact-full-write-cold-duration = "20s"
  max-series-per-database = 0
  max-values-per-tag = 0
[coordinator]
  write-timeout = "120s"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
  max-body-size = 0
[ifql]
  enabled = false
[logging]
  level = "error"
"""


class Server:
    def __init__(self, process):
        self.process = process
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)

    def request(self, method, path, body=None):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def query(self, text):
        form = urllib.parse.urlencode({"db": "profile", "q": text, "epoch": "ns"})
        return self.request("GET", f"/query?{form}")[1]

    def series(self, answer):
        answer = json.loads(answer)
        result = answer.get("results", [answer])[0]
        if "error" in result:
            sys.exit(result["error"])
        return result.get("series", [])

    def peak_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


@contextlib.contextmanager
def running():
    config = job.home / "influxdb.conf"
    config.write_text(CONFIG.format(home=job.home, port=PORT, rpc=PORT + 2))
    with open(job.home / "log", "a") as log:
        process = subprocess.Popen([BINARY, "-config", config], stdout=log, stderr=log, env={**os.environ, "GOMAXPROCS": "2"})
    server = Server(process)
    try:
        while True:
            try:
                server.request("GET", "/ping")
                break
            except OSError:
                server.connection.close()
                time.sleep(0.005)
                if process.poll() is not None:
                    sys.exit(f"influxd ended: see {job.home / 'log'}")
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def lines(table):
    """The rows as line protocol; tags and fields as the questions need them."""
    tags = TAGS[table]
    for piece in pieces(job.directory, table):
        text = {name: piece[name].cast(pa.string()) for name in piece.column_names}
        parts = [table]
        for tag in tags:
            parts += [f",{tag}=", text[tag]]
        separator = " "
        fields = [name for name in TABLES[table] if name not in tags and name != "timestamp"]
        for name in fields:
            is_text = pa.types.is_dictionary(piece.schema.field(name).type)
            parts += [f'{separator}{name}="', text[name], '"'] if is_text else [f"{separator}{name}=", text[name], "i"]
            separator = ","
        if "duration" in fields:
            ends = pc.add(piece["timestamp"], piece["duration"].cast(pa.uint64())).cast(pa.string())
            parts += [",ends=", ends, "i"]
        parts += [" ", text["timestamp"]]
        for first in range(0, piece.num_rows, BATCH_LINES):
            cut = [part if isinstance(part, str) else part.slice(first, BATCH_LINES).combine_chunks() for part in parts]
            yield "\n".join(pc.binary_join_element_wise(*cut, "").to_pylist()).encode()


def ingest():
    job.clear()
    with running() as server:
        server.request("POST", "/query?" + urllib.parse.urlencode({"q": "CREATE DATABASE profile"}))
        seconds = 0
        for table in TABLES:
            for body in lines(table):
                # Only what the server does is on the clock, not the making of lines.
                begin = time.perf_counter()
                status, answer = server.request("POST", "/write?db=profile&precision=ns", body)
                seconds += time.perf_counter() - begin
                if status != 204:
                    sys.exit(f"{status}: {answer[:200]}")
        begin = changed = time.perf_counter()
        size = 0
        while time.perf_counter() - changed < SETTLED_S and time.perf_counter() - begin < LONGEST_WAIT_S:
            time.sleep(2)
            if size_of(job.home) != size:
                size, changed = size_of(job.home), time.perf_counter()
        job.ingested(seconds, size, server.peak_mib())


def window(server, engine, earliest, start, end):
    return server.query(
        'SELECT "duration", opcode, pc, operands, hlo_name, layer_path, nki_source_location FROM instruction'
        f" WHERE engine = '{engine}' AND time >= {max(earliest, 0)} AND time < {end} AND ends > {start}"
    )


def query():
    with running() as server:

        def row_sum(answer):
            rows, total = 0, 0
            for series in server.series(answer):
                for _, *values in series["values"]:
                    rows += 1
                    total += sum(len(value) if isinstance(value, str) else value for value in values)
            return rows, total

        def totals(answer):
            values = [row for series in server.series(answer) for row in series["values"]]
            return sum(row[1] for row in values), sum(row[2] for row in values)

        select = 'SELECT COUNT("duration"), SUM("duration"), MAX("duration") FROM instruction'
        job.ask("W1", job.all_windows(), lambda w: window(server, w[0], w[1], w[3], w[4]), row_sum)
        job.ask("W2", job.all_windows(), lambda w: window(server, w[0], w[2], w[3], w[4]), row_sum)
        last = job.end_ns + job.longest_ns
        job.cells(
            lambda _: server.query(
                f"{select} WHERE time >= {job.start_ns} AND time <= {last} GROUP BY time({job.cell_ns}ns), engine fill(none)"
            ),
            totals,
            runs=5,
        )
        # InfluxQL has no least and greatest: by start, and whole durations.
        job.ask(
            "G1-starts",
            job.spans,
            lambda span: server.query(f"{select} WHERE time >= {span[0]} AND time < {span[1]} GROUP BY opcode"),
            totals,
        )

        def search(needle):
            pattern = re.escape(needle).replace("/", r"\/")
            return server.query(
                f"{select} WHERE operands =~ /{pattern}/ OR hlo_name =~ /{pattern}/"
            )

        job.ask("S1", job.needles, search, lambda answer: (totals(answer)[0], 0), budget=120)
        job.show("memory", peak_mib=server.peak_mib())


def cold():
    begin = time.perf_counter()
    with running() as server:
        engine, earliest, _, start, end = job.window(job.run)
        window(server, engine, earliest, start, end)
        job.show("question", name="cold", times_ms=[(time.perf_counter() - begin) * 1e3], answer=None)


steps(job, ingest, query, cold)
