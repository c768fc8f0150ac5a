"""Counts a Trace Event JSON file without any of nprof's code: what a store made from it must hold.

    python3 count_trace.py FILE…

Prints a line of JSON for each file: for each track its slices, instants, samples and picoseconds of all slices
together; the arrows between slices, and the flow points that no arrow could be drawn from. `null` where Python's own
JSON reader does not accept the file. Standard library only.
"""

import gzip
import json
import re
import sys
from bisect import bisect_left
from collections import defaultdict
from decimal import Decimal, InvalidOperation

SLICES, INSTANTS, SAMPLES, TOTAL_PS = range(4)

# Asynchronous names of a process that get a track each.
MAX_ASYNC_NAMES = 256


def load(path):
    """The events, in the order of the file."""
    raw = open(path, "rb").read()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    found = []

    def each_object(pairs):
        found.extend(events for key, events in pairs if key == "traceEvents" and isinstance(events, list))
        return dict(pairs)

    document = json.loads(raw.decode("utf-8", "replace"), parse_float=Decimal, object_pairs_hook=each_object)
    if isinstance(document, list):
        if not any(isinstance(event, dict) and isinstance(event.get("ph"), str) for event in document):
            raise ValueError("no trace")
        return document
    return [event for events in found for event in events] if found else [document]


def ps(value):
    """Microseconds as picoseconds; None where it is no number."""
    if value is None or isinstance(value, (bool, list, dict)):
        return None
    try:
        return int((Decimal(str(value).strip()) * 1_000_000).to_integral_value("ROUND_HALF_UP"))
    except (InvalidOperation, ValueError, OverflowError):
        return None


def ident(value):
    """A process, thread or flow as text: 7, "7" and 7.0 are the same."""
    if value is None:
        return "not given"
    text = str(value)
    if re.fullmatch(r"[+-]?\d+", text):
        return str(int(text))
    if re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", text):
        number = Decimal(text)
        if number == int(number) and abs(number) <= 1 << 53:
            return str(int(number))
    return text


def text(event, key):
    value = event.get(key)
    return "" if value is None else str(value)


class Trace:
    """What is on each track, as far as it has been read."""

    def __init__(self):
        self.rows = defaultdict(list)  # track: (start, end or None while unfinished, is instant)
        self.samples = defaultdict(int)
        self.last = {}
        self.points = []  # (flow, time, phase, track, binds to "enclosing", "next" or a row's index, name)
        self.async_names = defaultdict(set)

    def reach(self, track, end):
        self.last[track] = max(self.last.get(track, end), end)

    def row(self, track, start, end, is_instant=False):
        self.reach(track, start if end is None else end)
        self.rows[track].append((start, end, is_instant))
        return track, len(self.rows[track]) - 1

    def ride(self, row, *events):
        """The flows that events with a `bind_id` join to their own slice."""
        for event in events:
            comes, goes = (event.get(key) not in (None, False) for key in ("flow_in", "flow_out"))
            if event.get("bind_id") is not None and (comes or goes):
                phase = 1 if comes and goes else 0 if goes else 2
                flow = ("bind", ident(event["bind_id"]))
                self.points.append((flow, ps(event["ts"]), phase, *row, text(event, "cat") or "flow"))

    def async_track(self, pid, cat, name):
        names = self.async_names[pid]
        if (cat, name) not in names and len(names) >= MAX_ASYNC_NAMES:
            name = ""
        names.add((cat, name))
        return f"{pid}|" + (" · ".join(part for part in (name, cat) if part) or "Unnamed")


def read(events):
    trace, threads, asyncs, open_async = Trace(), defaultdict(list), defaultdict(list), defaultdict(list)
    for event in events:
        if not isinstance(event, dict) or event.get("ph") in (None, "M") or ps(event.get("ts")) is None:
            continue
        ph, ts, pid = str(event["ph"]), ps(event["ts"]), ident(event.get("pid"))
        thread = f"{pid}/{ident(event.get('tid'))}"
        cat, name = text(event, "cat"), text(event, "name")
        local = event.get("id2") if isinstance(event.get("id2"), dict) else {}
        own_id = local.get("local", local.get("global", event.get("id")))
        id_key = (text(event, "scope"), ident(own_id), pid if "local" in local else "")
        if ph == "X":
            dur = ps(event.get("dur"))
            is_negative = dur is not None and dur < 0
            end = None if dur is None else ts if is_negative else ts + dur
            trace.ride(trace.row(thread, ts, end, is_negative), event)
        elif ph in "BE":
            threads[thread].append((ts, ph == "E", thread, event))
            trace.reach(thread, ts)
        elif ph in "stf":
            bind = "next" if ph == "f" and event.get("bp") != "e" else "enclosing"
            trace.points.append(((cat, name, id_key), ts, "stf".index(ph), thread, bind, name or cat))
        elif ph in "beSF":
            is_end, is_old = ph in "eF", ph in "SF"
            key = (is_old, cat, id_key) + ((name,) if is_old or own_id is None else ())
            # A slice within another one stands on the outer one's track.
            begun = open_async[key]
            track = begun[0][1] if begun else trace.async_track(pid, cat, name)
            if not is_end:
                begun.append((name, track))
            elif name in [one[0] for one in begun]:
                del begun[len(begun) - 1 - [one[0] for one in reversed(begun)].index(name)]
            asyncs[key + (name,)].append((ts, is_end, track, event))
            trace.reach(track, ts)
        elif ph in "nTp":
            is_old = ph != "n"
            key = (is_old, cat, id_key) + ((name,) if is_old or own_id is None else ())
            begun = open_async[key]
            row = trace.row(begun[0][1] if begun else trace.async_track(pid, cat, name), ts, ts, True)
            trace.ride(row, event)
        elif ph == "C":
            for series, value in (event.get("args") or {}).items():
                if isinstance(value, (bool, int, float, Decimal)) or ps(value) is not None:
                    trace.samples[pid, name, "" if own_id is None else str(own_id), series] += 1
        else:
            scope = str(event.get("s", "t")) if ph in "iIR" else "t"
            is_process = scope == "p" or event.get("tid") is None
            track = "Global" if scope == "g" else f"{pid}|Process events" if is_process else thread
            trace.ride(trace.row(track, ts, ts, True), event)
            memory(trace, pid, name, event.get("args") or {})
    pair(trace, threads, asyncs)
    return trace


