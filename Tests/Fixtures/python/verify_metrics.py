"""Reads metrics on standard input with Prometheus' own parser, and prints them as one JSON object."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

result = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.type != "unknown" and family.documentation, family
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        key = f"{sample.name}{{{labels}}}"
        assert key not in result, key
        result[key] = sample.value
print(json.dumps(result))
