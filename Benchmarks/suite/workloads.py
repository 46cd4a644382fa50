"""What is measured: each workload's contestants, and the ratios that imgflow is to reach."""

import dataclasses
import json
import os
import shlex
import subprocess
import sys
import tempfile
import urllib.request

import corpus as files
import quality
from corpus import empty
from measure import Contestant, in_turn, run
from servers import HERE, free_port, wait_for
from tools import ARIA2, CURL, CURL_JSON, FLOOR, IMG2DATASET, IMGFLOW, WGET2, pictures_in


@dataclasses.dataclass
class Result:
    """What a workload came to."""

    title: str
    rows: list
    # (the other tool, how many times as fast as it imgflow is to be)
    goals: list
    notes: list = dataclasses.field(default_factory=list)
    # Where a table says more than times: its head and rows.
    table: tuple = None
    # What it was asked for with, a space behind it.
    options: str = ""


WORKLOADS = {}


def workload(name):
    def keep(function):
        WORKLOADS[name] = function
        return function

    return keep


def small(bench):
    return bench.corpus("small", lambda path: files.noise(path, "s", 4000 if bench.quick else 20000, 4096))


@workload("small-http")
def small_http(bench):
    """Small files over http."""
    them = small(bench)
    contestants = bench.tools.lists(them, f"http://127.0.0.1:{bench.nginx.http}/small")
    return Result(
        f"{len(them.digests):,} files of 4 KiB, http, 64 connections", in_turn(contestants, bench.rounds, bench.work),
        [(CURL, 1.0), (CURL_JSON, 2.0), (ARIA2, 3.3)])


@workload("small-https")
def small_https(bench):
    """The same over TLS."""
    them = small(bench)
    contestants = bench.tools.lists(
        them, f"https://127.0.0.1:{bench.nginx.https}/small", (CURL, ARIA2, WGET2, FLOOR), ca=bench.nginx.ca)
    return Result(
        f"{len(them.digests):,} files of 4 KiB, https, 64 connections", in_turn(contestants, bench.rounds, bench.work),
        [(CURL, 1.0)])


@workload("far-http2")
def far_http2(bench):
    """HTTP/2 with a round trip, nothing tuned."""
    them = small(bench)
    port = bench.nginx.delayed(bench.nginx.http2, 20)
    contestants = bench.tools.lists(
        them, f"https://127.0.0.1:{port}/small", (CURL, WGET2, FLOOR), ca=bench.nginx.ca, wide=None)
    return Result(
        f"{len(them.digests):,} files of 4 KiB, HTTP/2, 20 ms a round trip, nothing tuned",
        in_turn(contestants, bench.rounds, bench.work), [(WGET2, 1.0), (CURL, 4.0)])


@workload("far-http")
def far_http(bench):
    """HTTP with a round trip; concurrency finds its own height."""
    them = small(bench)
    port = bench.nginx.delayed(bench.nginx.http, 20)
    contestants = bench.tools.lists(
        them, f"http://127.0.0.1:{port}/small", (CURL, ARIA2, WGET2, FLOOR), wide=None, hosts="connections: auto")
    return Result(
        f"{len(them.digests):,} files of 4 KiB, http, 20 ms a round trip, only the host's limit lifted",
        in_turn(contestants, bench.rounds, bench.work), [(CURL, 3.5)])


@workload("photos")
def photos(bench):
    """Photographs as they are."""
    them = bench.photographs(400 if bench.quick else 5000)
    names = (CURL, ARIA2, WGET2, FLOOR) + (() if bench.quick else (IMG2DATASET,))
    contestants = bench.tools.lists(them, f"http://127.0.0.1:{bench.nginx.http}/photos", names)
    return Result(
        f"{len(them.digests):,} JPEGs of {bench.mean(them, 'photos') // 1000} kB as they are, http, 64 connections",
        in_turn(contestants, bench.rounds, bench.work), [(CURL, 0.9), (ARIA2, 3.0), (IMG2DATASET, 7.0)])


