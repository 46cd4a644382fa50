"""What a photograph says of itself. One exiftool stays open for all of them: it takes long to start and no time after."""
import json
import subprocess

from imgflow_plugin import serve

TAGS = {
    "camera": "Model", "lens": "LensModel", "taken": "DateTimeOriginal", "latitude": "GPSLatitude",
    "longitude": "GPSLongitude", "orientation": "Orientation", "iso": "ISO", "exposure": "ExposureTime",
    "aperture": "FNumber", "focal_length": "FocalLength", "artist": "Artist", "copyright": "Copyright",
    "title": "Title",
}
NUMBERS = {"latitude", "longitude", "exposure", "aperture", "focal_length"}
WHOLE = {"orientation", "iso"}

tool = None


def start(init):
    global tool
    try:
        tool = subprocess.Popen(
            ["exiftool", "-stay_open", "True", "-@", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise SystemExit("meta.exif needs exiftool: apt install libimage-exiftool-perl")


def work(item, init):
    if not item["in"]:
        return {"set": {}}
    arguments = ["-j", "-n", "-fast"] + [f"-{tag}" for tag in TAGS.values()]
    path = item["in"]["path"]
    if "\n" in path:
        raise ValueError("a path with a line break cannot be given to exiftool")
    tool.stdin.write("\n".join(arguments + [path, "-execute\n"]))
    tool.stdin.flush()
    lines = []
    for line in tool.stdout:
        if line.startswith("{ready"):
            break
        lines.append(line)
    found = (json.loads("".join(lines) or "[]") or [{}])[0]
    fields = {}
    for name, tag in TAGS.items():
        value = found.get(tag)
        if value is None or value == "":
            continue
        try:
            if name == "taken":  # as the camera wrote it: 2026:05:01 12:30:00
                value = str(value).replace(":", "-", 2).replace(" ", "T", 1)
            fields[name] = float(value) if name in NUMBERS else int(value) if name in WHOLE else str(value)
        except (TypeError, ValueError):
            continue
    return {"set": fields}


serve(work, start)
