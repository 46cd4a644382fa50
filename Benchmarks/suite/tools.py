"""How each tool is told to fetch a list."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from corpus import compare, empty
from measure import Contestant, build
from newcurl import newest_curl

IMGFLOW, CURL, CURL_JSON, ARIA2, WGET2, IMG2DATASET, FLOOR = (
    "imgflow", "curl -Z", "curl -Z, JSON", "aria2, sha256", "wget2", "img2dataset", "*the floor*")


class Tools:
    """What is installed here, and what each is called with."""

    def __init__(self, root, work):
        self.root = root
        self.work = work
        self.imgflow = os.environ.get("IMGFLOW_BINARY") or os.path.join(root, ".build/release/imgflow")
        # What its command line begins with.
        self.curl = newest_curl(os.path.join(root, ".build/bench-curl"))
        self.aria2 = shutil.which("aria2c")
        self.wget2 = shutil.which("wget2")
        self.vipsthumbnail = shutil.which("vipsthumbnail")
        self.img2dataset = None

    def install_img2dataset(self):
        """From PyPI, into a folder of its own; it takes a minute the first time."""
        home = os.path.join(self.root, ".build/bench-python")
        program = os.path.join(home, "bin/img2dataset")
        if not os.path.exists(program):
            shutil.rmtree(home, ignore_errors=True)
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            if subprocess.run([sys.executable, "-m", "venv", home], **silent).returncode == 0:
                subprocess.run([home + "/bin/pip", "install", "-q", "img2dataset", "setuptools<81"], **silent)
        self.img2dataset = program if os.path.exists(program) else None

    def versions(self):
        """A line a tool; what is missing is named."""

        def first(words):
            out = subprocess.run(words, capture_output=True, text=True)
            return ((out.stdout or out.stderr).strip().splitlines() or ["?"])[0]

        found = {"imgflow": first([self.imgflow, "--version"])}
        found["curl"] = first([*self.curl, "--version"]) if self.curl else "missing here"
        for name, program in [("aria2", self.aria2), ("wget2", self.wget2)]:
            found[name] = first([program, "--version"]) if program else "missing here"
        found["vipsthumbnail"] = first([self.vipsthumbnail, "--vips-version"]) if self.vipsthumbnail else "missing here"
        if self.img2dataset:
            pip = os.path.join(os.path.dirname(self.img2dataset), "pip")
            shown = subprocess.run([pip, "show", "img2dataset"], capture_output=True, text=True).stdout.splitlines()
            found["img2dataset"] = next((line for line in shown if line.startswith("Version")), "?")
        else:
            found["img2dataset"] = "missing here"
        return found

    # What follows makes contestants: each fetches all of a corpus from `base` and is checked by digest.

    def lists(self, corpus, base, more=(CURL, CURL_JSON, ARIA2, WGET2, FLOOR), ca=None, wide=64, hosts=None, stages="fetch, store"):
        made = [self.flow(corpus, base, ca=ca, wide=wide, hosts=hosts, stages=stages)]
        makers = {CURL: self.curl_list, CURL_JSON: self.curl_json, ARIA2: self.aria2_list, WGET2: self.wget2_list,
                  IMG2DATASET: self.dataset, FLOOR: self.floor}
        for name in more:
            one = makers[name](corpus, base, ca, wide)
            if one:
                made.append(one)
        return made

    def folder(self, name, where=None):
        """A new folder for one contestant, in memory unless said; what it makes goes into `out` there."""
        path = tempfile.mkdtemp(prefix=name + "-", dir=where or self.work)
        return path, os.path.join(path, "out")

    def flow(self, corpus, base, ca=None, wide=64, hosts=None, stages="fetch, store", name=IMGFLOW, more="", options=()):
        """Digests, journal, an event an item to a file, confined and atomic publishing."""
        folder, out = self.folder("imgflow")
        with open(os.path.join(folder, "list.txt"), "w") as file:
            file.writelines(f"{base}/{one}\n" for one in corpus.names)
        rules = hosts or (f"connections: {wide}" if wide else "")
        rules = ", ".join(filter(None, ["allow: true", rules, f"tls: {{ ca: \"{ca}\" }}" if ca else ""]))
        limits = f"limits: {{ connections: {wide} }}\n" if wide else ""
        with open(os.path.join(folder, "bench.yaml"), "w") as file:
            file.write(
                "imgflow: 1\nsources: [{ file: { path: list.txt } }]\n"
                f"hosts: {{ \"127.0.0.1\": {{ {rules} }} }}\n{limits}stages: [{stages}]\n"
                f"state: {{ durability: process }}\n{more}")
        words = [self.imgflow, "run", folder + "/bench.yaml", "--events", folder + "/events", "--progress", "none", *options]
        return Contestant(
            name, words, lambda: empty(out, folder + "/.imgflow"), lambda _: compare(corpus, out))

    def curl_list(self, corpus, base, ca, wide, report=()):
        if not self.curl:
            return None
        folder, out = self.folder("curl")
        with open(os.path.join(folder, "list"), "w") as file:
            file.writelines(f"url = \"{base}/{one}\"\noutput = \"{out}/{one}\"\n" for one in corpus.names)
        words = [*self.curl, "-s", "-Z", "--parallel-max", str(wide or 64), *(["--cacert", ca] if ca else []), *report,
                 "-K", folder + "/list"]

        def before():
            empty(out)
            os.mkdir(out)

        return Contestant(CURL_JSON if report else CURL, words, before, lambda _: compare(corpus, out))

    def curl_json(self, corpus, base, ca, wide):
        return self.curl_list(corpus, base, ca, wide, ("-w", "%{json}\\n"))

    def aria2_list(self, corpus, base, ca, wide):
        if not self.aria2:
            return None
        folder, out = self.folder("aria2")
        with open(os.path.join(folder, "list"), "w") as file:
            file.writelines(
                f"{base}/{one}\n  checksum=sha-256={digest}\n" for one, digest in sorted(corpus.digests.items()))
        words = [self.aria2, "-q", "-i", folder + "/list", "-d", out, "-j", str(wide or 64), "--file-allocation=none",
                 "--summary-interval=0", *([f"--ca-certificate={ca}"] if ca else [])]
        return Contestant(ARIA2, words, lambda: empty(out), lambda _: compare(corpus, out))

    def wget2_list(self, corpus, base, ca, wide):
        if not self.wget2:
            return None
        folder, out = self.folder("wget2")
        with open(os.path.join(folder, "list"), "w") as file:
            file.writelines(f"{base}/{one}\n" for one in corpus.names)
        words = [self.wget2, "-q", "-i", folder + "/list", "-P", out, f"--max-threads={wide or 64}", "--no-robots",
                 *([f"--ca-certificate={ca}"] if ca else [])]
        return Contestant(WGET2, words, lambda: empty(out), lambda _: compare(corpus, out))

    def floor(self, corpus, base, ca, wide):
        """No tool, but what libcurl allows: the least program that makes the same files, digests and lines."""
        folder, out = self.folder("floor")
        with open(os.path.join(folder, "list"), "w") as file:
            file.writelines(f"{base}/{one}\n" for one in corpus.names)
        program = build("floor", "-lcurl", "-lcrypto", "-lpthread")
        if not program:
            return None
        # Where a tool is to find out how many at once are worth it, this one is told.
        words = [program, folder + "/list", out, folder + "/events", str(wide or 256), *([ca] if ca else [])]
        return Contestant(FLOOR, words, lambda: empty(out, folder + "/events"), lambda _: compare(corpus, out))

    def floor_again(self, files, out, has_events=True):
        """The same of a second run: looks each address up in a journal, made here, of files in `out` that are there.

        `files` gives (address, path, SHA-256); nothing where SQLite or one of the files is missing.
        """
        program = build("floor_again", "-lsqlite3")
        if not program:
            return None
        folder, _ = self.folder("floor-again")
        journal, events = folder + "/journal", folder + "/events" if has_events else "none"
        count, digests = 0, {}
        with open(folder + "/files", "w") as known, open(folder + "/list", "w") as file:
            for address, path, digest in files:
                known.write(f"{address}\t{path}\t{digest}\n")
                file.write(address + "\n")
                count += 1
                if has_events:
                    digests[address] = digest
        made = subprocess.run([program, "--make", folder + "/files", out, journal], stderr=subprocess.PIPE, text=True)
        if made.returncode:
            # A file is missing that the first run should have brought: whose fault that is stands in its own row.
            print(f"the floor's journal cannot be made: {made.stderr}", file=sys.stderr)
            return None
        runs = 1

        def check(cost):
            nonlocal runs
            runs += 1
            if cost.code:
                return f"exit {cost.code}"
            database = sqlite3.connect(journal)
            marked = database.execute("SELECT count(*) FROM items WHERE run = ?", [runs]).fetchone()[0]
            database.close()
            if marked != count:
                return f"{marked} of {count} are marked"
            if has_events:
                with open(events) as file:
                    told = {line["url"]: line["sha256"] for line in map(json.loads, file)}
                return None if told == digests else "a line an item is not what was written"
            return None

        return Contestant(FLOOR, [program, folder + "/list", out, events, journal], None, check)

    def dataset(self, corpus, base, ca=None, wide=64, side=None):
        if not self.img2dataset:
            return None
        folder, out = self.folder("img2dataset")
        with open(os.path.join(folder, "list.txt"), "w") as file:
            file.writelines(f"{base}/{one}\n" for one in corpus.names)
        shape = (["--image_size", str(side), "--resize_mode", "keep_ratio_largest", "--encode_quality", "90"] if side
                 else ["--resize_mode", "no", "--disable_all_reencoding", "True"])
        words = [self.img2dataset, "--url_list", folder + "/list.txt", "--output_folder", out, *shape,
                 "--output_format", "files", "--processes_count", str(os.cpu_count()),
                 "--thread_count", str(max(1, (wide or 64) // os.cpu_count())), "--enable_wandb", "False"]

        def check(_):
            if not side:
                return compare(corpus, out, by_name=False)
            return pictures_in(out, len(corpus.digests))

        return Contestant(IMG2DATASET, words, lambda: empty(out), check, every=0.2)


def pictures_in(folder, count):
    """What is wrong with the number of JPEGs in a folder."""
    found = sum(name.endswith(".jpg") for _, _, names in os.walk(folder) for name in names)
    return None if found == count else f"{found} pictures, not {count}"