def large(bench, count, megabytes):
    name = f"large{megabytes}"
    them = bench.corpus(name, lambda path: files.noise(path, "l", count, megabytes << 20, distinct=4))
    contestants = bench.tools.lists(them, f"http://127.0.0.1:{bench.nginx.http}/{name}", (CURL, ARIA2, WGET2, FLOOR))
    return Result(
        f"{count} {'file' if count == 1 else 'files'} of {megabytes} MiB, http",
        in_turn(contestants, bench.rounds, bench.work), [(ARIA2, 2.0), (CURL, 0.9)])


@workload("large")
def large_files(bench):
    """Files of 20 MiB."""
    return large(bench, 10 if bench.quick else 50, 20)


@workload("huge")
def huge_files(bench):
    """Files of 512 MiB; one of 128 MiB in the short form."""
    return large(bench, 1, 128) if bench.quick else large(bench, 4, 512)


@workload("thumbnails")
def thumbnails(bench):
    """Photographs made small on the way."""
    count = 200 if bench.quick else 1000
    them = bench.photographs(count)
    base = f"http://127.0.0.1:{bench.nginx.http}/photos"
    stages = "fetch, { resize: { width: 256, height: 256, format: jpeg, quality: 90 } }, { store: \"${item.stem}.jpg\" }"
    mine = bench.tools.flow(them, base, stages=stages)
    out = os.path.dirname(mine.words[2]) + "/out"
    mine.check = lambda _: pictures_in(out, count)
    mine.every = 0.2
    contestants = [mine]
    dataset = None if bench.quick else bench.tools.dataset(them, base, side=256)
    if dataset:
        contestants.append(dataset)
    if bench.tools.vipsthumbnail and bench.tools.curl:
        curl = bench.tools.curl_list(them, base, None, 64)
        folder = os.path.dirname(curl.words[-1])
        small_ones = folder + "/small"
        script = (f"{shlex.join(curl.words)} && find {folder}/out -name '*.jpg' -print0 | xargs -0 -n 50 -P {os.cpu_count()} "
                  f"vipsthumbnail -s 256 -o '{small_ones}/%s.jpg[Q=90]'")

        def before():
            curl.before()
            empty(small_ones)
            os.mkdir(small_ones)

        contestants.append(Contestant(
            "curl, then vipsthumbnail", ["bash", "-c", script], before, lambda _: pictures_in(small_ones, count), every=0.2))
    rows = in_turn(contestants, bench.rounds, bench.work)
    notes = thumbnail_notes(bench, them, rows, out, dataset)
    return Result(
        f"{count:,} JPEGs of {bench.mean(them, 'photos') // 1000} kB to 256 px, quality 90, end to end",
        rows, [(IMG2DATASET, 2.2), ("curl, then vipsthumbnail", 1.9)], notes)


def thumbnail_notes(bench, them, rows, out, dataset):
    """Memory and quality, where there is img2dataset to compare with."""
    notes = []
    memory = {row.name: row.memory for row in rows}
    if IMG2DATASET in memory:
        notes.append(f"imgflow takes {memory[IMGFLOW] / memory[IMG2DATASET]:.2f} of img2dataset's memory, all processes "
                     "together; to reach: 0.10.")
    if not bench.tools.vipsthumbnail:
        return notes
    originals = os.path.join(bench.served, "photos")
    pairs = [("imgflow", quality.named_by_stem(out, them.names[:20]))]
    if dataset:
        pairs.append(("img2dataset", quality.named_by_facts(dataset.words[dataset.words.index("--output_folder") + 1],
                                                            set(them.names[:20]))))
    for name, made in pairs:
        mean, least = quality.of(made, originals, 256)
        notes.append(f"{name}: {mean:.1f} dB from a full decoding with Lanczos3, the lowest {least:.1f}.")
    return notes


@workload("start")
def start(bench):
    """The start for one small file, with a new journal."""
    them = bench.corpus("one", lambda path: files.noise(path, "o", 1, 4096))
    base = f"http://127.0.0.1:{bench.nginx.http}/one"
    contestants = bench.tools.lists(them, base, (CURL, ARIA2, WGET2, FLOOR))
    result = Result("One file of 4 KiB, from the start of the program to its end",
                    in_turn(contestants, 20, bench.work), [(CURL, 0.5)])
    return result


