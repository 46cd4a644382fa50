"""Verifies captured webhooks with the public reference libraries.

Reads lines of JSON with `headers` and `body`; the argument is the secret. Prints how many events it has seen.
"""
import json
import sys

from cloudevents.http import from_http
from standardwebhooks import Webhook

webhook = Webhook(sys.argv[1])
seen = 0
for line in sys.stdin:
    request = json.loads(line)
    headers, body = request["headers"], request["body"]
    webhook.verify(body, headers)
    kind = headers["content-type"]
    if kind.startswith("application/cloudevents"):
        events = json.loads(body) if kind.startswith("application/cloudevents-batch+json") else [json.loads(body)]
        for event in events:
            parsed = from_http({"content-type": "application/cloudevents+json"}, json.dumps(event))
            data = parsed.get_data()
            assert parsed["specversion"] == "1.0"
            assert parsed["id"] == f"{data['run']}-{data['seq']}", parsed["id"]
            assert parsed["type"] == f"dev.imgflow.{data['type']}.v1", parsed["type"]
            assert int(parsed["sequence"]) == data["seq"] and len(parsed["sequence"]) == 20
        seen += len(events)
    else:
        parsed = json.loads(body)
        assert list(parsed) == ["type", "timestamp", "data"], list(parsed)
        seen += len(parsed["data"]) if parsed["type"] == "imgflow.batch" else 1
print(seen)
