"""What single parts cost: the Swift programs beside this folder, and a few comparisons of imgflow with itself."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import corpus as files
from measure import run

PARTS = {}


def part(name):
    def keep(function):
        PARTS[name] = function
        return function

    return keep


def program(bench, name, *words, **environment):
    """What a program of Benchmarks/ prints."""
    path = os.path.join(os.path.dirname(bench.tools.imgflow), name)
    if not os.path.exists(path):
        return f"   {name} is not built beside {bench.tools.imgflow}\n"
    done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, env={**os.environ, **environment})
    return done.stdout + (done.stderr if done.returncode else "")


@part("graph-bench")
def graph(bench):
    return program(bench, "graph-bench")


@part("event-bench")
def events(bench):
    return program(bench, "event-bench")


@part("expression-bench")
def expressions(bench):
    return program(bench, "expression-bench")


ECHO = "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stdout.flush()"


@part("plugin-bench")
def plugins(bench):
    """Scripts and plugins that do nothing, beside lines that go through a bare pipe and back."""
    told = program(bench, "plugin-bench", 5000 if bench.quick else 20000)
    echoes = [echo(5000 if bench.quick else 20000) for _ in range(3)]
    told += "".join(f"   a bare echo of lines through pipes, window 32: {each:.2f} µs each\n" for each in echoes)
    # On a machine that others use too, the best of each says most of what the programs cost.
    mine = [float(line.split("items, ")[1].split(" µs")[0]) for line in told.splitlines() if "python, window" in line]
    if mine:
        told += (f"   the best of each: {min(mine):.1f} µs beside {min(echoes):.1f} µs, ratio {min(mine) / min(echoes):.2f}"
                 "; to stay at 40 µs and a ratio of 3 at most\n")
    return told + plugin_in_runs(bench, 5000 if bench.quick else 20000)


def echo(count, window=32):
    """Microseconds for a line that a Python program gives back as it is."""
    child = subprocess.Popen([sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    line = (b'{"t":"item","id":1,"key":"a1","item":{"url":"https://example.com/photos/a1.jpg","name":"a1.jpg","stem":"a1",'
            b'"ext":"jpg","host":"example.com","index":7,"source":"urls","status":200,"bytes":48211}}\n')
    under_way = 0
    begin = time.monotonic()
    for _ in range(count):
        if under_way == window:
            child.stdout.readline()
            under_way -= 1
        child.stdin.write(line)
        child.stdin.flush()
        under_way += 1
    for _ in range(under_way):
        child.stdout.readline()
    each = (time.monotonic() - begin) / count * 1e6
    child.stdin.close()
    child.wait()
    return each


def plugin_in_runs(bench, count):
    """Whole runs over a table's rows, with a plugin that does nothing and without it."""
    folder, _ = bench.tools.folder("plugin")
    subprocess.run([bench.tools.imgflow, "plugin", "new", "--lang", "python", "bench.nothing"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    with open(folder + "/bench.nothing/plugin.yaml", "w") as file:
        file.write("imgflow_plugin: 1\nname: bench.nothing\nversion: 1.0.0\nrun: [python3, main.py]\n"
                   "limits: { window: 32 }\nops: { bench.nothing: { kind: stage } }\n")
    with open(folder + "/bench.nothing/main.py", "w") as file:
        file.write("from imgflow_plugin import serve\nserve(lambda item, init: None)\n")
    with open(folder + "/rows.csv", "w") as file:
        file.write("id,url\n" + "".join(f"{number},https://example.com/{number}\n" for number in range(count)))
    costs = {}
    for name, stages in [("without", ""), ("with", ", bench.nothing")]:
        with open(f"{folder}/{name}.yaml", "w") as file:
            file.write("imgflow: 1\nplugins: [./bench.nothing]\n"
                       "sources: [{ file: { path: rows.csv, key: \"${row.id}\" } }]\n"
                       f"stages: [{{ set: {{ n: \"${{row.id}}\" }} }}{stages}]\nstate: {{ durability: process }}\n")
    for _ in range(3):
        for name in ["without", "with"]:
            subprocess.run(["rm", "-rf", folder + "/.imgflow", folder + "/state"], check=True)
            cost = run([bench.tools.imgflow, "run", f"{name}.yaml", "--state", folder + "/state", "--events", "none",
                        "--progress", "none"], folder)
            if cost.code:
                return f"   the run {name} the plugin ended with {cost.code}\n"
            costs.setdefault(name, []).append(cost.seconds)
    with_it, without = (min(costs[name]) / count * 1e6 for name in ["with", "without"])
    return (f"   whole runs of {count:,} items: {with_it:.1f} µs an item with the plugin, {without:.1f} µs without, "
            f"{with_it - without:.1f} µs more\n")


@part("plugin-at-work")
def plugin_at_work(bench):
    """What a plugin that computes does to the downloads before it: the time until the last of them has ended."""
    folder, _ = bench.tools.folder("busy")
    subprocess.run([bench.tools.imgflow, "plugin", "new", "--lang", "python", "bench.busy"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    with open(folder + "/bench.busy/main.py", "w") as file:
        file.write("import time\nfrom imgflow_plugin import serve\n\n\ndef work(item, init):\n"
                   "    end = time.process_time() + 0.1\n    while time.process_time() < end:\n        pass\n\n\n"
                   "serve(work)\n")
    # The server lets a second's worth through at once, so that only files longer than that are slow.
    slow = bench.corpus("slower", lambda path: files.noise(path, "v", 24, 512 << 10))
    address = f"http://127.0.0.1:{bench.nginx.http}/slow/slower"
    plugins = f"plugins: [\"{folder}/bench.busy\"]\n"
    pair = [bench.tools.flow(slow, address, wide=8, stages=stages, more=plugins)
            for stages in ["fetch, bench.busy", "fetch"]]
    times = [[], []]
    for _ in range(bench.rounds if bench.quick else bench.rounds + 2):
        for one, seen in zip(pair, times):
            one.before()
            run(one.words, bench.work)
            with open(one.words[one.words.index("--events") + 1]) as file:
                told = [json.loads(line) for line in file if '"type":"stage.end"' in line]
            fetched = next((end for end in told if end["data"]["stage"] == "fetch"), None)
            if not fetched or fetched["data"]["ok"] != 24:
                return f"   not everything was fetched: {told}\n"
            seen.append(fetched["ms"])
    a, b = statistics.median(times[0]), statistics.median(times[1])
    return (f"   24 files of 512 KiB at 256 kB/s each, eight at once: {a:.0f} ms with a plugin that computes for 100 ms an "
            f"item, {b:.0f} ms without, ratio {a / max(b, 1):.2f}\n")


@part("store-bench")
def store(bench):
    """The journal, in memory and on this machine's disk, by durability."""
    told = ""
    with tempfile.TemporaryDirectory(prefix="imgflow-bench-", dir=os.environ.get("BENCH_DISK", "/var/tmp")) as disk:
        for place, folder in [("memory", bench.work), ("disk", disk)]:
            for durability in ["process", "batch", "full"]:
                with tempfile.TemporaryDirectory(dir=folder) as path:
                    told += f"{place}, durability: {durability}\n"
                    told += program(bench, "store-bench", 2000 if bench.quick else 20000, path, durability)
    return told


@part("transfer-bench")
def transfers(bench):
    """The engine alone."""
    bench.corpus("one", lambda path: files.noise(path, "o", 1, 4096))
    address = f"http://127.0.0.1:{bench.nginx.http}/one/o000000.bin"
    return program(bench, "transfer-bench", address, 4000 if bench.quick else 20000, 64)


@part("picture-bench")
def pictures(bench):
    """Pictures alone, decoded in this process and in workers of their own."""
    if not bench.tools.vipsthumbnail:
        return "vips is missing here\n"
    them = bench.photographs(100 if bench.quick else 400)
    paths = [os.path.join(bench.served, "photos", name) for name in them.names]
    return "".join(
        f"   {where}: " + program(
            bench, "picture-bench", where, os.cpu_count(), 256, 90, 1, *paths, IMGFLOW_BINARY=bench.tools.imgflow)
        for where in ["in", "apart"])


@part("validate")
def validate(bench):
    """A manifest of sixty lines is looked at, beside `curl --version`."""
    folder, _ = bench.tools.folder("validate")
    with open(folder + "/sixty.yaml", "w") as file:
        file.write("imgflow: 1\nsources:\n  - urls:\n")
        file.writelines(f"      - https://example.com/{number}.png\n" for number in range(45))
        file.write("stages:\n  - fetch: { accept: image/* }\n    concurrency: 7\n    timeout: 30s\n"
                   "  - filter: item.bytes > 100\n  - set: { kind: \"${item.media}\" }\n  - store: \"${item.name}\"\n"
                   "  - report: { path: index.csv, columns: [key, url, sha256] }\n")
    mine, other = [], []
    for _ in range(21):
        mine.append(run([bench.tools.imgflow, "validate", folder + "/sixty.yaml"], folder).seconds)
        other.append(run([*(bench.tools.curl or ["true"]), "--version"], folder).seconds)
    if not bench.tools.curl:
        return f"   imgflow validate: {statistics.median(mine) * 1000:.1f} ms; curl is missing here\n"
    a, b = statistics.median(mine), statistics.median(other)
    return f"   imgflow validate: {a * 1000:.1f} ms; curl --version: {b * 1000:.1f} ms; ratio {a / b:.2f}\n"


@part("webhook")
def webhook(bench):
    """What a webhook that takes everything costs the downloads: the time until the last item has ended."""
    slow = bench.corpus("slow", lambda path: files.noise(path, "w", 18 if bench.quick else 60, 524288))
    fast = bench.corpus("fast", lambda path: files.noise(path, "q", 2000 if bench.quick else 5000, 4096))
    base = f"http://127.0.0.1:{bench.nginx.http}"
    hook = f"sinks: [{{ webhook: {{ url: \"{base}/hook\" }} }}]\n"
    told = ""
    for what, them, address in [(f"{len(slow.digests)} files of 512 KiB at 256 kB/s each", slow, f"{base}/slow/slow"),
                                (f"{len(fast.digests):,} files of 4 KiB from memory", fast, f"{base}/fast")]:
        pair = [bench.tools.flow(them, address, more=more) for more in [hook, ""]]
        times = [[], []]
        for _ in range(bench.rounds if bench.quick else bench.rounds + 2):
            for one, seen in zip(pair, times):
                one.before()
                run(one.words, bench.work)
                events = one.words[one.words.index("--events") + 1]
                with open(events) as file:
                    seen.append(max((json.loads(line)["ms"] for line in file if '"type":"item.end"' in line), default=0))
        a, b = statistics.median(times[0]), statistics.median(times[1])
        told += f"   {what}: {a:.0f} ms with it, {b:.0f} ms without, ratio {a / max(b, 1):.2f}\n"
    return told
