/// The graph, the throughput, the failures, the steering, and what keeps all of them up to date.
extension PageScript {
  static let graph = #"""
    const NODE = { width: 168, height: 56, right: 40, down: 12, narrowest: 128 };
    let drawn = null;
    async function loadGraph() {
      try { drawn = await get('/api/graph'); } catch (problem) { return; }
      drawGraph();
    }
    function drawGraph() {
      const nodes = [], edges = [], at = new Map();
      drawn.sources.forEach((source, row) => nodes.push({ kind: 'source', id: source.id, op: source.op, column: 0, row }));
      const depth = new Map();
      for (const stage of drawn.stages) {
        const before = [...stage.needs, ...stage.after].map(id => depth.get(id) || 1);
        depth.set(stage.id, before.length ? Math.max(...before) + 1 : 1);
      }
      const rows = new Map();
      for (const stage of drawn.stages) {
        const column = depth.get(stage.id), row = rows.get(column) || 0;
        rows.set(column, row + 1);
        nodes.push({ kind: 'stage', id: stage.id, op: stage.op, column, row });
      }
      const columns = Math.max(0, ...nodes.map(node => node.column)) + 1, room = $('graph').clientWidth - 8;
      NODE.width = Math.max(NODE.narrowest, Math.min(168, Math.floor((room - (columns - 1) * NODE.right) / columns)));
      const tallest = Math.max(1, drawn.sources.length, ...rows.values());
      const inColumn = column => nodes.filter(node => node.column === column).length;
      for (const node of nodes) {
        node.x = node.column * (NODE.width + NODE.right);
        node.y = (node.row + (tallest - inColumn(node.column)) / 2) * (NODE.height + NODE.down) + 3;
        at.set(node.kind + ':' + node.id, node);
      }
      for (const stage of drawn.stages) {
        const to = at.get('stage:' + stage.id);
        for (const id of stage.needs) edges.push([at.get('stage:' + id), to, '']);
        for (const id of stage.after) if (!stage.needs.includes(id)) edges.push([at.get('stage:' + id), to, 'gate']);
        if (!stage.needs.length) for (const source of drawn.sources) edges.push([at.get('source:' + source.id), to, '']);
      }
      const width = columns * NODE.width + (columns - 1) * NODE.right + 6, height = tallest * (NODE.height + NODE.down) - NODE.down + 6;
      const svg = draw('svg', { width, height, 'aria-hidden': 'true' });
      for (const [from, to, kind] of edges) {
        if (!from || !to) continue;
        const x1 = from.x + NODE.width + 3, y1 = from.y + NODE.height / 2, x2 = to.x + 3, y2 = to.y + NODE.height / 2;
        const line = draw('path', { d: 'M' + x1 + ' ' + y1 + 'C' + (x1 + 24) + ' ' + y1 + ' ' + (x2 - 24) + ' ' + y2 + ' ' + x2 + ' ' + y2, class: kind });
        line.dataset.to = to.kind + ':' + to.id;
        svg.append(line);
      }
      const field = el('div', { class: 'field' }, svg);
      field.style.width = width + 'px';
      field.style.height = height + 'px';
      for (const node of nodes) {
        const button = el('button', { type: 'button', class: 'node', 'data-key': node.kind + ':' + node.id, title: node.id,
          onclick: () => chooseNode(node) }, el('b', {}, node.id, node.op && node.op !== node.id ? el('small', { text: '  ' + node.op }) : null), el('span'));
        button.style.left = node.x + 3 + 'px';
        button.style.top = node.y + 'px';
        button.style.width = NODE.width + 'px';
        button.style.height = NODE.height + 'px';
        field.append(button);
      }
      $('graph').replaceChildren(field);
      showGraph();
    }
    function chooseNode(node) {
      const isOn = view.filter[node.kind] === node.id;
      setFilter({ source: '', stage: '', [node.kind]: isOn ? '' : node.id });
      $('scope').value = isOn ? 'run:' : node.kind + ':' + node.id;
      showScope();
      showGraph();
    }
    function showGraph() {
      if (!run || !drawn) return;
      if (drawn.stages.length !== run.stages.length || drawn.sources.length !== run.sources.length) { drawn = null; loadGraph(); return; }
      const facts = new Map();
      for (const one of run.sources) facts.set('source:' + one.id, { busy: run.state === 'active' && !one.done,
        words: count(one.ended) + (one.total === null ? ' of ?' : ' of ' + count(one.total)) + (one.failed ? ' · ✕ ' + count(one.failed) : '') });
      for (const one of run.stages) {
        const parts = [];
        if (one.running) parts.push('▸ ' + count(one.running));
        if (one.retrying) parts.push('↻ ' + count(one.retrying));
        parts.push('✓ ' + count(one.ok));
        if (one.filtered) parts.push('– ' + count(one.filtered));
        if (one.failed) parts.push('✕ ' + count(one.failed));
        facts.set('stage:' + one.id, { busy: one.running > 0, words: parts.join(' · ') });
      }
      for (const button of $('graph').querySelectorAll('.node')) {
        const key = button.dataset.key, fact = facts.get(key), cut = key.indexOf(':');
        if (!fact) continue;
        say(button.lastChild, fact.words);
        flag(button, 'data-busy', fact.busy ? '' : null);
        flag(button, 'data-held', run.held.includes(key) ? '' : null);
        flag(button, 'aria-pressed', view.filter[key.slice(0, cut)] === key.slice(cut + 1));
        flag(button, 'aria-label', key.replace(':', ' ') + ', ' + fact.words + (run.held.includes(key) ? ', paused' : ''));
      }
      for (const line of $('graph').querySelectorAll('path')) {
        const fact = facts.get(line.dataset.to);
        line.classList.toggle('busy', Boolean(fact && fact.busy));
      }
    }

