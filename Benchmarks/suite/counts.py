"""How many instructions an item takes, by thread and by library: counts that do not depend on the machine's load."""

import collections
import glob
import os
import re
import shutil
import subprocess

import corpus as files
from corpus import empty
from parts import part

# A function that only one of imgflow's threads runs, and what is said of that thread.
THREADS = [("7FlowRun0B4LoopC5start", "the run's own"), ("9FlowStore6LedgerC5serve", "the ledger: journal and names"),
           ("12FlowTransfer0B4LoopC3run", "the transfers")]
LIBRARIES = [("libcurl", "libcurl"), ("libsqlite3", "SQLite"), ("libcrypto", "libcrypto"), ("libssl", "libssl"),
             ("libc.so", "the C library"), ("libc-", "the C library"), ("libz", "zlib"), ("ld-linux", "the loader")]


@part("instructions")
def instructions(bench):
    """Small files over http under callgrind: the second thousand of two, so that starting and ending do not count."""
    if not shutil.which("valgrind"):
        return "   valgrind is missing here\n"
    if bench.quick:
        return "   left out in the short form\n"
    few, many = 1000, 3000
    them = {count: bench.corpus(f"counted{count}", lambda path, count=count: files.noise(path, "c", count, 4096))
            for count in (few, many)}
    lean = os.path.join(bench.work, "imgflow-lean")
    # Without the lines of its source, which are not looked at, it is read in a second instead of a minute.
    if not shutil.which("strip") or subprocess.run(["strip", "-g", "-o", lean, bench.tools.imgflow]).returncode:
        shutil.copy(bench.tools.imgflow, lean)
    told = ""
    for name in ["imgflow", "the floor"]:
        counts = {}
        for count, one in them.items():
            base = f"http://127.0.0.1:{bench.nginx.http}/counted{count}"
            flow = bench.tools.flow(one, base) if name == "imgflow" else bench.tools.floor(one, base, None, 64)
            if not flow:
                return told + "   the floor cannot be compiled here\n"
            program = lean if name == "imgflow" else flow.words[0]
            flow.before()
            found = counted([program, *flow.words[1:]], bench.work)
            if found is None:
                return told + f"   {name} cannot be run under callgrind here\n"
            counts[count] = found
        each = {place: (counts[many][place] - counts[few][place]) / (many - few) for place in counts[many]}
        told += f"   {name}: {sum(number for (kind, _), number in each.items() if kind == 'thread'):,.0f} an item\n"
        for kind, words in [("thread", "by thread"), ("library", "by library")]:
            if name != "imgflow" and kind == "thread":
                continue
            those = sorted(((number, what) for (own, what), number in each.items() if own == kind), reverse=True)
            told += f"      {words}: " + ", ".join(f"{what} {number:,.0f}" for number, what in those if number >= 500) + "\n"
    return told + ("   SHA-256 of 4 KiB is in all of these numbers, and done without the processor's instructions for it, "
                   "which callgrind has not\n")


def counted(words, work):
    """Instructions by thread and by library; nothing where that fails."""
    place = os.path.join(work, "counts")
    empty(place)
    os.mkdir(place)
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={place}/out", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = collections.Counter()
    for path in glob.glob(place + "/out-*"):
        thread, libraries = own_costs(path)
        found["thread", thread] += sum(libraries.values())
        for library, number in libraries.items():
            found["library", library] += number
    return found if found and done.returncode == 0 else None


def own_costs(path):
    """What a thread is, and the instructions that it ran in each library."""
    names, libraries, thread, library, is_call = {}, collections.Counter(), "all others", "the program itself", False
    with open(path) as file:
        for line in file:
            mark = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
            if mark:
                if mark[3]:
                    names[mark[2]] = library_of(os.path.basename(mark[3]))
                library = library if mark[1] else names.get(mark[2], "others")
            elif line.startswith(("fn=", "cfn=")):
                thread = next((told for function, told in THREADS if function in line), thread)
            elif line.startswith("calls="):
                is_call = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                words = line.split()
                # What a call costs stands with the function that was called.
                if not is_call and len(words) > 1:
                    libraries[library] += int(words[1])
                is_call = False
    return thread, libraries


def library_of(name):
    return next((told for part_of, told in LIBRARIES if part_of in name),
                "others" if ".so" in name else "the program itself")
