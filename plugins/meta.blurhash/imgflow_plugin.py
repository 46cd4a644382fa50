"""Speaks imgflow's plugin protocol: one JSON object a line. It needs nothing else; keep it beside your plugin."""
import json, sys


def serve(handle, start=None):
    """Calls handle(item, init) for each item; what it returns goes into the result (out, set, status, …)."""
    out, sys.stdout = sys.stdout, sys.stderr  # a stray print must not get between the messages

    def say(**message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("t")
        if kind == "init":
            init = message
            if start:
                start(init)
            say(t="ready", v=1)
        elif kind == "item":
            try:
                say(**{"t": "result", "id": message["id"], "status": "ok", **(handle(message, init) or {})})
            except Exception as error:  # the item fails, and the plugin goes on
                code = getattr(error, "code", "plugin.failed")
                say(t="result", id=message["id"], status="error", code=code, message=str(error))
        elif kind == "ping":
            say(t="pong", n=message["n"])
        elif kind == "drain":
            say(t="bye")
