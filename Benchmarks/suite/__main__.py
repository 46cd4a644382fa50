"""Measures imgflow beside other tools: tools/bench [--quick] [--write] [--list COUNT] [NAME…]; see `--help`."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import traceback

import chart
import corpus as files
import counts  # noqa: F401, registers its part
import growth
import page
import parts
from servers import HERE, Nginx
from tools import Tools
from workloads import WORKLOADS

ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs/performance.md")


class Bench:
    """What all workloads share: a folder in memory, the files, the server, the tools."""

    def __init__(self, work, quick, addresses=None):
        self.work = work
        self.quick = quick
        # How long the long list is, where somebody said so.
        self.addresses = addresses
        self.rounds = 2 if quick else 3
        self.served = os.path.join(work, "served")
        os.mkdir(self.served)
        os.mkdir(os.path.join(work, "server"))
        self.nginx = Nginx(os.path.join(work, "server"), self.served)
        self.tools = Tools(ROOT, work)
        self.made = {}

    def corpus(self, name, make):
        """Files below a folder of the server, made when they are first asked for."""
        if name not in self.made:
            self.made[name] = make(os.path.join(self.served, name))
        return self.made[name]

    def photographs(self, count):
        scratch = os.path.join(self.work, "photos")
        os.makedirs(scratch, exist_ok=True)
        shutil.rmtree(os.path.join(self.served, "photos"), ignore_errors=True)
        return files.photographs(os.path.join(self.served, "photos"), count, scratch)

    def mean(self, them, name):
        sizes = [os.path.getsize(os.path.join(self.served, name, one)) for one in them.names[:20]]
        return sum(sizes) // len(sizes)

    def sweep(self):
        """Removes what the contestants of a workload have left."""
        for name in os.listdir(self.work):
            if name not in ("served", "server", "photos", "took"):
                shutil.rmtree(os.path.join(self.work, name), ignore_errors=True)

    def close(self):
        self.nginx.close()


def main():
    names = [*WORKLOADS, *parts.PARTS, "growth", "memory"]
    parser = argparse.ArgumentParser(
        prog="tools/bench", description="Measures imgflow beside other tools, on this machine alone.",
        epilog="names: " + " ".join(names))
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; all unless named")
    parser.add_argument("--quick", action="store_true", help="fewer files and rounds: under five minutes")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md; with names, only their sections of it")
    parser.add_argument("--list", type=int, metavar="COUNT", dest="addresses",
                        help="how many addresses the list of `list` has (1000000, quick: 100000)")
    asked = parser.parse_args()
    if asked.addresses is not None and asked.addresses < 20:
        parser.error("--list: of fewer than 20 addresses no 20 can be kept")
    for name in asked.names:
        if name not in names:
            parser.error(f"there is no `{name}`; there are: {' '.join(names)}")
    wanted = [name for name in names if not asked.names or name in asked.names]
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    work = tempfile.mkdtemp(prefix="imgflow-bench-", dir=where)
    os.environ["IMGFLOW_BENCH_WORK"] = work
    # Whoever ends it ends what it has started too, and leaves nothing in memory.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = None
    try:
        bench = Bench(work, asked.quick, asked.addresses)
        if "thumbnails" in wanted and not asked.quick or "photos" in wanted and not asked.quick:
            bench.tools.install_img2dataset()
        return measure(bench, wanted, asked.write, is_whole=not asked.names)
    finally:
        if bench:
            bench.close()
        shutil.rmtree(work, ignore_errors=True)


def measure(bench, wanted, write, is_whole):
    found = page.Found()
    earlier = ""
    if write and not is_whole:
        with open(PAGE) as file:
            earlier = file.read()
    print(f"machine: {page.machine()}", flush=True)
    for name in wanted:
        print(f"== {name}", flush=True)
        try:
            measure_one(bench, name, found)
        except Exception:  # one thing that cannot be measured here does not cost the others
            traceback.print_exc()
            found.broken.append(name)
        bench.sweep()
        if write and (is_whole or not found.broken):
            # Each time anew, so that who stops it half-way has what was measured until then.
            text = page.render(bench, found)
            keep(text if is_whole else page.merge(earlier, text, wanted), found.curves, found.memory, is_whole)
    return 1 if found.broken else 0


def measure_one(bench, name, found):
    if name in WORKLOADS:
        found.results[name] = result = WORKLOADS[name](bench)
        print("\n".join([result.title, *page.table_of(result), *page.goals_of(result), *result.notes]), flush=True)
    elif name == "growth":
        found.curves = growth.curves(bench)
        for what, points, cost, most in found.curves:
            print(f"{what}: {cost}; {points}; at most {most / 1e6:.0f} MB", flush=True)
    elif name == "memory":
        found.memory = growth.memory_over_time(bench)
        print(found.memory[1], flush=True)
    else:
        found.parts[name] = parts.PARTS[name](bench)
        print(found.parts[name], flush=True)


def keep(text, curves, memory, is_whole):
    pictures = os.path.join(ROOT, "docs/performance")
    if is_whole:
        shutil.rmtree(pictures, ignore_errors=True)
    os.makedirs(pictures, exist_ok=True)

    def write(path, content):
        with open(path, "w") as file:
            file.write(content)

    for what, points, _, _ in curves:
        write(f"{pictures}/{page.slug(what)}.svg", chart.lines(f"CPU by {what}", points, page.slug(what), "seconds"))
    if memory:
        write(f"{pictures}/memory.svg", chart.lines("Memory of a long run", memory[0], "seconds", "MB", dots=False))
    write(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
