"""Speaks imgflow's plugin protocol: one JSON object a line. It needs nothing else; keep it beside your plugin."""
import json, sys

# What json.loads and json.dumps do, without what they look at each time.
decode, encode = json.JSONDecoder().raw_decode, json.JSONEncoder(check_circular=False).encode


def serve(handle, start=None):
    """Calls handle(item, init) for each item; what it returns goes into the result (out, set, status, …)."""
    out, sys.stdout = sys.stdout, sys.stderr  # a stray print must not get between the messages

    def say(message):
        out.write(encode(message) + "\n")
        out.flush()

    for line in sys.stdin:
        message, _ = decode(line)
        kind = message.get("t")
        if kind == "item":
            try:
                result = handle(message, init)
                if result:
                    say({"t": "result", "id": message["id"], "status": "ok", **result})
                else:  # the shortest answer needs no encoder
                    out.write('{"t":"result","id":%d,"status":"ok"}\n' % message["id"])
                    out.flush()
            except Exception as error:  # the item fails, and the plugin goes on
                code = getattr(error, "code", "plugin.failed")
                say({"t": "result", "id": message["id"], "status": "error", "code": code, "message": str(error)})
        elif kind == "init":
            init = message
            if start:
                start(init)
            say({"t": "ready", "v": 1})
        elif kind == "ping":
            say({"t": "pong", "n": message["n"]})
        elif kind == "drain":
            say({"t": "bye"})
