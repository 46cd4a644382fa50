"""Running programs and saying what they took: wall clock, CPU of the program and its children, memory."""

import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time


@dataclasses.dataclass
class Cost:
    """What one start of a program took."""

    seconds: float
    cpu: float
    # Resident at most, in bytes: of the largest process, or of all together where they were looked at.
    memory: int
    # Of a program that was stopped: 124.
    code: int
    # (seconds since the start, resident bytes), where they were asked for.
    samples: list = dataclasses.field(default_factory=list)


def resident(session):
    """The resident bytes of all processes of a session."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                words = file.read().rsplit(b")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(words[3]) == session:
            total += int(words[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


def run(words, folder, limit=900, every=None):
    """Runs a program to its end and says what it took; killed with all its children after `limit` seconds."""
    begin = time.monotonic()
    told, tells = os.pipe()
    process = subprocess.Popen(
        [took(), str(tells), *words], cwd=folder, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, pass_fds=[tells])
    os.close(tells)
    samples = []
    ended = threading.Event()

    def look():
        while not ended.wait(every):
            samples.append((time.monotonic() - begin, resident(process.pid)))

    def stop():
        if not ended.wait(limit):
            # Which kills the program and all of its group, and still says what it took.
            process.terminate()

    threads = [threading.Thread(target=stop, daemon=True)]
    if every:
        threads.append(threading.Thread(target=look, daemon=True))
    for thread in threads:
        thread.start()
    try:
        process.wait()
    except BaseException:
        # In a session of its own it would outlive us, and write on while its folder is removed.
        process.terminate()
        process.wait()
        raise
    seconds = time.monotonic() - begin
    ended.set()
    for thread in threads:
        thread.join()
    with os.fdopen(told) as file:
        words = file.read().split()
    most = max([size for _, size in samples], default=0)
    if len(words) != 4:
        return Cost(seconds, 0, most, 124, samples)
    return Cost(float(words[0]), float(words[1]), max(int(words[2]), most), int(words[3]), samples)


def took():
    """The program that measures, compiled when it is first asked for."""
    program = build("took")
    if not program:
        raise RuntimeError("without a compiler nothing can be measured")
    return program


def build(name, *libraries):
    """One of the suite's own C programs, compiled when it is first asked for; nothing where that fails."""
    path = os.path.join(os.environ["IMGFLOW_BENCH_WORK"], name)
    if not compiler():
        return None
    if not os.path.exists(path):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".c")
        made = subprocess.run([compiler(), "-O2", "-o", path, source, *libraries], stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            print(f"{name}.c cannot be compiled here: {made.stderr}", file=sys.stderr)
            return None
    return path


def compiler():
    return next(filter(None, map(shutil.which, ["cc", "clang", "gcc"])), None)


class Row:
    """One tool in one workload: its costs over the rounds, and what was wrong with what it made."""

    def __init__(self, name, note=""):
        self.name = name
        self.note = note
        self.costs = []
        self.wrong = None

    @property
    def seconds(self):
        return statistics.median(cost.seconds for cost in self.costs)

    @property
    def cpu(self):
        return statistics.median(cost.cpu for cost in self.costs)

    @property
    def memory(self):
        return max(cost.memory for cost in self.costs)

    @property
    def spread(self):
        """How far the slowest round is from the fastest, as a part of the median."""
        times = [cost.seconds for cost in self.costs]
        return (max(times) - min(times)) / self.seconds


@dataclasses.dataclass
class Contestant:
    """A tool in a workload: what to run, what to do before each round, and how to see that its files are right."""

    name: str
    words: list
    before: object = None
    # Returns what is wrong, or nothing.
    check: object = None
    note: str = ""
    every: float = None
    limit: int = 900


def in_turn(contestants, rounds, folder):
    """Runs all tools in turn, round after round, so that what drifts drifts for all."""
    rows = [Row(one.name, one.note) for one in contestants]
    for _ in range(rounds):
        for one, row in zip(contestants, rows):
            if one.before:
                one.before()
            cost = run(one.words, folder, one.limit, one.every)
            row.costs.append(cost)
            wrong = one.check(cost) if one.check else None
            row.wrong = row.wrong or wrong
    return rows
