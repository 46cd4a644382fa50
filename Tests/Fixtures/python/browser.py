"""A browser without a window, driven over a pipe with Chrome's DevTools protocol; only Python's own library is used."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def find():
    """The program; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser process with one page."""

    def __init__(self, width=1280, height=900, dark=False, limit=60):
        self.limit = limit
        self.folder = tempfile.mkdtemp(prefix="imgflow-browser-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        words = [
            find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking", "--mute-audio",
            "--disable-extensions", "--user-data-dir=" + self.folder, "about:blank",
        ]

        def wire():
            # The browser reads at 3 and writes at 4.
            read, write = os.dup(to_read), os.dup(to_write)
            high_read, high_write = fd_above(read), fd_above(write)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            words, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number = 0
        self.answers = {}
        self.events = []
        self.arrived = threading.Condition()
        threading.Thread(target=self.hear, daemon=True).start()
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.resize(width, height)
        self.theme(dark)

    def hear(self):
        rest = b""
        while True:
            try:
                more = os.read(self.back, 1 << 20)
            except OSError:
                more = b""
            if not more:
                break
            rest += more
            *whole, rest = rest.split(b"\0")
            for text in whole:
                message = json.loads(text)
                with self.arrived:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.events.append(message)
                    self.arrived.notify_all()
        with self.arrived:
            self.answers = None
            self.arrived.notify_all()

    def call(self, method, **words):
        with self.arrived:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": words}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        with self.arrived:
            done = self.arrived.wait_for(lambda: self.answers is None or number in self.answers, self.limit)
            if self.answers is None or not done:
                raise RuntimeError(f"the browser did not answer {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def resize(self, width, height, scale=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def theme(self, dark):
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def wait(self, script, what=None):
        """Waits until an expression is true."""
        end = time.monotonic() + self.limit
        while True:
            try:
                if self.run(f"Boolean({script})"):
                    return
            except RuntimeError as problem:
                # Between two documents there is nothing to ask.
                if time.monotonic() > end:
                    raise problem
            if time.monotonic() > end:
                raise AssertionError(f"never: {what or script}")
            time.sleep(0.02)

    def click(self, selector, count=1):
        """Clicks in the middle of an element, as a hand would: once it is there, lies still, and nothing covers it."""
        name = json.dumps(selector)
        end = time.monotonic() + self.limit
        last = None
        while True:
            box = self.run(
                f"(() => {{ const n = document.querySelector({name}); if (!n) return null; n.scrollIntoView({{block:'center'}});"
                "const b = n.getBoundingClientRect(), x = b.x + b.width / 2, y = b.y + b.height / 2;"
                "return b.width && n.contains(document.elementFromPoint(x, y)) ? [x, y] : null; })()")
            if box is not None and box == last:
                break
            if time.monotonic() > end:
                raise AssertionError(f"never: there is a {selector} to click at")
            last = box
            # The next frame is painted, if it is not too much for this machine.
            self.run("new Promise(done => { requestAnimationFrame(() => done()); setTimeout(done, 200); })")
        for number in range(1, count + 1):
            for kind in ["mousePressed", "mouseReleased"]:
                self.call(
                    "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=number)

    def key(self, key, text=None):
        """Presses a key."""
        codes = {"Enter": 13, "Escape": 27, " ": 32, "Tab": 9}
        names = {" ": "Space"}
        shared = {"key": key, "code": names.get(key, key), "windowsVirtualKeyCode": codes.get(key, 0)}
        typed = text or {"Enter": "\r", " ": " "}.get(key)
        down = dict(shared, text=typed) if typed else shared
        self.call("Input.dispatchKeyEvent", type="keyDown" if typed else "rawKeyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """What the browser has complained of."""
        found = []
        for event in list(self.events):
            if event["method"] == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description") or details["text"])
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                entry = event["params"]["entry"]
                found.append(entry["text"] + " " + entry.get("url", ""))
        return found

    def close(self):
        try:
            self.session = None
            os.write(self.to, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        for end in [self.to, self.back]:
            try:
                os.close(end)
            except OSError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def fd_above(number):
    """The same file under a number that is in nobody's way."""
    import fcntl
    return fcntl.fcntl(number, fcntl.F_DUPFD, 10)
