"""Tries the live page in a real browser: try_page.py URL SCENARIO; says what is wrong, and ends with 1."""

import re
import socket
import sys
import threading

from browser import Browser


# What a reader of a failure needs to know.
SEEN = '''JSON.stringify({ run: run && { state: run.state, shown: run.shown, epoch: run.epoch, listed: run.listed, items: run.items },
  filter: view.filter, total: view.total, blocks: [...view.blocks.keys()], stale: [...view.stale], fetching: view.fetching,
  tiles: [...document.querySelectorAll('.tile')].map(t => [t.title, t.dataset.state, t.textContent]), open,
  sheet: $('sheet').open && $('sheetbody').textContent, ask: $('ask').open, lost: $('lost').hidden ? '' : $('lost').textContent })'''


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
    browser.wait("document.querySelector('#ring').getAttribute('aria-label') === 'Start the run'", "a label")
    offered = "[...document.querySelectorAll('#verbs button')].filter(b => !b.hidden).map(b => b.textContent).join()"
    browser.wait(f"{offered} === 'Start'", "idle offers to start and nothing else")
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
    browser.wait("run.state === 'active'", "the run goes on")
    # A double click cancels; a tap on the cancelled run asks, and starts it again.
    browser.click("#ring", count=2)
    state(browser, "cancelled")
    browser.wait(f"{offered} === 'Start again'", "a cancelled run can be started again")
    browser.key("Escape")
    expect(not browser.run("document.querySelector('#ask').open"), "nothing is left to cancel")
    browser.click("#ring")
    browser.wait("document.querySelector('#ask').open", "a tap asks")
    browser.click("#yes")
    state(browser, "active")
    browser.wait("run.epoch === 2", "it is another run")
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
    browser.wait("document.querySelector('.tile')?.textContent.includes('http.404')", "its code is readable")
    browser.click("#clear")
    browser.wait(f"{count} === {listed}", "all again")
    browser.click(".failure")
    browser.wait(f"{count} === 1", "a group of failures keeps its items")
    browser.click("#clear")
    browser.wait(f"{count} === {listed}", "all again after the group")
    # Search.
    browser.run("document.querySelector('#search').focus()")
    browser.type("first")
    browser.wait(f"{count} === 1", "found by name")
    browser.click("#clear")
    browser.wait(f"{count} === {listed}", "all again after the search")
    # What is cleared before it was searched for is not searched for.
    browser.run("document.querySelector('#search').focus()")
    browser.type("second")
    browser.run("document.querySelector('#clear').click()")
    browser.run("new Promise(done => setTimeout(done, 400))")
    expect(browser.run(f"{count} === {listed} && !view.filter.q"), "nothing is searched for")
    # A stage keeps its items.
    browser.click(".node[data-key='stage:store']")
    browser.wait(f"{count} === {listed} - 1", "what failed never came to store")
    browser.click(".node[data-key='stage:store']")
    browser.wait(f"{count} === {listed}", "the same click lets go")
    # History.
    browser.click(".tile[data-state=failed]")
    browser.wait("document.querySelector('#sheet').open", "a tile opens its history")
    for words in ["http.404", "imgflow explain http.404", "began: new", "failed"]:
        browser.wait(f"document.querySelector('#sheetbody').textContent.includes('{words}')", f"the history says {words}")
    browser.key("Escape")
    browser.wait("!document.querySelector('#sheet').open", "Escape closes it")
    expect(not browser.run("document.querySelector('#ask').open"), "and asks nothing")
    browser.click(".tile[title*='second']")
    browser.wait("document.querySelector('#sheetbody').textContent.includes('redirected to http://')", "where it came from")
    browser.key("Escape")
    browser.wait("!document.querySelector('#sheet').open", "Escape closes it again")
    # A tap in the moment after a sheet was closed, before the browser has told of it, is not lost.
    browser.click(".tile[title*='first']")
    browser.wait("document.querySelector('#sheet').open", "a sheet to close")
    browser.run("document.querySelector('#sheet').close(), document.querySelector(\".tile[title*='second']\").click()")
    browser.wait("document.querySelector('#sheet').open && document.querySelector('#sheettitle').textContent === 'second'",
                 "a tap at once")
    browser.key("Escape")
    browser.wait("!document.querySelector('#sheet').open", "Escape closes the third")
    # Sizes and themes.
    for dark in [False, True]:
        browser.theme(dark)
        for width in [320, 768, 1600]:
            browser.resize(width, 900)
            browser.wait(f"innerWidth === {width}")
            browser.wait("document.documentElement.scrollWidth <= innerWidth", f"nothing sticks out at {width}")
            # Between two layouts there may be no tile for a moment.
            browser.wait("document.querySelector('.tile')?.getBoundingClientRect().width >= 100", f"tiles at {width}")
        ground = "getComputedStyle(document.body).backgroundColor"
        browser.wait(f"{ground}.includes('18') === {str(dark).lower()}", f"a ground that is {'dark' if dark else 'light'}")
    # Everything that can be pressed has a name.
    nameless = browser.run(
        "[...document.querySelectorAll('button, select, input')].filter(n => !n.hidden && n.offsetParent && "
        "!(n.textContent.trim() || n.getAttribute('aria-label') || n.labels && n.labels.length)).map(n => n.id).join()")
    expect(nameless == "", f"without a name: {nameless}")


class Wire:
    """A wire to the page that can be cut: `localhost` leads to ::1, where it begins."""

    def __init__(self, port):
        self.port = port
        self.is_cut = False
        self.ends = []
        self.listener = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.listener.bind(("::1", port))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            if self.is_cut:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [near, far]
            for one, other in [(near, far), (far, near)]:
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while more := one.recv(65536):
                other.sendall(more)
        except OSError:
            pass
        for end in [one, other]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.ends = []


def back(browser, wire):
    """A page that loses its server says so; when it is back, nothing is missing."""
    browser.wait("typeof run === 'object' && run && run.state === 'active' && run.items.ok >= 1", "the run goes")
    wire.cut()
    browser.wait("!document.querySelector('#lost').hidden", "the page says that nobody answers")
    before = browser.run("run.items.ok")
    print("cut", flush=True)
    browser.run("new Promise(done => setTimeout(done, 1500))")
    expect(browser.run("run.items.ok") == before, "nothing comes through a wire that is cut")
    wire.is_cut = False
    browser.wait("document.querySelector('#lost').hidden && run.items.ok === 5", "everything is there again")
    browser.wait("document.querySelectorAll('.tile[data-state=ok]').length === 5", "and every tile with it")


if __name__ == "__main__":
    with Browser() as browser:
        try:
            address, scenario = sys.argv[1:3]
            if scenario == "back":
                wire = Wire(int(re.search(r":(\d+)/", address).group(1)))
                browser.open(address.replace("127.0.0.1", "localhost"))
                back(browser, wire)
            else:
                browser.open(address)
                expect(browser.run("location.search") == "", "the address bar does not show the token")
                {"moves": moves, "items": items}[scenario](browser)
            # A wire that is cut is complained of, and rightly.
            problems = [one for one in browser.problems() if scenario != "back" or "net::ERR_" not in one]
            expect(problems == [], f"the browser complains: {problems}")
            print("fine")
        except (AssertionError, RuntimeError) as problem:
            print(f"{sys.argv[2]}: {problem}", browser.problems())
            print("what the page shows:", browser.run(SEEN))
            sys.exit(1)
