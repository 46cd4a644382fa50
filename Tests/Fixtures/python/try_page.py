"""Tries the live page in a real browser: try_page.py URL SCENARIO; says what is wrong, and ends with 1."""

import sys
import time

from browser import Browser


def expect(truth, words):
    if not truth:
        raise AssertionError(words)


def state(browser, shown):
    browser.wait(f"typeof run === 'object' && run && run.shown === '{shown}' && "
                 f"document.querySelector('#ring').dataset.shown === '{shown}'", f"the ring shows {shown}")


def focus_ring(browser):
    browser.run("document.querySelector('#ring').focus()")


def moves(browser):
    """Every move of the ring, by click, double click and keys."""
    state(browser, "idle")
    expect(browser.run("document.querySelector('#ring').getAttribute('aria-label')") == "Start the run", "a label")
    offered = "[...document.querySelectorAll('#verbs button')].filter(b => !b.hidden).map(b => b.textContent).join()"
    expect(browser.run(offered) == "Start", "idle offers to start and nothing else")
    browser.click("#ring")
    state(browser, "active")
    browser.wait(f"{offered} === 'Pause,Drain,Cancel'", "an active run offers what it can")
    browser.click("#ring")
    state(browser, "paused")
    browser.wait(f"{offered} === 'Resume,Drain,Cancel'", "a paused run offers what it can")
    focus_ring(browser)
    browser.key(" ")
    state(browser, "active")
    browser.key("Enter")
    state(browser, "paused")
    browser.click("#ring")
    state(browser, "active")
    # Escape asks; no keeps the run, as does a second Escape.
    browser.key("Escape")
    browser.wait("document.querySelector('#ask').open", "Escape asks")
    browser.click("#no")
    browser.wait("!document.querySelector('#ask').open", "no closes the question")
    browser.key("Escape")
    browser.wait("document.querySelector('#ask').open", "Escape asks again")
    browser.key("Escape")
    browser.wait("!document.querySelector('#ask').open", "Escape takes the question back")
    expect(browser.run("run.state") == "active", "the run goes on")
    # A double click cancels; a tap on the cancelled run asks, and starts it again.
    browser.click("#ring", count=2)
    state(browser, "cancelled")
    browser.wait(f"{offered} === 'Start'", "a cancelled run can be started again")
    browser.key("Escape")
    expect(not browser.run("document.querySelector('#ask').open"), "nothing is left to cancel")
    browser.click("#ring")
    browser.wait("document.querySelector('#ask').open", "a tap asks")
    browser.click("#yes")
    state(browser, "active")
    expect(browser.run("run.epoch") == 2, "it is another run")
    # Escape and a yes.
    browser.key("Escape")
    browser.wait("document.querySelector('#ask').open", "Escape asks the second run too")
    browser.click("#yes")
    state(browser, "cancelled")


def items(browser):
    """An item from its bar to its picture; filters, search, history; hostile names; sizes and themes."""
    state(browser, "idle")
    browser.click("#ring")
    browser.wait("document.querySelector('.tile[data-state=running] i')", "a tile moves")
    browser.wait("[...document.querySelectorAll('.tile')].some(t => /running \\d+ %/.test(t.textContent))", "a bar in words")
    state(browser, "done")
    browser.wait("[...document.querySelectorAll('.tile img[src]')].filter(i => i.complete && i.naturalWidth > 0).length >= 2",
                 "pictures are there")
    count = "document.querySelectorAll('.tile').length"
    browser.wait(f"{count} === run.listed", "every item has a tile")
    listed = browser.run("run.listed")
    # A name is text: it made no element, ran nothing, and stands there as it is.
    expect(browser.run("window.hacked") is None, "no script of a name has run")
    expect(browser.run("document.querySelector('main img[src=x]') === null"), "no element of a name")
    browser.wait("[...document.querySelectorAll('.tile')].some(t => t.title.includes('<img src=x onerror='))", "the hostile name")
    # State, error, and back.
    browser.click("#states button[data-state=failed]")
    browser.wait(f"{count} === 1 && document.querySelector('.tile').dataset.state === 'failed'", "only what failed")
    expect("http.404" in browser.run("document.querySelector('.tile').textContent"), "its code is readable")
    browser.click("#clear")
    browser.wait(f"{count} === {listed}", "all again")
    browser.click(".failure")
    browser.wait(f"{count} === 1", "a group of failures keeps its items")
    browser.click("#clear")
    # Search.
    browser.run("document.querySelector('#search').focus()")
    browser.type("first")
    browser.wait(f"{count} === 1", "found by name")
    browser.click("#clear")
    browser.wait(f"{count} === {listed}", "all again after the search")
    # A stage keeps its items.
    browser.click(".node[data-key='stage:store']")
    browser.wait(f"{count} === {listed} - 1", "what failed never came to store")
    browser.click(".node[data-key='stage:store']")
    browser.wait(f"{count} === {listed}", "the same click lets go")
    # History.
    browser.click(".tile[data-state=failed]")
    browser.wait("document.querySelector('#sheet').open", "a tile opens its history")
    story = browser.run("document.querySelector('#sheetbody').textContent")
    for words in ["http.404", "imgflow explain http.404", "began", "failed"]:
        expect(words in story, f"the history says {words}: {story}")
    browser.key("Escape")
    browser.wait("!document.querySelector('#sheet').open", "Escape closes it")
    expect(not browser.run("document.querySelector('#ask').open"), "and asks nothing")
    # Sizes and themes.
    for dark in [False, True]:
        browser.theme(dark)
        for width in [320, 768, 1600]:
            browser.resize(width, 900)
            browser.wait(f"innerWidth === {width}")
            browser.wait("document.documentElement.scrollWidth <= innerWidth", f"nothing sticks out at {width}")
            expect(browser.run("document.querySelector('.tile').getBoundingClientRect().width >= 100"), f"tiles at {width}")
        light = browser.run("getComputedStyle(document.body).backgroundColor")
        expect(("18" in light) == dark, f"the ground is {light}")
    # Everything that can be pressed has a name.
    nameless = browser.run(
        "[...document.querySelectorAll('button, select, input')].filter(n => !n.hidden && n.offsetParent && "
        "!(n.textContent.trim() || n.getAttribute('aria-label') || n.labels && n.labels.length)).map(n => n.id).join()")
    expect(nameless == "", f"without a name: {nameless}")


def back(browser):
    """A page whose server has gone says so, and one that comes back is told everything."""
    browser.wait("run && run.state === 'active'", "the run goes")
    browser.call("Network.enable")
    browser.run("window.before = run.items.ok")
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.run("fetch('/api/run').catch(() => { window.isOff = true; })")
    browser.wait("window.isOff", "the network is off")
    print("off", flush=True)
    sys.stdin.readline()
    browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.wait("run.items.ok > window.before && document.querySelector('#lost').hidden", "it has caught up")


if __name__ == "__main__":
    with Browser() as browser:
        try:
            browser.open(sys.argv[1])
            expect(browser.run("location.search") == "", "the address bar does not show the token")
            {"moves": moves, "items": items, "back": back}[sys.argv[2]](browser)
            problems = [one for one in browser.problems() if "ERR_INTERNET_DISCONNECTED" not in one]
            expect(problems == [], f"the browser complains: {problems}")
            print("fine")
        except AssertionError as problem:
            browser.picture("/tmp/imgflow-page.png") if "-k" in sys.argv else None
            print(f"{sys.argv[2]}: {problem}", browser.problems())
            sys.exit(1)
