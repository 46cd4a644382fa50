/// What the live page does in the browser: the parts that all others use, and the ring.
enum PageScript {
  static let base = #"""
    const $ = id => document.getElementById(id);
    const SVG = 'http://www.w3.org/2000/svg';
    // Elements are made of names and texts; no text ever becomes markup.
    function el(tag, props, ...inner) {
      const made = document.createElement(tag);
      for (const [name, value] of Object.entries(props || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name === 'text') made.textContent = value;
        else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
        else made.setAttribute(name, value === true ? '' : value);
      }
      made.append(...inner.filter(one => one !== null && one !== undefined && one !== false));
      return made;
    }
    function draw(tag, props) {
      const made = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
      return made;
    }
    function say(node, text) { if (node.textContent !== text) node.textContent = text; }
    function flag(node, name, value) {
      if (value === null || value === undefined || value === false) node.removeAttribute(name);
      else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
    }
    const count = n => n.toLocaleString('en-US');
    function bytes(n) {
      const units = ['B', 'kB', 'MB', 'GB', 'TB'];
      let at = 0;
      while (n >= 1000 && at < units.length - 1) { n /= 1000; at += 1; }
      return (at === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + ' ' + units[at];
    }
    function time(ms) {
      if (ms < 1) return '0 ms';
      if (ms < 1000) return Math.round(ms) + ' ms';
      if (ms < 60000) return (ms / 1000).toFixed(1) + ' s';
      return Math.floor(ms / 60000) + ' min ' + Math.round(ms % 60000 / 1000) + ' s';
    }
    const path = name => name.split('/').map(encodeURIComponent).join('/');
    async function get(url) {
      const answer = await fetch(url, { headers: { Accept: 'application/json' } });
      if (answer.status === 401) lost('This page was opened by another address. Open the one that the run has printed.');
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    }
    function lost(words) { $('lost').hidden = !words; say($('lost'), words || ''); }
    // What is asked of the run; gives the answer, and shows it.
    async function ask(verb, scope, more) {
      const body = Object.assign({ verb }, scope ? { scope } : {}, more || {});
      let answer;
      try {
        const sent = await fetch('/api/control', { method: 'POST', headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body) });
        answer = await sent.json();
        if (answer.error) answer = { accepted: false, message: answer.error.message };
      } catch (problem) {
        answer = { accepted: false, message: 'the run does not answer' };
      }
      say($('answer'), answer.message || '');
      flag($('answer'), 'data-no', answer.accepted ? null : '');
      if (!answer.accepted) say($('hint'), answer.message);
      return answer;
    }
    let run = null;

    """#

  static let ring = #"""
    const WORDS = { idle: 'ready', active: 'running', paused: 'paused', draining: 'draining', done: 'done',
      cancelled: 'cancelled' };
    const HINTS = { idle: 'Tap the ring to start.', active: 'Tap to pause, double tap to cancel.',
      paused: 'Tap to resume, double tap to cancel.', draining: 'What has begun is finished. Double tap to cancel.' };
    const LABELS = { idle: 'Start the run', active: 'Pause the run', paused: 'Resume the run',
      draining: 'The run is draining', done: 'Start the run again', cancelled: 'Start the run again' };
    const ring = { shown: 'idle', phase: 'rest', timer: 0 };
    const PATIENCE = 280;
    // Follows the same table as the program itself.
    function gesture(name) {
      const rows = RING[ring.shown] && RING[ring.shown][ring.phase];
      const row = rows && rows[name];
      if (!row) return;
      if (row[1] === 'offerStart' && !(run && run.moves.includes('start'))) { ring.phase = 'rest'; showPhase(); return; }
      ring.phase = row[0];
      clearTimeout(ring.timer);
      act(row[1]);
      showPhase();
    }
    function act(action) {
      switch (action) {
        case 'wait': ring.timer = setTimeout(() => gesture('settle'), PATIENCE); break;
        case 'start': case 'pause': case 'resume': case 'cancel': ask(action); break;
        case 'offerCancel': offer('Cancel the run? What is under way is dropped; a later run goes on from there.',
          'Cancel the run', 'Keep it going'); break;
        case 'offerStart': offer(ring.shown === 'cancelled' ? 'Start the run again? It goes on from where it was.'
          : 'Run again? What is done and unchanged is not done again.', 'Start', 'Leave it'); break;
        case 'withdraw': if ($('ask').open) $('ask').close(); break;
      }
    }
    function offer(words, yes, no) {
      say($('asktext'), words); say($('yes'), yes); say($('no'), no);
      if (!$('ask').open) $('ask').showModal();
    }
    function showPhase() { flag($('ring'), 'data-phase', ring.phase); }
    function showRing() {
      const was = ring.shown;
      ring.shown = run.shown;
      if (was !== run.shown) { gesture('become'); speak(WORDS[run.shown] + '. ' + run.line); }
      const node = $('ring');
      const known = run.ratio !== null || run.shown === 'idle' || run.state === 'done';
      const ratio = run.ratio === null ? 0 : run.ratio;
      flag(node, 'data-shown', run.shown);
      flag(node, 'data-sweep', known ? null : '');
      flag(node, 'data-ratio', Math.floor(ratio * 100));
      flag(node, 'data-bad', run.exit ? '' : null);
      const mayStart = run.moves.includes('start');
      node.disabled = run.state === 'done' && !mayStart;
      flag(node, 'aria-label', run.state === 'done' && !mayStart ? 'The run is over' : LABELS[run.shown]);
      $('arc').style.strokeDasharray = known ? (ratio * 1000) + ' 1000' : '';
      say($('percent'), run.shown === 'idle' ? '' : known && run.ratio !== null ? Math.floor(ratio * 100) + ' %' : count(run.items.ok
        + run.items.failed + run.items.filtered + run.items.cancelled));
      say($('word'), run.result === 'failure' && run.shown === 'done' ? 'done, with failures'
        : run.result === 'error' ? 'ended by an error' : run.result === 'timeout' ? 'out of time' : WORDS[run.shown]);
      say($('line'), run.line);
      say($('hint'), HINTS[run.shown] || (mayStart ? 'Tap the ring to run again.' : ''));
      const tenth = Math.floor(ratio * 10);
      if (run.shown === 'active' && ring.tenth !== undefined && tenth > ring.tenth) speak(tenth * 10 + ' percent. ' + run.line);
      ring.tenth = tenth;
    }
    function speak(words) { say($('spoken'), words); }
    function startRing() {
      $('ring').addEventListener('keydown', event => {
        if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault();
      });
      $('ring').addEventListener('click', () => gesture('press'));
      document.addEventListener('keydown', event => {
        if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
        if (event.target.matches('input, select')) return;
        // Else the same key would take the question back that it has just asked.
        event.preventDefault();
        gesture('escape');
      });
      $('ask').addEventListener('cancel', event => { event.preventDefault(); gesture('dismiss'); });
      $('yes').addEventListener('click', () => { gesture('confirm'); if ($('ask').open) $('ask').close(); });
      $('no').addEventListener('click', () => gesture('dismiss'));
    }

    """#
}