@workload("again")
def again(bench):
    """A second run where everything is there."""
    them = small(bench)
    base = f"http://127.0.0.1:{bench.nginx.http}/small"
    first = bench.tools.flow(them, base)
    first.before()
    run(first.words, bench.work)
    stat = Contestant(IMGFLOW, first.words, None, first.check, "each file looked at by `stat`")
    digest = Contestant("imgflow, `--check digest`", [*first.words, "--check", "digest"], None, first.check)
    contestants = [stat, digest]
    curl = bench.tools.curl_list(them, base, None, 64)
    if curl and b"--skip-existing" in subprocess.run([*bench.tools.curl, "--help", "all"], capture_output=True).stdout:
        curl.before()
        run(curl.words, bench.work)
        contestants.append(Contestant("curl --skip-existing", [*curl.words, "--skip-existing"], None, curl.check))
    aria2 = bench.tools.aria2_list(them, base, None, 64)
    if aria2:
        run(aria2.words, bench.work)
        contestants.append(Contestant(
            "aria2, checksums", [*aria2.words, "--check-integrity=true", "--allow-overwrite=false",
                                 "--auto-file-renaming=false"], None, aria2.check))
    floor = bench.tools.floor_again(
        ((f"{base}/{name}", name, them.digests[name]) for name in them.names), os.path.dirname(first.words[2]) + "/out")
    if floor:
        contestants.append(floor)
    result = Result(f"A second run of {len(them.digests):,} files that are all there",
                    in_turn(contestants, bench.rounds, bench.work), [("curl --skip-existing", 1.6)])
    times = {row.name: row.seconds for row in result.rows}
    if "aria2, checksums" in times:
        ratio = times["aria2, checksums"] / times["imgflow, `--check digest`"]
        result.notes.append(f"With `--check digest`: {ratio:.1f} times as fast as aria2 with checksums; to reach: 7.")
    if not floor:
        result.notes.append("*The floor* cannot be had here.")
    return result


# How many of the long list's addresses its filter keeps.
KEPT = 20
# Up to so many addresses the list, its events and its journal are kept in memory, a kilobyte an address.
MOST_IN_MEMORY = 1_000_000


@workload("list")
def long_list(bench):
    """A list of a million addresses, or of as many as somebody said."""
    count = bench.addresses or (100_000 if bench.quick else 1_000_000)
    if count <= MOST_IN_MEMORY:
        result = list_of(bench, count, bench.work)
    else:
        # Removed as soon as it is measured, since nobody else sweeps there.
        with tempfile.TemporaryDirectory(prefix="imgflow-bench-", dir=os.environ.get("BENCH_DISK", "/var/tmp")) as disk:
            result = list_of(bench, count, disk)
        result.notes.append("List, events and journal are on this machine's disk: they are too long for its memory.")
    result.options = f"--list {bench.addresses} " if bench.addresses else ""
    return result


