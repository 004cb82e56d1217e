// Adds hovering, zooming and clicking to charts that the server has drawn already. Without this file every page still works.
(() => {
  const own = document.currentScript;
  // The dashboard may be below a path of its address.
  const root = new URL('..', own.src).href;
  const below = (page) => (page.startsWith('/') ? root + page.slice(1) : page);
  const drawings = [...document.querySelectorAll('[data-chart]')];
  const style = getComputedStyle(document.documentElement);

  // Replaces the page's color variables by their present values.
  function colored(value) {
    if (typeof value === 'string') {
      const found = /^var\((--[a-z0-9-]+)\)$/.exec(value);
      return found ? style.getPropertyValue(found[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map(colored);
    if (value && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, colored(part)]));
    return value;
  }

  /** An exact number with thousands separators, USD with cents: `1,234.500001`. Words stay as they are. */
  function exact(text, unit) {
    if (!/^-?\d+(\.\d+)?$/.test(text)) return text;
    const [whole, fraction = ''] = text.split('.');
    const digits = fraction.replace(/0+$/, '').padEnd(/^USD/.test(unit) ? 2 : 0, '0');
    return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${digits === '' ? '' : `.${digits}`}`;
  }

  const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const small = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });
  /** A number of a chart without exact texts: a small one, such as a price, keeps four digits. */
  const shownNumber = (number) => (number === 0 || Math.abs(number) >= 1 ? cents : small).format(number);

  /** One line for each series with a value: its name and its exact amount, which no axis can show. */
  function tooltipOf(points, { texts, totals, unit, names, pages }) {
    const known = new Set();
    const place = points.find(({ seriesId }) => texts[seriesId])?.dataIndex;
    const plain = (name) => name.replace(/[{|}]/g, ' ');
    const order = Object.keys(texts);
    const sorted = [...points].sort((a, b) => order.indexOf(a.seriesId) - order.indexOf(b.seriesId));
    const lines = sorted.flatMap(({ seriesId, seriesName, dataIndex, marker, data }) => {
      if (seriesId === 'marks') return [`▼ ${plain(data.name)}`];
      const text = texts[seriesId]?.[dataIndex];
      // The incomplete end of a line is a series of its own.
      const id = seriesId.replace(/-open$/, '');
      if (!text || known.has(id)) return [];
      known.add(id);
      return `${marker}${plain(seriesName)}: ${exact(text, unit)}`;
    });
    const total = totals?.[place];
    const ends = [...(total ? [`Total: ${exact(total, unit)}`] : []), ...(pages?.[place] ? ['Click for details'] : [])];
    const head = plain(names?.[place] ?? points[0].axisValueLabel);
    return [unit ? `${head}, ${unit}` : head, ...lines, ...ends].join('\n');
  }

  function draw(place) {
    const option = colored(JSON.parse(document.getElementById(place.dataset.chart).textContent));
    const actions = place.dataset.actions ? JSON.parse(document.getElementById(place.dataset.actions).textContent) : {};
    const height = Number(place.dataset.height);
    const live = document.createElement('div');
    live.style.height = `${height}px`;
    live.style.width = '100%';
    live.setAttribute('role', 'img');
    live.setAttribute('aria-label', place.dataset.text ?? place.querySelector('desc').textContent);
    place.dataset.text = live.getAttribute('aria-label');
    place.replaceChildren(live);
    const chart = echarts.init(live, null, { renderer: 'canvas' });
    option.tooltip = {
      ...option.tooltip,
      valueFormatter: (amount) => (amount === null || amount === undefined ? '–' : shownNumber(amount)),
    };
    if (actions.texts) option.tooltip.formatter = (points) => tooltipOf(points, actions);
    if (actions.links || actions.pages) for (const series of option.series) series.cursor = 'pointer';
    chart.setOption(option);
    if (actions.buckets) addActions(place, live, chart, actions);
    else if (actions.pages) addPages(chart, actions, option.yAxis.type === 'category' ? 'yAxisIndex' : 'xAxisIndex');
    const observer = new ResizeObserver(() => chart.resize());
    observer.observe(live);
    return () => {
      observer.disconnect();
      chart.dispose();
    };
  }

  /** A click anywhere above a place on the axis opens its page; a mark may have one of its own. */
  function addPages(chart, { pages, markPages = {} }, axis) {
    const pageAt = ({ offsetX, offsetY }) => {
      if (!chart.containPixel({ gridIndex: 0 }, [offsetX, offsetY])) return undefined;
      return pages[chart.convertFromPixel({ [axis]: 0 }, axis === 'xAxisIndex' ? offsetX : offsetY)] ?? undefined;
    };
    let own;
    chart.on('click', ({ seriesId, dataIndex }) => {
      own = markPages[seriesId]?.[dataIndex];
    });
    chart.getZr().on('click', (event) => {
      const page = own ?? pageAt(event);
      own = undefined;
      if (page) location.href = below(page);
    });
    chart.getZr().on('mousemove', (event) => {
      if (pageAt(event)) chart.getZr().setCursorStyle('pointer');
    });
  }

  /** Opens a page with other values in its address. */
  function go(link, values) {
    const url = new URL(below(link), location.href);
    for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
    location.href = url.href;
  }

  /** Dragging over buckets zooms in, a click on a bar opens what it is made of, a click beside it opens its time. */
  function addActions(place, live, chart, { buckets, zoom, step, finer, links }) {
    const mark = document.createElement('div');
    mark.className = 'selection';
    mark.hidden = true;
    place.append(mark);
    let start;
    let wasDragged = false;
    const indexAt = (x) => Math.max(0, Math.min(buckets.length - 1, chart.convertFromPixel({ xAxisIndex: 0 }, x)));
    const isInside = ({ offsetX, offsetY }) => chart.containPixel({ gridIndex: 0 }, [offsetX, offsetY]);
    function stop() {
      start = undefined;
      mark.hidden = true;
      wasDragged = false;
    }
    chart.getZr().on('mousedown', (event) => {
      wasDragged = false;
      // A finger scrolls the page.
      if (!event.event.zrByTouch && isInside(event)) start = event.offsetX;
    });
    chart.getZr().on('mousemove', (event) => {
      if (start === undefined) return;
      const [left, right] = [start, event.offsetX].sort((a, b) => a - b);
      wasDragged = right - left > 6;
      mark.hidden = !wasDragged;
      mark.style.left = `${left}px`;
      mark.style.width = `${right - left}px`;
    });
    addEventListener('mouseup', (event) => {
      if (start === undefined) return;
      const from = start;
      start = undefined;
      mark.hidden = true;
      if (!wasDragged) return;
      const end = event.clientX - live.getBoundingClientRect().left;
      const [first, last] = [indexAt(Math.min(from, end)), indexAt(Math.max(from, end))];
      go(zoom, { from: buckets[first][0], to: buckets[last][1], step: last - first < 3 ? finer : step });
    });
    addEventListener('keydown', (event) => {
      if (event.key === 'Escape') stop();
    });
    chart.on('click', ({ seriesId = '', dataIndex }) => {
      if (wasDragged) return;
      const link = links[Number(/^series-(\d+)/.exec(seriesId)?.[1])];
      const [from, to] = buckets[dataIndex];
      go(link ?? zoom, { from, to, step: finer });
    });
    chart.getZr().on('click', (event) => {
      if (wasDragged || event.target || !isInside(event)) return;
      const [from, to] = buckets[indexAt(event.offsetX)];
      go(zoom, { from, to, step: finer });
    });
    const hint = document.createElement('p');
    hint.className = 'hint';
    hint.textContent = matchMedia('(pointer: fine)').matches
      ? 'Drag over the chart to zoom in. Click a bar to see what it is made of.'
      : 'Tap a bar to see what it is made of.';
    place.after(hint);
  }

  function start() {
    let drawn = drawings.map(draw);
    // The colors follow the system.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      for (const place of drawings) place.parentElement.querySelector('.hint')?.remove();
      for (const end of drawn) end();
      drawn = drawings.map(draw);
    });
  }

  if (drawings.length > 0 && own.dataset.charts) {
    const script = document.createElement('script');
    script.src = own.dataset.charts;
    script.onload = start;
    document.head.append(script);
  }

  // On a phone the page's menu is wider than the screen, and what is asked for comes before the form that changes it.
  const menu = document.querySelector('header nav');
  const here = menu?.querySelector('[aria-current]');
  if (here) menu.scrollLeft = here.offsetLeft - (menu.clientWidth - here.offsetWidth) / 2;
  if (matchMedia('(max-width: 600px)').matches)
    for (const controls of document.querySelectorAll('.controls')) controls.open = false;

  // A slider shows its value.
  for (const slider of document.querySelectorAll('[data-output]'))
    slider.addEventListener('input', () => {
      document.getElementById(slider.dataset.output).textContent = `${slider.value} days`;
    });

  // Views that a person keeps in this browser: each is a name and an address of this dashboard.
  function keptViews() {
    try {
      const known = JSON.parse(localStorage.getItem('views') ?? '[]');
      return known.filter(({ name, address }) => typeof name === 'string' && /^\/(?!\/)/.test(address));
    } catch {
      return [];
    }
  }

  function showKept() {
    const views = keptViews();
    const link = ({ name, address }) => Object.assign(document.createElement('a'), { textContent: name, href: below(address) });
    const item = (...parts) => {
      const line = document.createElement('li');
      line.append(...parts);
      return line;
    };
    document.getElementById('kept-menu')?.remove();
    if (views.length > 0) {
      const nav = document.createElement('nav');
      Object.assign(nav, { id: 'kept-menu', className: 'views', ariaLabel: 'Views of this browser' });
      nav.append(document.createElement('ul'));
      nav.firstChild.append(...views.map((view) => item(link(view))));
      document.querySelector('header')?.append(nav);
    }
    const kept = document.getElementById('kept');
    if (!kept) return;
    kept.hidden = views.length === 0;
    const rows = views.map((view) => {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Remove' });
      button.setAttribute('aria-label', `Remove ${view.name}`);
      button.addEventListener('click', () => keep(views.filter((each) => each !== view)));
      return item(link(view), ' ', button);
    });
    kept.querySelector('ul').replaceChildren(...rows);
  }

  function keep(views) {
    localStorage.setItem('views', JSON.stringify(views));
    showKept();
  }

  showKept();
  for (const button of document.querySelectorAll('[data-keep]')) {
    const { textContent: name, href } = document.getElementById(button.dataset.keep);
    button.hidden = false;
    const address = `/${href.slice(root.length)}`;
    button.addEventListener('click', () => keep([...keptViews().filter((each) => each.name !== name), { name, address }]));
  }
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).href);
      button.textContent = 'Copied';
    });
  }

  // Says so when a newer snapshot is published.
  const shown = document.documentElement.dataset.snapshot;
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch(`${root}api/snapshot`, { headers: { accept: 'application/json' } }).catch(() => undefined);
    if (!answer?.ok) return;
    const { version } = await answer.json();
    if (version !== shown) document.getElementById('newer').hidden = false;
  }, 60_000);
})();