def memory(trace, pid, name, args):
    """PyTorch's memory instants are counters too."""
    if name != "[memory]" or "Device Type" not in args:
        return
    kind = {0: "CPU", 1: "GPU", 6: "GPU", 19: "MTIA"}[args["Device Type"]]
    device = kind if kind == "CPU" else f"{kind} {args['Device Id']}"
    if "Total Allocated" in args:
        trace.samples[pid, "memory", device, ""] += 1
    elif "Bytes" in args:
        trace.samples[pid, "memory since start", device, ""] += 1


def ended(open_begins, name, is_async):
    """The place of the begin that an end of this name ends: the innermost of that name, else the innermost without one.

    An end without a name ends the innermost one. Asynchronous begins are grouped by name already.
    """
    backwards = range(len(open_begins) - 1, -1, -1)
    named = [at for at in backwards if is_async or not name or text(open_begins[at][3], "name") == name]
    unnamed = [at for at in backwards if not text(open_begins[at][3], "name")]
    return next(iter(named + unnamed), None)


def pair(trace, threads, asyncs):
    """Begins with ends, the innermost first, in the order of time."""
    groups = [(events, False) for events in threads.values()] + [(events, True) for events in asyncs.values()]
    for events, ends_first in groups:
        open_begins = []
        for event in sorted(events, key=lambda event: event[: 2 if ends_first else 1]):
            time, is_end, track, said = event
            if not is_end:
                open_begins.append(event)
            elif (at := ended(open_begins, text(said, "name"), ends_first)) is not None:
                start, _, track, begun = open_begins.pop(at)
                trace.ride(trace.row(track, start, time), begun, said)
            else:
                trace.ride(trace.row(track, time, time, True), said)
        for start, _, track, begun in open_begins:
            trace.ride(trace.row(track, start, None), begun)


def arrows(trace):
    """The number of arrows, and of points without a slice, a beginning or an end."""
    rows = {
        track: sorted((start, -(end - start), at) for at, (start, end, _) in enumerate(rows))
        for track, rows in trace.rows.items()
    }
    places = {track: {row[2]: place for place, row in enumerate(of)} for track, of in rows.items()}
    flows = defaultdict(list)
    for flow, time, phase, track, bind, name in trace.points:
        at = places[track][bind] if isinstance(bind, int) else bound(rows.get(track, []), time, bind == "next")
        flows[flow].append((time, phase, at, track, name))
    drawn, lost = set(), 0
    for points in flows.values():
        points.sort(key=lambda point: point[:2])
        starts = [point for point in points if point[1] == 0]
        if len(starts) == 1:
            # All points belong to the only start, also those that seem earlier: clocks differ.
            points = starts + [point for point in points if point[1] != 0]
        begin, has_begun, unused = None, False, None
        left_starts, early = [], []
        for _, phase, at, track, name in points:
            if at is None:
                lost += 1
                has_begun |= phase == 0
            elif phase == 0:
                if unused is not None:
                    left_starts.append(unused)
                begin = unused = (track, at)
                has_begun = True
            elif begin is None:
                if has_begun:
                    lost += 1
                else:
                    early.append(((track, at), name))
                begin = (track, at) if phase == 1 else None
            else:
                drawn.add((begin, (track, at), name))
                unused = None
                if phase == 1:
                    begin = (track, at)
        if unused is not None:
            left_starts.append(unused)
        drawn.update((start, row, name) for start, (row, name) in zip(left_starts, early))
        lost += abs(len(left_starts) - len(early))
    return len(drawn), lost


def bound(rows, time, to_next):
    """The slice that a point belongs to: the next that starts, or the innermost around it."""
    if to_next:
        at = bisect_left(rows, (time,))
        return at if at < len(rows) else None
    at = bisect_left(rows, (time + 1,))
    # Slices are nested rarely deeper than this; what is further back ends before.
    return next((back for back in range(at - 1, -1, -1) if rows[back][0] - rows[back][1] >= time), None)


def count(path):
    try:
        trace = read(load(path))
    except ValueError:
        return None
    for track, rows in trace.rows.items():
        # Without an end a slice reaches the last moment of its track.
        rows[:] = [(start, trace.last[track] if end is None else end, instant) for start, end, instant in rows]
    tracks = defaultdict(lambda: [0, 0, 0, 0])
    for track, rows in trace.rows.items():
        for start, end, is_instant in rows:
            tracks[track][INSTANTS if is_instant else SLICES] += 1
            tracks[track][TOTAL_PS] += end - start
    for (pid, name, own_id, series), samples in trace.samples.items():
        siblings = [other for other in trace.samples if other[:3] == (pid, name, own_id)]
        shown = name + (f" [{own_id}]" if own_id else "") + (f" · {series}" if len(siblings) > 1 and series else "")
        tracks[f"{pid}|{shown}"][SAMPLES] += samples
    drawn, lost = arrows(trace)
    return {"tracks": tracks, "arrows": drawn, "lost": lost}


for argument in sys.argv[1:]:
    print(json.dumps(count(argument)))
