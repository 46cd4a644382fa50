"""Files to fetch, the same on every machine: made from numbers, kept in memory."""

import hashlib
import os
import random
import shutil
import subprocess


class Corpus:
    """A folder of files and their digests."""

    def __init__(self, folder):
        self.folder = folder
        self.digests = {}
        os.makedirs(folder, exist_ok=True)

    @property
    def names(self):
        return sorted(self.digests)

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        self.digests[name] = hashlib.sha256(data).hexdigest()

    def link(self, name, other):
        os.link(os.path.join(self.folder, other), os.path.join(self.folder, name))
        self.digests[name] = self.digests[other]


def noise(folder, prefix, count, size, distinct=None):
    """`count` files of `size` bytes; with `distinct`, only so many different ones under all those names."""
    corpus = Corpus(folder)
    source = random.Random(f"{prefix} {size}")
    distinct = min(distinct or count, count)
    piece = 1 << 24
    for number in range(count):
        name = f"{prefix}{number:06d}.bin"
        if number < distinct:
            # Python makes no number of 512 MiB at once.
            corpus.write(name, b"".join(source.randbytes(min(piece, size - at)) for at in range(0, size, piece)))
        else:
            corpus.link(name, f"{prefix}{number % distinct:06d}.bin")
    return corpus


def photographs(folder, count, scratch):
    """JPEGs of soft shapes and grain, 1024 by 768, about as long as photographs are; twenty, under many names."""
    corpus = Corpus(folder)
    for number in range(20):
        path = os.path.join(scratch, f"photo{number}")

        def vips(*words):
            subprocess.run(["vips", *map(str, words)], check=True, stdout=subprocess.DEVNULL)

        vips("worley", path + "-shapes.v", 1024, 768, "--cell-size", 60 + number * 9, "--seed", number + 1)
        vips("gaussnoise", path + "-grain.v", 1024, 768, "--sigma", 14, "--seed", number + 1)
        vips("add", path + "-shapes.v", path + "-grain.v", path + "-sum.v")
        vips("cast", path + "-sum.v", path + "-grey.v", "uchar")
        vips("bandjoin", " ".join([path + "-grey.v"] * 3), path + "-three.v")
        vips("copy", path + "-three.v", path + "-colour.v", "--interpretation", "srgb")
        vips("jpegsave", path + "-colour.v", path + ".jpg", "--Q", 88)
        with open(path + ".jpg", "rb") as file:
            corpus.write(f"p{number:06d}.jpg", file.read())
        for name in os.listdir(scratch):
            if name.endswith(".v"):
                os.remove(os.path.join(scratch, name))
    for number in range(20, count):
        corpus.link(f"p{number:06d}.jpg", f"p{number % 20:06d}.jpg")
    return corpus


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(
            file.read()).hexdigest()


def compare(corpus, folder, by_name=True):
    """What is wrong with a folder that should hold all files of a corpus; nothing if it is right."""
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            found[name] = os.path.join(base, name)
    if by_name:
        missing = [name for name in corpus.digests if name not in found]
        if missing:
            return f"{len(missing)} of {len(corpus.digests)} files are missing"
        wrong = [name for name, digest in corpus.digests.items() if digest_of(found[name]) != digest]
        return f"{len(wrong)} files are not what was served" if wrong else None
    expected = sorted(corpus.digests.values())
    there = sorted(digest_of(path) for name, path in found.items() if name.endswith((".jpg", ".bin")))
    return None if there == expected else f"{len(there)} files, not all of them the bytes that were served"


def empty(*folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
