// Adds hovering to charts that the server has drawn already. Without this file every page still works.
(() => {
  const own = document.currentScript;
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

  function draw(place) {
    const option = colored(JSON.parse(document.getElementById(place.dataset.chart).textContent));
    const height = Number(place.dataset.height);
    const live = document.createElement('div');
    live.style.height = `${height}px`;
    live.style.width = '100%';
    const still = place.firstElementChild;
    live.setAttribute('role', 'img');
    live.setAttribute('aria-label', still.querySelector('desc').textContent);
    place.replaceChildren(live);
    const chart = echarts.init(live, null, { renderer: 'canvas' });
    const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    option.tooltip = {
      ...option.tooltip,
      valueFormatter: (amount) => (amount === null || amount === undefined ? '–' : format.format(amount)),
    };
    chart.setOption(option);
    chart.on('click', ({ name }) => {
      const target = place.dataset.drill;
      if (target) location.href = target.replace('%BUCKET%', encodeURIComponent(name));
    });
    new ResizeObserver(() => chart.resize()).observe(live);
  }

  function start() {
    for (const place of drawings) draw(place);
  }

  if (drawings.length > 0 && own.dataset.charts) {
    const script = document.createElement('script');
    script.src = own.dataset.charts;
    script.onload = start;
    document.head.append(script);
  }

  // A slider shows its value.
  for (const slider of document.querySelectorAll('[data-output]'))
    slider.addEventListener('input', () => {
      document.getElementById(slider.dataset.output).textContent = `${slider.value} days`;
    });

  // The last queries, in this browser only; Ctrl-Enter runs a query.
  const typed = document.getElementById('q');
  const history = document.getElementById('history');
  if (typed && history) {
    typed.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) typed.form.requestSubmit();
    });
    try {
      const known = JSON.parse(localStorage.getItem('queries') ?? '[]').filter((each) => each !== typed.value);
      const queries = (typed.value.trim() === '' ? known : [typed.value, ...known]).slice(0, 30);
      localStorage.setItem('queries', JSON.stringify(queries));
      for (const query of queries) {
        const link = document.createElement('a');
        link.href = `/sql?${new URLSearchParams({ q: query })}`;
        link.textContent = query.replace(/\s+/g, ' ');
        history.querySelector('ul').appendChild(document.createElement('li')).append(link);
      }
      history.hidden = queries.length === 0;
    } catch {
      // The browser stores nothing, or something else: there is no history.
    }
  }

  // Says so when a newer snapshot is published.
  const shown = document.documentElement.dataset.snapshot;
  setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch('/api/snapshot', { headers: { accept: 'application/json' } }).catch(() => undefined);
    if (!answer?.ok) return;
    const { version } = await answer.json();
    if (version !== shown) document.getElementById('newer').hidden = false;
  }, 60_000);
})();
