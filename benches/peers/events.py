"""The generator's events for stores that read Parquet, and what all scripts here share.

`events.py prepare 0 DIRECTORY` writes `<table>.parquet` beside the columns: uncompressed, texts as dictionary and codes,
so that a store is given what nprof is given. The scripts print lines of JSON, as src/figure.rs reads them.
"""

import json
import os
import pathlib
import resource
import shutil
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PIECE_ROWS = 1_000_000
ENGINES = ["TensorE", "VectorE", "ScalarE", "GpSimdE", "SyncE"]
# The columns that a window brings, all but its engine, which is known.
FIELDS = ["timestamp", "duration", "engine", "opcode", "pc", "operands", "hlo_name", "layer_path", "nki_source_location"]
TEXTS = ["opcode", "operands", "hlo_name", "layer_path", "nki_source_location"]
# Column of the store: file, type. Those with a dictionary are codes.
TABLES = {
    "instruction": {
        "timestamp": ("start", "u8"),
        "duration": ("duration", "u4"),
        "engine": (None, "u1"),
        "opcode": ("opcode", "u1"),
        "pc": ("pc", "u4"),
        "operands": ("operands", "u4"),
        "hlo_name": ("hlo_name", "u2"),
        "layer_path": ("layer_path", "u2"),
        "nki_source_location": ("nki_source_location", "u2"),
    },
    "dma": {
        "timestamp": ("start", "u8"),
        "duration": ("duration", "u4"),
        "queue": (None, "u1"),
        "size": ("size", "u4"),
        "src": ("src", "u1"),
        "dst": ("dst", "u1"),
        "tensor": ("tensor", "u2"),
        "dma_id": ("dma_id", "u4"),
    },
    "counter": {
        "timestamp": ("start", "u8"),
        "pending_dma": ("pending_dma", "u2"),
        "dma_throughput": ("dma_throughput", "u4"),
    },
}


class Job:
    """What the command line asks for: `STEP RUN DIRECTORY`."""

    def __init__(self, store, version):
        self.store = f"{store} {version}"
        self.step, self.run, self.directory = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
        self.home = self.directory / f"{store}.store"
        questions = self.directory / "questions.json"
        if questions.exists():
            for name, value in json.loads(questions.read_text()).items():
                setattr(self, name, value)

    def clear(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()

    def show(self, kind, store=None, **content):
        print(json.dumps({"store": store or self.store, "kind": kind, **content}), flush=True)

    def ingested(self, seconds, size=None, peak=None):
        size = size or size_of(self.home)
        self.show("ingest", seconds=seconds, bytes=size, peak_mib=peak or peak_mib())

    def ask(self, name, arguments, ask, answer, budget=60, store=None):
        """Times `ask` over `arguments`, for the first time and again; `answer` looks at a result off the clock: rows and sum."""
        for of_pass, seconds in ((f"{name}-first", budget / 3), (name, budget)):
            times, rows, total, begin = [], 0, 0, time.perf_counter()
            for argument in arguments:
                start = time.perf_counter()
                result = ask(argument)
                times.append((time.perf_counter() - start) * 1e3)
                more = answer(result)
                rows, total = rows + int(more[0]), total + int(more[1])
                if time.perf_counter() - begin > seconds and len(times) >= 3:
                    break
            # An answer to a part of the questions is not to be compared.
            whole = {"rows": rows, "sum": total} if len(times) == len(arguments) else None
            self.show("question", store, name=of_pass, times_ms=times, answer=whole)

    def cells(self, ask, answer, name="Z1", runs=7, **options):
        """Times a question without an argument; its answer counts once."""
        totals = lambda result: answer(result[1]) if result[0] == 0 else (0, 0)
        self.ask(name, range(runs), lambda run: (run, ask(None)), totals, **options)

    def window(self, at):
        """Engine, and the bounds of W1 and W2: earliest start of each, start, end."""
        window = self.windows[at % len(self.windows)]
        start, end = window["start_ns"], window["end_ns"]
        return window["engine"], start - self.lookback_ns, start - self.longest_ns, start, end

    def all_windows(self):
        return [self.window(at) for at in range(len(self.windows))]

    def cold(self, ask):
        start = time.perf_counter()
        ask(self.window(self.run))
        self.show("question", name="cold", times_ms=[(time.perf_counter() - start) * 1e3], answer=None)


def row_sum(table):
    """Rows of an Arrow table of FIELDS, and the sum of their numbers and lengths of texts."""
    total = sum(pc.sum(table[name]).as_py() or 0 for name in ("duration", "pc"))
    for name in TEXTS:
        texts = table[name].cast(pa.large_string())
        total += pc.sum(pc.binary_length(texts)).as_py() or 0
    return table.num_rows, total


def size_of(path):
    """Bytes on disk: of files with holes only what is not a hole."""
    files = [file.stat() for file in path.rglob("*") if file.is_file()]
    return sum(min(file.st_size, file.st_blocks * 512) for file in files)


def evict(path):
    """Has the system forget the pages of all files in a folder."""
    os.sync()
    for file in path.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def texts_of(directory, table, column):
    path = directory / f"{table}.{column}.txt"
    return np.array(path.read_text().splitlines(), dtype=object) if path.exists() else None


def dictionary_array(codes, texts):
    """Only the texts that occur: a piece does not carry the whole dictionary."""
    used, codes = np.unique(codes, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(texts[used], pa.string()))


def pieces(directory, table):
    """The rows of a table as Arrow tables, a track's rows never together with another's."""
    meta = json.loads((directory / "meta.json").read_text())
    counts = {"instruction": meta["instructions"], "dma": meta["dmas"], "counter": [meta["samples"]]}[table]
    columns = TABLES[table]
    texts = {name: texts_of(directory, table, file) for name, (file, _) in columns.items() if file}
    first = 0
    for track, count in enumerate(counts):
        for begin in range(0, count, PIECE_ROWS):
            rows = min(PIECE_ROWS, count - begin)
            arrays = []
            for name, (file, kind) in columns.items():
                if file is None:
                    constant = ENGINES[track] if name == "engine" else track
                    values = np.full(rows, 0, np.int32)
                    array = pa.DictionaryArray.from_arrays(values, pa.array([constant]))
                    arrays.append(array if name == "engine" else array.cast(pa.int64()).cast(pa.uint8()))
                    continue
                width = np.dtype(kind).itemsize
                path = directory / f"{table}.{file}.bin"
                values = np.fromfile(path, kind, rows, offset=(first + begin) * width)
                text = texts[name]
                arrays.append(pa.array(values) if text is None else dictionary_array(values, text))
            yield pa.table(arrays, names=list(columns))
        first += count


def prepare(directory):
    for table in TABLES:
        path = directory / f"{table}.parquet"
        if path.exists():
            continue
        part, writer = path.with_suffix(".part"), None
        for piece in pieces(directory, table):
            coded = [field.name for field in piece.schema if pa.types.is_dictionary(field.type)]
            writer = writer or pq.ParquetWriter(
                part,
                piece.schema,
                compression="NONE",
                use_dictionary=coded,
                dictionary_pagesize_limit=1 << 28,
                # Read as text, whichever the dictionary of a piece is.
                store_schema=False,
            )
            writer.write_table(piece)
        writer.close()
        part.rename(path)


def steps(job, ingest, query, cold):
    """Runs the step that is asked for. A cold one runs in a process of its own, after its files are evicted."""
    if job.step == "cold":
        evict(job.home)
    {"ingest": ingest, "query": query, "cold": cold}[job.step]()


if __name__ == "__main__":
    prepare(pathlib.Path(sys.argv[3]))
