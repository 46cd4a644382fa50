"""The curl of today, also where the system's is an older one."""

import glob
import os
import re
import shutil
import subprocess

# From this one on it has `--skip-existing`.
WANTED = (8, 10)
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LOADERS = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]


def newest_curl(home):
    """What to begin curl's command line with: the system's, or where that is old, one of Debian's backports in `home`.

    Nothing of the system is changed; where the backports cannot be had, the system's curl is what is measured.
    """
    own = shutil.which("curl")
    own = [own] if own else None
    if own and version(own) >= WANTED:
        return own
    root = os.path.join(home, "root")
    if not os.path.isdir(root):
        shutil.rmtree(home, ignore_errors=True)
        try:
            fetch(home, root)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(root, ignore_errors=True)
            return own
    program = os.path.join(root, "usr/bin/curl")
    libraries = glob.glob(os.path.join(root, "usr/lib/*/libcurl.so.4"))
    loader = next(filter(os.path.exists, LOADERS), None)
    if not (os.path.exists(program) and libraries and loader):
        return own
    # As the kernel would start it, but with its own library in place of the system's.
    newer = [loader, "--library-path", os.path.dirname(libraries[0]), program]
    return newer if version(newer) >= WANTED else own


def version(words):
    try:
        told = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return (0, 0)
    found = re.match(r"curl (\d+)\.(\d+)", told)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def fetch(home, root):
    """Downloads and unpacks curl and its library, with lists of packages of their own; apt checks who has signed them."""
    for folder in ["lists/partial", "cache/archives/partial", "packages"]:
        os.makedirs(os.path.join(home, folder))
    with open("/etc/os-release") as file:
        code = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
    if not code or not os.path.exists(KEYRING):
        raise OSError("no Debian")
    with open(os.path.join(home, "sources.list"), "w") as file:
        file.write(f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {code[1]}-backports main\n")
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={home}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
           "-o", f"Dir::State::Lists={home}/lists", "-o", f"Dir::Cache={home}/cache"]
    silent = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 120}
    subprocess.run([*apt, "update"], **silent)
    subprocess.run([*apt, "download", "curl", "libcurl4"], cwd=home + "/packages", **silent)
    for package in glob.glob(home + "/packages/*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, root], **silent)