    """#

  static let panels = #"""
    function chart(node, values, words) {
      const shown = values.length > 1 ? values : [0, ...values, 0];
      const most = Math.max(...shown, 1), step = 300 / (shown.length - 1);
      const line = shown.map((value, at) => (at ? 'L' : 'M') + (at * step).toFixed(1) + ' ' + (58 - value / most * 54).toFixed(1)).join('');
      if (!node.firstChild) node.append(draw('path', { class: 'area' }), draw('path', { class: 'top' }));
      node.firstChild.setAttribute('d', line + 'L300 60L0 60Z');
      node.lastChild.setAttribute('d', line);
      flag(node, 'aria-label', words(most));
    }
    function showCharts() {
      const through = run.throughput, isOver = run.state === 'done';
      const mean = (total, unit) => run.ms > 0 ? unit(total / run.ms * 1000) : '';
      chart($('chartbytes'), through.bytes, most => 'bytes a second over the last ' + through.bytes.length + ' seconds, at most ' + bytes(most));
      chart($('chartitems'), through.items, most => 'items a second over the last ' + through.items.length + ' seconds, at most ' + count(most));
      say($('nowbytes'), isOver ? bytes(run.bytes_in) + ' in all' : bytes(run.bytes_per_s) + '/s');
      const ended = run.items.ok + run.items.failed + run.items.filtered + run.items.cancelled;
      say($('nowitems'), isOver ? mean(ended, rate => rate.toFixed(1) + '/s') : run.items_per_s.toFixed(1) + '/s');
    }
    function showFailures() {
      const mark = JSON.stringify(run.failures);
      if (showFailures.mark === mark) return;
      showFailures.mark = mark;
      const list = run.failures.map(one => el('button', { type: 'button', class: 'failure',
        onclick: () => setFilter({ state: '', code: one.code, host: '', source: '', stage: '' }) },
        el('b', { text: count(one.n) + ' ×' }), el('span', { text: one.code + (one.host ? ' at ' + one.host : '') }), el('small', { text: one.message })));
      // Where there is little room, what has nothing to say is not there.
      $('failbox').classList.toggle('calm', list.length === 0);
      $('failures').replaceChildren(...(list.length ? list : [el('p', { class: 'soft', text: 'None.' })]));
    }
    function showNotes() {
      const mark = run.notes.length ? run.notes[run.notes.length - 1].time + run.notes.length : '';
      if (showNotes.mark === mark) return;
      showNotes.mark = mark;
      $('notes').replaceChildren(...run.notes.slice().reverse().map(note => el('li', { 'data-level': note.level },
        el('time', { datetime: note.time, text: new Date(note.time).toLocaleTimeString([], { hour12: false }) }), el('span', { text: note.text }))));
    }
    const VERBS = ['start', 'pause', 'resume', 'drain', 'cancel'];
    const titled = verb => verb[0].toUpperCase() + verb.slice(1);
    function showVerbs() {
      if (!$('verbs').firstChild) $('verbs').replaceChildren(...VERBS.map(verb => el('button', { type: 'button', 'data-verb': verb, text: titled(verb),
        class: verb === 'cancel' ? 'strong' : '', onclick: () => { if (verb === 'cancel') gesture('escape'); else ask(verb); } })));
      // What the table of moves does not allow is not offered.
      for (const button of $('verbs').children) {
        button.hidden = !run.moves.includes(button.dataset.verb);
        if (button.dataset.verb === 'start') say(button, run.state === 'idle' ? 'Start' : 'Start again');
      }
      const held = run.held;
      $('heldline').hidden = held.length === 0;
      say($('heldline'), held.length ? 'Held back: ' + held.map(one => one.replace(':', ' ')).join(', ') : '');
    }
    const LIMITS = { run: ['connections', 'bandwidth', 'concurrency', 'rate', 'interval'], stage: ['concurrency', 'interval', 'rate'],
      host: ['connections', 'rate', 'interval'], source: [], item: [] };
    const SAMPLES = { connections: '4', bandwidth: '50MB/s', concurrency: '4', rate: '5/s', interval: '2s' };
    function showScope() {
      const hosts = run.hosts;
      const list = ['run:', ...run.sources.map(one => 'source:' + one.id), ...run.stages.map(one => 'stage:' + one.id), ...hosts.map(one => 'host:' + one)];
      const mark = list.join('\n'), select = $('scope'), chosen = select.value || 'run:';
      if (select.mark !== mark) {
        select.mark = mark;
        select.replaceChildren(...list.map(value => el('option', { value, text: value === 'run:' ? 'the run' : value.replace(':', ' ') })));
        select.value = list.includes(chosen) ? chosen : 'run:';
      }
      const kind = select.value.slice(0, select.value.indexOf(':')), limits = LIMITS[kind] || [];
      if ($('limit').mark !== kind) {
        $('limit').mark = kind;
        $('limit').replaceChildren(...limits.map(value => el('option', { value, text: value })));
        $('value').placeholder = SAMPLES[$('limit').value] || '';
      }
      const isOver = run.state === 'done' || run.state === 'idle';
      for (const node of [$('limit'), $('value'), $('set')]) node.disabled = isOver || limits.length === 0;
      if (!$('scopeverbs').firstChild) $('scopeverbs').replaceChildren(...['pause', 'resume', 'drain', 'cancel'].map(verb =>
        el('button', { type: 'button', 'data-verb': verb, text: titled(verb), onclick: () => {
          if ($('scope').value === 'run:' && verb === 'cancel') gesture('escape'); else ask(verb, scope()); } })));
      for (const button of $('scopeverbs').children) {
        const verb = button.dataset.verb, key = select.value;
        button.disabled = key === 'run:' ? !run.moves.includes(verb) : isOver || (verb === 'resume' && !run.held.includes(key))
          || (verb === 'pause' && run.held.includes(key));
      }
    }
    function scope() {
      const value = $('scope').value, cut = value.indexOf(':');
      return value === 'run:' ? null : { [value.slice(0, cut)]: value.slice(cut + 1) };
    }
    function startPanels() {
      addEventListener('resize', () => { if (drawn) drawGraph(); });
      if (matchMedia('(max-width: 70rem)').matches) for (const id of ['steer', 'saidbox']) $(id).open = false;
      $('scope').addEventListener('change', showScope);
      $('limit').addEventListener('change', () => { $('value').placeholder = SAMPLES[$('limit').value] || ''; });
      const send = () => { if ($('value').value.trim()) ask('set', scope(), { key: $('limit').value, value: $('value').value.trim() }); };
      $('set').addEventListener('click', send);
      $('value').addEventListener('keydown', event => { if (event.key === 'Enter') send(); });
    }

