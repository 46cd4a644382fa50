/// The grid of items, of which only what is seen is in the page; and all about one of them.
extension PageScript {
  static let items = #"""
    const BLOCK = 100, GAP = 10, STATES = ['queued', 'running', 'waiting', 'ok', 'filtered', 'failed', 'cancelled'];
    const GLYPHS = { queued: '·', running: '▸', waiting: '↻', ok: '✓', filtered: '–', failed: '✕', cancelled: '⊘' };
    // The browser's own limit of an element's height; a longer list is scrolled through in larger steps.
    const TALLEST = 8000000;
    const view = { filter: { state: '', source: '', stage: '', host: '', code: '', q: '' }, blocks: new Map(), total: 0,
      asked: new Set(), stale: new Set(), tiles: [], frame: 0, fetching: 0, serial: 0, due: 0 };
    const isFiltered = () => Object.values(view.filter).some(value => value !== '');
    function layout() {
      const width = $('grid').clientWidth || 300;
      const least = width < 500 ? 140 : 168;
      const columns = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
      const size = (width - GAP * (columns - 1)) / columns;
      return { columns, size, height: Math.round(size * .72) + 52 };
    }
    function repaint() { if (!view.frame) view.frame = requestAnimationFrame(paint); }
    function paint() {
      view.frame = 0;
      const { columns, size, height } = layout();
      const rows = Math.ceil(view.total / columns);
      const tall = rows * (height + GAP), shown = Math.min(tall, TALLEST);
      const grid = $('grid');
      const px = Math.max(0, shown - GAP) + 'px';
      if (grid.style.height !== px) grid.style.height = px;
      const top = -grid.getBoundingClientRect().top, screen = window.innerHeight;
      // Beyond the tallest list a pixel of scrolling stands for several of the list.
      const scale = shown < tall ? (tall - screen) / Math.max(1, shown - screen) : 1;
      const from = Math.max(0, top) * scale;
      const first = Math.max(0, Math.floor(from / (height + GAP)) - 2);
      const last = Math.min(rows, Math.ceil((from + screen) / (height + GAP)) + 2);
      const wanted = Math.max(0, Math.min(view.total, last * columns) - first * columns);
      while (view.tiles.length < wanted) view.tiles.push(makeTile());
      for (let at = 0; at < view.tiles.length; at += 1) {
        const node = view.tiles[at];
        if (at >= wanted) { if (node.parentNode) node.remove(); continue; }
        const place = first * columns + at;
        // Each place keeps its element while it is seen, so that scrolling moves nothing but the new rows.
        const tile = view.tiles[place % Math.max(wanted, 1)];
        if (!tile.parentNode) grid.append(tile);
        const row = Math.floor(place / columns), column = place % columns;
        const y = row * (height + GAP) - (from - from / scale);
        const move = 'translate(' + column * (size + GAP) + 'px,' + y + 'px)';
        if (tile.style.transform !== move) tile.style.transform = move;
        if (tile.style.width !== size + 'px') { tile.style.width = size + 'px'; }
        if (tile.style.height !== height + 'px') tile.style.height = height + 'px';
        fillTile(tile, place);
      }
      for (let block = Math.floor(first * columns / BLOCK); block * BLOCK < Math.min(view.total, last * columns); block += 1)
        if (!view.blocks.has(block) || view.stale.has(block)) load(block);
      const nothing = view.total === 0;
      $('empty').hidden = !nothing;
      if (nothing) say($('empty'), isFiltered() ? 'No item is like that.' : !run || run.state === 'idle'
        ? 'Nothing has begun.' : run.state === 'done' ? 'The run had no items.' : 'Waiting for the first item.');
      say($('count'), count(view.total) + (isFiltered() ? ' found' : ''));
    }
    function makeTile() {
      const tile = el('button', { class: 'tile', type: 'button' },
        el('span', { class: 'view' }, el('span', { class: 'glyph', 'aria-hidden': 'true' }),
          el('img', { alt: '', decoding: 'async' }), el('span', { class: 'progress' }, el('i'))),
        el('span', { class: 'name' }), el('span', { class: 'state' }));
      tile.parts = { glyph: tile.querySelector('.glyph'), img: tile.querySelector('img'), bar: tile.querySelector('i'),
        name: tile.querySelector('.name'), state: tile.querySelector('.state') };
      tile.parts.img.addEventListener('error', () => tile.parts.img.removeAttribute('src'));
      tile.addEventListener('click', () => { if (tile.item) openSheet(tile.item.item); });
      return tile;
    }
    // A key that is only a digest says nothing to people: its address does.
    function label(item) {
      const key = item.item.slice(item.item.indexOf('/') + 1);
      if (!item.url || !/^[0-9a-f]{16}$/.test(key)) return key;
      const last = item.url.split(/[?#]/)[0].split('/').filter(Boolean).pop() || item.url;
      try { return decodeURIComponent(last); } catch (problem) { return last; }
    }
    function stateWords(item) {
      const tries = item.attempts > 1 ? ', try ' + item.attempts : '';
      switch (item.state) {
        case 'running': return 'running' + (item.ratio === null ? (item.bytes ? ' ' + bytes(item.bytes) : '')
          : ' ' + Math.floor(item.ratio * 100) + ' %') + (item.stage ? ' · ' + item.stage : '') + tries;
        case 'waiting': return 'waiting' + tries + (item.code ? ' · ' + item.code : '');
        case 'ok': return 'ok' + (item.cached ? ', from before' : '') + (item.bytes ? ' · ' + bytes(item.bytes) : '');
        case 'failed': return 'failed · ' + (item.code || '');
        default: return item.state;
      }
    }
    function fillTile(tile, place) {
      const block = view.blocks.get(Math.floor(place / BLOCK));
      const item = block && block[place % BLOCK];
      if (tile.item === item && tile.place === place) return;
      tile.place = place;
      tile.item = item;
      flag(tile, 'data-empty', item ? null : '');
      const parts = tile.parts;
      if (!item) {
        flag(tile, 'data-state', null); say(parts.name, '…'); say(parts.state, ''); say(parts.glyph, '');
        parts.img.removeAttribute('src'); flag(tile, 'aria-label', 'loading'); return;
      }
      flag(tile, 'data-state', item.state);
      flag(tile, 'data-unknown', item.ratio === null ? '' : null);
      say(parts.name, label(item));
      const words = stateWords(item);
      say(parts.state, GLYPHS[item.state] + ' ' + words);
      say(parts.glyph, GLYPHS[item.state]);
      flag(tile, 'aria-label', label(item) + ', ' + words);
      flag(tile, 'title', item.item);
      parts.bar.style.transform = item.ratio === null ? '' : 'scaleX(' + item.ratio + ')';
      const picture = item.picture ? '/thumb/' + path(item.item) + '?' + run.epoch : null;
      if (picture) { if (parts.img.getAttribute('src') !== picture) parts.img.setAttribute('src', picture); }
      else if (parts.img.hasAttribute('src')) parts.img.removeAttribute('src');
    }
    async function load(block) {
      if (view.asked.has(block) || view.fetching >= 3) return;
      view.asked.add(block);
      view.stale.delete(block);
      view.fetching += 1;
      const serial = view.serial;
      const query = new URLSearchParams({ offset: block * BLOCK, limit: BLOCK });
      for (const [name, value] of Object.entries(view.filter)) if (value !== '') query.set(name, value);
      try {
        const found = await get('/api/items?' + query);
        if (serial !== view.serial) return;
        view.blocks.delete(block);
        view.blocks.set(block, found.items);
        view.total = found.total;
        while (view.blocks.size > 24) view.blocks.delete(view.blocks.keys().next().value);
        repaint();
      } catch (problem) {
        // Who does not answer is not asked again with every frame.
        if (serial === view.serial) { view.stale.add(block); setTimeout(repaint, 1000); }
      } finally {
        if (serial === view.serial) { view.fetching -= 1; view.asked.delete(block); }
      }
    }
    function refresh(all) {
      view.serial += 1;
      view.fetching = 0;
      view.asked.clear();
      if (all) { view.blocks.clear(); view.stale.clear(); } else for (const block of view.blocks.keys()) view.stale.add(block);
      if (view.total === 0 || all) load(0);
      repaint();
    }
    // What has changed, as the server tells it: the tiles themselves, or null where there are too many.
    function takeTiles(tiles) {
      if (isFiltered() || tiles === null) {
        if (!isFiltered()) view.total = run.listed;
        if (tiles !== null && tiles.length === 0) return;
        const now = performance.now();
        if (now - view.due < 900 && !(tiles === null && !isFiltered() && view.blocks.size === 0)) {
          clearTimeout(view.later);
          view.later = setTimeout(() => takeTiles(null), 950);
          return;
        }
        view.due = now;
        for (const block of view.blocks.keys()) view.stale.add(block);
        if (view.blocks.size === 0) load(0);
        repaint();
        return;
      }
      view.total = run.listed;
      for (const tile of tiles) {
        const number = Math.floor(tile.n / BLOCK), block = view.blocks.get(number);
        // An answer that is under way may be older than this.
        if (view.asked.has(number)) view.stale.add(number);
        if (!block) continue;
        if (tile.n % BLOCK <= block.length) block[tile.n % BLOCK] = tile; else view.stale.add(number);
      }
      repaint();
    }
    function setFilter(change) {
      Object.assign(view.filter, change);
      view.total = 0;
      refresh(true);
      showFilters();
      const tools = $('items').getBoundingClientRect().top;
      if (tools < 0) window.scrollTo({ top: window.scrollY + tools });
    }
    function options(select, name, values, all) {
      const list = ['', ...values];
      if (view.filter[name] && !list.includes(view.filter[name])) list.push(view.filter[name]);
      const mark = list.join('\n');
      if (select.mark !== mark) {
        select.mark = mark;
        select.replaceChildren(...list.map(value => el('option', { value, text: value || all })));
      }
      select.value = view.filter[name];
      select.hidden = values.length < (name === 'code' ? 1 : 2) && !view.filter[name];
    }
    function showFilters() {
      if (!run) return;
      const items = run.items;
      if (!$('states').firstChild) $('states').replaceChildren(...['', ...STATES].map(state =>
        el('button', { type: 'button', 'data-state': state, onclick: () => setFilter({ state: view.filter.state === state ? '' : state }) })));
      for (const chip of $('states').children) {
        const state = chip.dataset.state;
        const number = state === '' ? run.listed : state === 'queued' ? null : items[state];
        chip.hidden = state !== '' && !number && view.filter.state !== state;
        say(chip, state === '' ? 'all ' + count(number) : GLYPHS[state] + ' ' + state + ' ' + count(number || 0));
        flag(chip, 'aria-pressed', view.filter.state === state);
      }
      const codes = [...new Set(run.failures.map(one => one.code))];
      options($('bysource'), 'source', run.sources.map(one => one.id), 'every source');
      options($('bystage'), 'stage', run.stages.map(one => one.id), 'every stage');
      options($('byhost'), 'host', run.hosts, 'every host');
      options($('bycode'), 'code', codes, 'every error');
      $('clear').hidden = !isFiltered();
    }
    function startItems() {
      addEventListener('scroll', repaint, { passive: true });
      addEventListener('resize', repaint);
      new ResizeObserver(repaint).observe($('grid'));
      let timer = 0;
      $('search').addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => setFilter({ q: $('search').value.trim() }), 180);
      });
      for (const name of ['source', 'stage', 'host', 'code'])
        $('by' + name).addEventListener('change', () => setFilter({ [name]: $('by' + name).value }));
      $('clear').addEventListener('click', () => {
        clearTimeout(timer);
        $('search').value = '';
        setFilter({ state: '', source: '', stage: '', host: '', code: '', q: '' });
      });
      $('grid').addEventListener('keydown', event => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: layout().columns, ArrowUp: -layout().columns }[event.key];
        const tile = event.target.closest('.tile');
        if (!step || !tile) return;
        const next = view.tiles.find(one => one.parentNode && one.place === tile.place + step);
        if (next) { next.focus(); event.preventDefault(); }
      });
    }

    """#

  static let sheet = #"""
    // The item that was asked for last; the sheet shows it, or will once its facts are here.
    let open = null;
    async function openSheet(name) {
      open = name;
      const item = await look(name);
      if (!item) return;
      showSheet(item);
      if (!$('sheet').open) $('sheet').showModal();
    }
    // What is seen anew changes a sheet that is there; one that was closed meanwhile stays closed.
    async function renewSheet() {
      const item = await look(open);
      if (item && $('sheet').open) showSheet(item);
    }
    // All about an item; nothing where another one was asked for meanwhile.
    async function look(name) {
      try {
        const item = await get('/api/item/' + path(name));
        return open === name ? item : null;
      } catch (problem) { return null; }
    }
    function story(event) {
      const data = event.data;
      switch (event.type) {
        case 'item.start': return data.why ? 'began: ' + data.why : 'began';
        case 'item.progress': return bytes(data.bytes) + (data.size ? ' of ' + bytes(data.size) : '') + (event.stage ? ' in ' + event.stage : '');
        case 'item.retry': return 'try ' + data.attempt + ' failed: ' + data.error.code + ', ' + data.error.message + '; the next in ' + time(data.delay_ms);
        case 'item.error': return (event.stage ? event.stage + ' failed: ' : 'failed: ') + data.error.code + ', ' + data.error.message;
        case 'output': return 'wrote ' + data.path + ', ' + bytes(data.bytes);
        case 'item.end': return 'ended: ' + data.status + (data.cached ? ', done by an earlier run' : '') + (data.shared ? ', shared with an equal item' : '')
          + (data.final_url ? ', redirected to ' + data.final_url : '') + (data.attempts > 1 ? ', ' + data.attempts + ' tries' : '') + (data.reason ? ': ' + data.reason : '');
        default: return event.type;
      }
    }
    function showSheet(item) {
      say($('sheettitle'), label(item));
      const ended = item.history.filter(event => event.type === 'item.end').pop();
      const failed = (ended && ended.data.error) || item.history.filter(event => event.type === 'item.error' || event.type === 'item.retry')
        .map(event => event.data.error).pop();
      const isOver = ['ok', 'filtered', 'failed', 'cancelled'].includes(item.state);
      const body = [];
      if (item.picture) body.push(el('img', { src: '/thumb/' + path(item.item) + '?' + run.epoch, alt: 'The picture of ' + item.item }));
      const facts = [['Name', item.item], ['State', GLYPHS[item.state] + ' ' + item.state + (item.cached ? ', from before' : '')], ['Source', item.source + ', number ' + item.index]];
      if (item.attempts > 1) facts.push(['Tries', String(item.attempts)]);
      const dl = el('dl', { class: 'facts' });
      for (const [name, value] of facts) dl.append(el('dt', { text: name }), el('dd', { text: value }));
      if (item.url) {
        const isWeb = /^https?:\/\//.test(item.url);
        dl.append(el('dt', { text: 'URL' }), el('dd', {}, isWeb
          ? el('a', { href: item.url, target: '_blank', rel: 'noopener noreferrer', text: item.url }) : el('code', { text: item.url })));
      }
      body.push(dl);
      if (failed && item.state !== 'ok') body.push(el('div', { class: 'trouble' }, el('b', { text: failed.code }),
        el('p', { text: failed.message }), item.advice ? el('p', { text: item.advice }) : null,
        el('p', { class: 'soft' }, el('code', { text: 'imgflow explain ' + failed.code }))));
      if (!isOver && run.state !== 'done') body.push(el('div', { class: 'bar' }, ...['pause', 'resume', 'cancel'].map(verb =>
        el('button', { type: 'button', text: verb[0].toUpperCase() + verb.slice(1), onclick: async () => {
          await ask(verb, { item: item.item }); renewSheet(); } }))));
      const stages = ended ? ended.data.stages || [] : [];
      if (stages.length) {
        const most = Math.max(...stages.map(one => one.ms), 1);
        const spans = el('div', { class: 'spans' });
        for (const one of stages) {
          const line = el('i');
          line.style.width = Math.max(1, one.ms / most * 100) + '%';
          spans.append(el('span', { text: one.stage }), el('span', {}, line), el('span', { text: one.cached ? 'from before' : time(one.ms) }));
        }
        body.push(el('section', {}, el('h3', { text: 'Stages' }), spans));
      }
      const outputs = ended ? ended.data.outputs || [] : [];
      if (outputs.length) {
        const list = el('ul', { class: 'story' });
        for (const one of outputs) list.append(el('li', {}, el('time', { text: bytes(one.bytes) }), el('span', {},
          el('code', { text: one.path }), one.width ? ' ' + one.width + ' × ' + one.height : '')));
        body.push(el('section', {}, el('h3', { text: outputs.length === 1 ? 'File' : 'Files' }), list));
      }
      const lines = item.history.filter((event, at) => event.type !== 'item.progress' || at === item.history.length - 1);
      const list = el('ol', { class: 'story' });
      for (const event of lines) list.append(el('li', {}, el('time', { text: time(event.ms) }), el('span', { text: story(event) })));
      body.push(el('section', {}, el('h3', { text: 'History' }), list));
      $('sheetbody').replaceChildren(...body);
    }
    function startSheet() {
      $('closesheet').addEventListener('click', () => $('sheet').close());
      $('sheet').addEventListener('click', event => { if (event.target === $('sheet')) $('sheet').close(); });
    }
    // An item that is looked at is kept up to date.
    function freshSheet(tiles) {
      if ($('sheet').open && (tiles === null || tiles.some(tile => tile.item === open))) renewSheet();
    }

    """#
}
