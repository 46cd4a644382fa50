"""How cost grows with items, stages, legs and sinks; and memory over the time of a long run."""

import os
import statistics

from corpus import empty, noise
from measure import Contestant, in_turn, run


def flow(bench, items, stages=1, legs=1, sinks=0):
    """A run without transfers: items through stages that compute a value each."""
    folder, out = bench.tools.folder("growth")
    with open(folder + "/list.txt", "w") as file:
        file.writelines(f"https://example.com/{number}.jpg\n" for number in range(items))
    each = "".join(
        f"  - set: {{ v{number}: \"${{item.index + {number}}}\" }}\n    id: s{number}\n"
        + (f"    matrix: {{ leg: {list(range(legs))} }}\n" if legs > 1 and number == 0 else "") for number in range(stages))
    told = "".join(f"  - ndjson: {{ to: \"{folder}/sink{number}\" }}\n    id: n{number}\n" for number in range(sinks))
    with open(folder + "/bench.yaml", "w") as file:
        file.write("imgflow: 1\nsources: [{ file: { path: list.txt } }]\nstate: { durability: process }\nstages:\n" + each
                   + (f"sinks:\n{told}" if told else ""))
    words = [bench.tools.imgflow, "run", folder + "/bench.yaml", "--events", "none", "--progress", "none"]

    def check(cost):
        return None if cost.code == 0 else f"exit {cost.code}"

    return Contestant("imgflow", words, lambda: empty(out, folder + "/.imgflow"), check)


def slope(points):
    """Least squares: what one more of x costs."""
    middle_x, middle_y = statistics.mean(x for x, _ in points), statistics.mean(y for _, y in points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def curves(bench):
    """[(what grows, [(how many, seconds of CPU)], what one more costs in words)]."""
    most = 20_000 if bench.quick else 100_000
    rounds = 1
    found = []

    def measured(what, values, make, share):
        rows = in_turn_of([make(value) for value in values], rounds, bench)
        points = [(value, row.cpu) for value, row in zip(values, rows)]
        wrong = next((row.wrong for row in rows if row.wrong), None)
        memory = max(row.memory for row in rows)
        told = f"{share * slope(points) * 1e6:.1f} µs of CPU for one more" if not wrong else wrong
        found.append((what, points, told, memory))

    items = [1000, 10_000, 100_000] + ([] if bench.quick else [1_000_000])
    measured("items", items, lambda count: flow(bench, count), 1)
    measured(f"stages ({most:,} items)", [1, 2, 4, 8], lambda count: flow(bench, most, stages=count), 1 / most)
    measured(f"legs ({most:,} items)", [1, 2, 4, 8, 12], lambda count: flow(bench, most, legs=count), 1 / most)
    measured(f"sinks ({most:,} items)", [0, 1, 2, 4], lambda count: flow(bench, most, sinks=count), 1 / most)
    return found


def in_turn_of(contestants, rounds, bench):
    rows = in_turn(contestants, rounds, bench.work)
    for one in contestants:
        empty(os.path.dirname(one.words[2]))
    return rows


def memory_over_time(bench):
    """[(seconds, megabytes)] of a run that fetches a small file for each of many items, and the run's facts."""
    count = 50_000 if bench.quick else 1_000_000
    bench.corpus("tiny", lambda path: noise(path, "t", 1, 200))
    folder, out = bench.tools.folder("memory")
    with open(folder + "/list.txt", "w") as file:
        file.writelines(f"http://127.0.0.1:{bench.nginx.http}/tiny/t000000.bin?{number}\n" for number in range(count))
    with open(folder + "/bench.yaml", "w") as file:
        file.write("imgflow: 1\nsources: [{ file: { path: list.txt } }]\n"
                   "hosts: { \"127.0.0.1\": { allow: true, connections: 64 } }\nlimits: { connections: 64 }\n"
                   "stages: [fetch, { store: \"${item.index % 1000}/${item.index}.bin\" }]\nstate: { durability: process }\n")
    words = [bench.tools.imgflow, "run", folder + "/bench.yaml", "--events", "none", "--progress", "none"]
    cost = run(words, bench.work, limit=1800, every=0.5)
    stored = sum(len(names) for _, _, names in os.walk(out))
    again = run(words, bench.work, limit=900)
    floor = floor_of_second(bench, folder, out, count)
    empty(folder)
    facts = (f"{count:,} items fetched from one server and stored, {stored:,} files there at the end (exit {cost.code}): "
             f"{cost.seconds:.0f} s, {count / cost.seconds:,.0f} items a second, at most {cost.memory / 1e6:.0f} MB. "
             f"A second run, which finds all of it done and looks at each file: {again.seconds:.1f} s, at most "
             f"{again.memory / 1e6:.0f} MB (exit {again.code}). {floor}")
    return [(at, size / 1e6) for at, size in cost.samples if size], facts


def floor_of_second(bench, folder, out, count):
    """What the second run takes at least, in words; without a line an item, as imgflow is without events here."""
    with open(folder + "/list.txt") as file:
        addresses = file.read().splitlines()
    digest = bench.made["tiny"].digests["t000000.bin"]
    # Items are counted from 1.
    files = ((address, f"{number % 1000}/{number}.bin", digest) for number, address in enumerate(addresses, 1))
    floor = bench.tools.floor_again(files, out, has_events=False)
    if not floor:
        return "*The floor* of that cannot be had here."
    cost = run(floor.words, bench.work)
    wrong = floor.check(cost)
    empty(os.path.dirname(floor.words[1]))
    if wrong:
        return f"*The floor* of that was not right: {wrong}."
    return (f"*The floor* of that, without a line an item as there are no events here: {cost.seconds:.1f} s, at most "
            f"{cost.memory / 1e6:.0f} MB.")