def list_of(bench, count, where):
    folder, out = bench.tools.folder("list", where)
    nowhere = free_port()
    with open(folder + "/list.txt", "w") as file:
        file.writelines(f"http://127.0.0.1:{nowhere}/{number}.jpg\n" for number in range(count))
    with open(folder + "/bench.yaml", "w") as file:
        file.write("imgflow: 1\nsources: [{ file: { path: list.txt } }]\n"
                   f"stages: [{{ filter: \"item.index <= {KEPT}\" }}, "
                   "{ write: { path: \"${item.index}.txt\", text: x } }]\n"
                   "state: { durability: process }\n")
    words = [bench.tools.imgflow, "run", folder + "/bench.yaml", "--events", folder + "/events", "--progress", "none"]

    def check(cost):
        if cost.code:
            return f"exit {cost.code}"
        found = len(os.listdir(out)) if os.path.isdir(out) else 0
        return None if found == KEPT else f"{found} files, not {KEPT}"

    mine = Contestant(IMGFLOW, words, lambda: empty(out, folder + "/.imgflow"), check, limit=max(900, count // 2000))
    rows = in_turn([mine], 1, bench.work)
    notes = []
    with open(folder + "/events") as file:
        first = next((json.loads(line) for line in file if '"item.end"' in line), None)
    if first:
        notes.append(f"The first item of the list had ended {first['ms']} ms after the start; to reach: 100.")
    if bench.tools.aria2:
        # It tries them all and is refused, which is quick; its memory is what is looked at.
        deferred = [bench.tools.aria2, "-q", "-i", folder + "/list.txt", "-d", folder + "/aria2", "--deferred-input=true",
                    "-j", "64", "--summary-interval=0", "--max-tries=1"]
        other = Contestant("aria2 --deferred-input", deferred, None, lambda cost: "stopped" if cost.code == 124 else None,
                           every=0.5, limit=20)
        rows += in_turn([other], 1, bench.work)
        notes.append("aria2 is stopped after 20 s at the latest: its memory is what counts here.")
    notes.append("imgflow's memory is to stay below 64 MB, and not to grow with the list.")
    return Result(f"A list of {count:,} addresses of which a filter keeps {KEPT}", rows, [], notes)


@workload("failing")
def failing(bench):
    """Which tool gets everything right when servers fail."""
    count = 2000
    port = free_port()
    server = subprocess.Popen([sys.executable, os.path.join(HERE, "failing.py"), str(port)])
    table = []
    try:
        wait_for(port)
        kinds = ["gone" if number % 20 == 7 else "later" if number % 20 == 13 else "ok" for number in range(count)]
        for number in range(4):
            # Each tool has files of its own, so that what fails once fails once for each.
            table.append(failing_row(bench, number, port, kinds))
    finally:
        server.terminate()
        server.wait()
    head = ("tool", "files right", "asked again after 500", "asked again after 404", "exit code", "failures named")
    return Result("2,000 files of which one in twenty is gone and one in twenty is refused with 500 once", [], [],
                  table=(head, [row for row in table if row]))


def failing_row(bench, number, port, kinds):
    paths = [f"/{kind}/{number}-{index:06d}.bin" for index, kind in enumerate(kinds)]
    there = {os.path.basename(path): path.encode() * 40 for path, kind in zip(paths, kinds) if kind != "gone"}
    folder, out = bench.tools.folder("failing")
    base = f"http://127.0.0.1:{port}"
    with open(folder + "/list", "w") as file:
        if number == 1:
            file.writelines(f"url = \"{base}{path}\"\noutput = \"{out}/{os.path.basename(path)}\"\n" for path in paths)
        else:
            file.writelines(base + path + "\n" for path in paths)
    with open(folder + "/bench.yaml", "w") as file:
        file.write("imgflow: 1\nsources: [{ file: { path: list, format: txt } }]\nstages: [fetch, store]\n"
                   "hosts: { \"127.0.0.1\": { allow: true } }\n")
    tools = bench.tools
    name, words = [
        ("imgflow", [tools.imgflow, "run", folder + "/bench.yaml", "--progress", "none"]),
        ("curl -Z --fail --retry 2", [*(tools.curl or [None]), "-sS", "-Z", "--fail", "--retry", "2", "--create-dirs", "-K", folder + "/list"]),
        ("aria2", [tools.aria2, "-i", folder + "/list", "-d", out, "-j", "16", "--file-allocation=none",
                   "--max-tries=3", "--retry-wait=1", "--console-log-level=error", "--summary-interval=0"]),
        ("wget2 --tries=3", [tools.wget2, "-nv", "-i", folder + "/list", "-P", out, "--tries=3", "--no-robots"]),
    ][number]
    if not words[0]:
        return None
    cost = subprocess.run(["timeout", "120", *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    told = cost.stdout + cost.stderr
    right = 0
    for base_name, body in there.items():
        try:
            with open(os.path.join(out, base_name), "rb") as file:
                right += file.read() == body
        except OSError:
            pass
    wrong = sum(name not in there for _, _, names in os.walk(out) for name in names)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/told") as answer:
        asked = json.load(answer)
    mine = {path: times for path, times in asked.items() if f"/{number}-" in path}
    later = [path for path, kind in zip(paths, kinds) if kind == "later"]
    gone = [path for path, kind in zip(paths, kinds) if kind == "gone"]
    named = sum(path in told or os.path.basename(path) in told for path in gone)
    return (name, f"{right} of {len(there)}" + (f", and {wrong} that are none" if wrong else ""),
            f"{sum(mine.get(path, 0) == 2 for path in later)} of {len(later)} once",
            f"{sum(mine.get(path, 0) > 1 for path in gone)} of {len(gone)}", str(cost.returncode),
            f"{named} of {len(gone)}")
