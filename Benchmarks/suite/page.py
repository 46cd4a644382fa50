"""docs/performance.md, written from what was measured."""

import dataclasses
import datetime
import hashlib
import os
import platform
import re
import time

from tools import FLOOR, IMGFLOW


def machine():
    name = "an unnamed processor"
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) // 1_000_000
    return f"{os.cpu_count()} cores ({name}), {memory} GB, Linux {platform.release()}"


def hashing():
    """How fast a core digests here: a good part of what small files cost, and most of what large ones do."""
    with open("/proc/cpuinfo") as file:
        words = set(file.read().split())
    own = "with" if words & {"sha_ni", "sha2"} else "without"
    piece, count = bytes(1 << 20), 64
    best = float("inf")
    for _ in range(3):
        digest = hashlib.sha256()
        start = time.monotonic()
        for _ in range(count):
            digest.update(piece)
        best = min(best, time.monotonic() - start)
    return f"{count * len(piece) / best / 1e6:.0f} MB/s a core, {own} instructions of the processor's own for it"


def time_of(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


def memory_of(count):
    return f"{count / 1e6:.0f} MB"


def table_of(result):
    """The rows of a workload as a Markdown table."""
    if result.table:
        head, rows = result.table
        return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]
    lines = ["| tool | median | slowest against fastest | CPU | memory | imgflow's speed against it | files |",
             "|---|---|---|---|---|---|---|"]
    mine = next((row for row in result.rows if row.name == IMGFLOW), None)
    for row in result.rows:
        ratio = f"{row.seconds / mine.seconds:.2f}" if mine and row is not mine else ""
        spread = f"±{row.spread * 50:.0f} %" if len(row.costs) > 1 else "one run"
        lines.append(
            f"| {row.name} | {time_of(row.seconds)} | {spread} | {time_of(row.cpu)} | {memory_of(row.memory)} | {ratio} | "
            f"{row.wrong or 'right'} |")
    return lines


def goals_of(result):
    """A line for each ratio that is to be reached: whether it is."""
    mine = next((row for row in result.rows if row.name == IMGFLOW), None)
    lines = []
    for other, least in result.goals:
        row = next((row for row in result.rows if row.name == other), None)
        if not mine or not row or row.costs[-1].code == 127:
            lines.append(f"- against {other}: not measured here; to reach: {least:g}")
            continue
        ratio = row.seconds / mine.seconds
        told = "reached" if ratio >= least else "**not reached**"
        lines.append(f"- against {other}: {ratio:.2f} times as fast; to reach: {least:g}; {told}")
    return lines


GOAL = re.compile(
    r"- against (?P<other>.+): (?P<ratio>[\d.]+) times as fast; to reach: (?P<least>[\d.]+); (?P<told>[a-z* ]+)$")
ROW = re.compile(r"\| (?P<name>[^|]+) \| (?P<time>[\d.]+) (?P<unit>ms|s) \|")
SUMMARY = "What is reached"


def summary_of(sections):
    """All ratios that are to be reached, as one table, from the sections' own lines."""
    rows = []
    for title, text in sections.items():
        times = {row["name"]: float(row["time"]) / (1000 if row["unit"] == "ms" else 1)
                 for row in map(ROW.match, text.splitlines()) if row}
        for goal in filter(None, map(GOAL.match, text.splitlines())):
            beside = f"{times[goal['other']] / times[FLOOR]:.2f}" if FLOOR in times and goal["other"] in times else ""
            rows.append(f"| {title} | {goal['other']} | {goal['ratio']} | {goal['least']} | {beside} | {goal['told']} |")
    if not rows:
        return {}
    lines = [
        f"## {SUMMARY}", "",
        "How many times as fast as other tools imgflow is, and is to be; beside it what the floor is, which does the least "
        "that can be done. Where that is little more than what is to be reached, or less, there is no room for a tool.", "",
        "| workload | against | times as fast | to reach | the floor | |", "|---|---|---|---|---|---|", *rows]
    return {SUMMARY: "\n".join(lines) + "\n\n"}


BROKEN = "Could not be measured here:"


@dataclasses.dataclass
class Found:
    """All that was measured."""

    results: dict = dataclasses.field(default_factory=dict)
    parts: dict = dataclasses.field(default_factory=dict)
    # (what grows, points, words, the most memory)
    curves: list = dataclasses.field(default_factory=list)
    # The points, and words.
    memory: tuple = None
    broken: list = dataclasses.field(default_factory=list)