    """#

  static let start = #"""
    function show(message) {
      const again = run && (run.epoch !== message.run.epoch || run.run !== message.run.run);
      run = message.run;
      say($('name'), run.name || run.manifest || 'imgflow');
      const percent = run.ratio === null || run.state === 'idle' ? '' : Math.floor(run.ratio * 100) + ' % ';
      const title = percent + WORDS[run.shown] + ' · ' + (run.name || run.manifest || 'imgflow');
      if (document.title !== title) document.title = title;
      say($('runid'), run.run);
      showRing(); showVerbs(); showCharts(); showFailures(); showNotes(); showScope(); showFilters();
      if (again || !drawn) loadGraph(); else showGraph();
      if (again) { view.total = 0; refresh(true); } else takeTiles(message.tiles);
      freshSheet(message.tiles);
      if (run.warning) lost(run.warning);
    }
    function follow() {
      const source = new EventSource('/api/live');
      const hear = event => { lost(''); show(JSON.parse(event.data)); };
      source.addEventListener('beat', hear);
      source.addEventListener('whole', hear);
      source.addEventListener('error', () => {
        if (run && run.state === 'done') {
          lost('The run is over and its program has ended. `imgflow page last` shows it again.');
          source.close();
        } else {
          lost('The run does not answer; trying again.');
          if (source.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
        }
      });
    }
    startRing(); startItems(); startSheet(); startPanels();
    follow();
    """#
}
