"""Reads a JUnit file on standard input, and holds its totals against its cases."""
import sys
import xml.etree.ElementTree as tree

suites = tree.parse(sys.stdin.buffer).getroot()
assert suites.tag == "testsuites"
for suite in suites:
    cases = list(suite)
    failed = [case for case in cases if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    for level in (suites, suite):
        assert int(level.get("tests")) == len(cases), level.attrib
        assert int(level.get("failures")) == len(failed), level.attrib
        assert int(level.get("skipped")) == len(skipped), level.attrib
    print(f"{len(cases)} cases, {len(failed)} failed, {len(skipped)} skipped")
