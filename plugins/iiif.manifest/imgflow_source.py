"""Speaks imgflow's plugin protocol for a source. It needs nothing else; keep it beside your plugin."""
import itertools, json, sys


def serve(items):
    """Calls items(config) for an iterator of items ({"url", "key", "row", …}); the cursor counts how many were given."""
    out, sys.stdout = sys.stdout, sys.stderr  # a stray print must not get between the messages

    def say(**message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    init, place, stream = None, 0, None
    for line in sys.stdin:
        message = json.loads(line)
        kind = message.get("t")
        if kind == "init":
            init = message
            say(t="ready", v=1)
        elif kind == "pull":
            wanted = message.get("cursor") or 0
            try:
                if stream is None or wanted != place:  # the start, or again from where a run was cut off
                    stream = itertools.islice(iter(items(init["config"])), wanted, None)
                batch = list(itertools.islice(stream, message["n"]))
                place = wanted + len(batch)
                say(t="items", cursor=place, items=batch, end=len(batch) < message["n"])
            except Exception as error:
                stream = None
                say(t="error", fatal=True, code=getattr(error, "code", "source.failed"), message=f"{error}")
        elif kind == "ping":
            say(t="pong", n=message["n"])
        elif kind == "drain":
            say(t="bye")