def render(bench, found):
    results, parts, curves, memory = found.results, found.parts, found.curves, found.memory
    lines = [
        "# Performance", "",
        "Written by `make bench`; nothing here is written by hand. Each workload has every tool fetch the same files from the "
        "same server on the same machine, in turn (A B C, A B C, …), with files and results in memory; after each run all "
        "files are compared with what was served, by SHA-256. Times are medians from the start of the process to its end; "
        "CPU is the tool's own, without the server's. A workload that another tool wins is shown like the others.", "",
        "imgflow does all that it does by default in each of them: a SHA-256 of every byte, a journal from which a killed run "
        "goes on, every event to a file (three an item), files published whole or not at all (`state.durability: process`). The others "
        "do less: what they report and check is in their name, or they do not.", "",
        "*The floor* is no tool: some hundred and fifty lines of C around libcurl, in two threads, that do nothing but what "
        "such files cannot be had without: receive, digest, write, rename, and a line an item (`Benchmarks/suite/floor.c`). "
        "Where nothing is tuned it asks for 256 at once from its first moment, however its host takes that. "
        "It has no journal, no second try, no limits and no manifest. Of a second run it is another program in one thread, which "
        "has a journal in SQLite and no libcurl: it looks each address up, compares the length, times and inode of its file, "
        "writes a line an item, and marks all of them as seen in one transaction (`Benchmarks/suite/floor_again.c`). "
        "What imgflow takes beyond the floor is imgflow's own. Where the processor has no instructions for SHA-256, imgflow "
        "makes the digests of several files at once and the floor does not, so that imgflow can be the faster of the two.", "",
        f"- Date: {datetime.date.today().isoformat()}{', in short form (`QUICK=1`)' if bench.quick else ''}",
        f"- Machine: {machine()}; the server runs on it too",
        f"- SHA-256: {hashing()}",
        f"- Rounds: {bench.rounds}", *(f"- {name}: {told}" for name, told in bench.tools.versions().items()), ""]
    if found.broken:
        lines += [f"{BROKEN} {', '.join(found.broken)}.", ""]
    for name, result in results.items():
        lines += [f"## {result.title}", "", *table_of(result), ""]
        below = [*goals_of(result), *(f"- {note}" for note in result.notes)]
        lines += [*below, ""] if below else []
        lines += [f"<sub>`tools/bench {result.options}{name}`</sub>", ""]
    if curves:
        lines += ["## Growth", "",
                  "CPU of whole runs without transfers: items through stages that compute a value, with the journal. A straight "
                  "line is what one wants to see.", ""]
        for what, points, told, memory_most in curves:
            lines += [f"![{what}](performance/{slug(what)}.svg)", "",
                      f"- {what}: {told}; " + ", ".join(f"{x:,}: {y:.2f} s" for x, y in points)
                      + f"; at most {memory_most / 1e6:.0f} MB", ""]
    if memory:
        lines += ["## Memory over a long run", "", "![memory](performance/memory.svg)", "", memory[1], ""]
    if parts:
        lines += [f"## {PARTS}", "", "What single parts cost, measured by the programs in `Benchmarks/`.", ""]
        for name, told in parts.items():
            lines += [f"### {name}", "", "```text", told.rstrip(), "```", ""]
    return summarized(*split("\n".join(lines)))


def summarized(head, sections):
    """The page, with the table of what is reached before its sections."""
    rest = {title: text for title, text in sections.items() if title != SUMMARY}
    return head.rstrip() + "\n\n" + "".join({**summary_of(rest), **rest}.values()).rstrip() + "\n"


def slug(what):
    return what.split(" ")[0]


LATER = "- Measured later than the rest:"
PARTS = "Parts"


def merge(old, new, measured):
    """An earlier page with the sections that were measured anew in place of its own; it says which those are."""
    head, sections = split(old)
    words, fresh = split(new)
    # What is said of all of it is said as it is today; the date and the versions are those of the whole.
    facts = "\n- Date:"
    if facts in head and facts in words:
        head = words[:words.index(facts)] + head[head.index(facts):]
    for title, text in fresh.items():
        if title == SUMMARY:
            continue
        if title == PARTS and title in sections:
            # A section of sections: those that were not measured stay.
            above, parts = split(sections[title], "### ")
            text = above + "\n\n" + "".join({**parts, **split(text, "### ")[1]}.values())
        if title in sections:
            sections[title] = text
            continue
        # Before what is no comparison with other tools.
        titles = list(sections)
        place = titles.index("Growth") if "Growth" in titles else len(titles)
        sections = dict([*list(sections.items())[:place], (title, text), *list(sections.items())[place:]])
    lines = []
    later = []
    for line in head.splitlines():
        if line.startswith(BROKEN):
            left = [name for name in line[len(BROKEN):].strip(". ").split(", ") if name not in measured]
            line = f"{BROKEN} {', '.join(left)}." if left else None
        elif line.startswith(LATER):
            later = line[len(LATER):].strip().split(", ")
            line = None
        if line is not None:
            lines.append(line)
    names = [*later, *(name for name in measured if name not in later)]
    if names:
        place = max([place + 1 for place, line in enumerate(lines) if line.startswith("- ")], default=len(lines))
        lines.insert(place, f"{LATER} {', '.join(names)}")
    return summarized("\n".join(lines), sections)


def split(text, mark="## "):
    """What stands above the first section, and the sections by their titles."""
    head, *rest = ("\n" + text).split("\n" + mark)
    return head.strip("\n"), {one.split("\n", 1)[0]: mark + one.rstrip("\n") + "\n\n" for one in rest}
