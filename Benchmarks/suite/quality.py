"""How good small pictures are: their distance from a full decoding and the best kernel, in decibels."""

import json
import math
import os
import subprocess
import tempfile


def vips(*words):
    return subprocess.run(["vips", *map(str, words)], check=True, capture_output=True, text=True).stdout


def distance(one, other, scratch):
    """The peak signal-to-noise ratio of two pictures of one size."""
    paths = [os.path.join(scratch, name) for name in ("difference.v", "square.v")]
    vips("subtract", one, other, paths[0])
    vips("multiply", paths[0], paths[0], paths[1])
    error = float(vips("avg", paths[1]))
    return 10 * math.log10(255 * 255 / max(error, 1e-9))


def of(made, originals, side):
    """Mean and lowest ratio over some pictures; `made` has a path for each original's name."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, path in sorted(made.items()):
            best = os.path.join(scratch, "best.v")
            original = os.path.join(originals, name)
            vips("resize", original, best, side / width_of(original), "--kernel", "lanczos3")
            found.append(distance(best, path, scratch))
    return sum(found) / len(found), min(found)


def width_of(path):
    words = ["vipsheader", "-f", "width", path]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def named_by_stem(folder, names):
    return {name: os.path.join(folder, name) for name in names}


def named_by_facts(folder, names):
    """img2dataset counts its files, and says beside each where it came from."""
    made = {}
    for base, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".json") and not file.endswith("_stats.json"):
                with open(os.path.join(base, file)) as facts:
                    name = os.path.basename(json.load(facts)["url"])
                if name in names:
                    made[name] = os.path.join(base, file[:-5] + ".jpg")
    return made
