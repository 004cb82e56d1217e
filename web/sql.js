// Completes names while a person types a query, and remembers the last queries in this browser. Without this file the page
// still runs queries.
(() => {
  const root = new URL('..', document.currentScript.src).href;
  const typed = document.getElementById('q');
  const words = JSON.parse(document.getElementById('completions').textContent);
  const maxShown = 40;

  typed.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      typed.form.requestSubmit();
    }
  });

  // The list of suggestions, and what a screen reader says about it.
  const list = document.createElement('ul');
  list.id = 'suggestions';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  list.hidden = true;
  const spoken = document.createElement('p');
  spoken.className = 'spoken';
  spoken.setAttribute('role', 'status');
  const place = document.createElement('div');
  place.className = 'editor';
  typed.replaceWith(place);
  place.append(typed, list, spoken);
  typed.setAttribute('aria-autocomplete', 'list');
  typed.setAttribute('aria-controls', list.id);
  typed.setAttribute('aria-describedby', 'completion-help');
  document.getElementById('completion-help').hidden = false;

  let shown = [];
  let chosen = 0;
  let isChosen = false;

  /** The name before the caret: where it starts, what is typed of it, and the view before a dot. */
  function nameBefore() {
    const before = typed.value.slice(0, typed.selectionStart);
    const found = /(?:([a-z_]\w*)\.)?([a-z_]\w*)?$/i.exec(before);
    return { of: found[1], start: typed.selectionStart - (found[2] ?? '').length, text: (found[2] ?? '').toLowerCase(), before };
  }

  /** The views that the query names, by name and by alias. */
  function viewsNamed() {
    const named = new Map();
    for (const [, view, alias] of typed.value.matchAll(/\b(?:from|join)\s+([a-z_]\w*)(?:\s+(?:as\s+)?([a-z_]\w*))?/gi)) {
      named.set(view.toLowerCase(), view.toLowerCase());
      if (alias) named.set(alias.toLowerCase(), view.toLowerCase());
    }
    return named;
  }

  function candidates({ of, text, before }) {
    const named = viewsNamed();
    const used = new Set(named.values());
    const isOwn = (view) => (of === undefined ? used.has(view) : view === (named.get(of.toLowerCase()) ?? of.toLowerCase()));
    const columns = words.views.filter(({ name }) => isOwn(name)).flatMap(({ name, columns: own }) => own.map((each) => ({ ...each, kind: 'column', of: name })));
    if (of !== undefined) return columns;
    const views = words.views.map(({ name, about }) => ({ name, about, kind: 'view' }));
    // After "from" only a view makes sense.
    if (/\b(from|join)\s+\w*$/i.test(before)) return views;
    const others = words.views.filter(({ name }) => !used.has(name)).flatMap(({ name, columns: own }) => own.map((each) => ({ ...each, kind: 'column', of: name })));
    const functions = words.functions.map((each) => ({ ...each, kind: 'function' }));
    return [...columns, ...(text === '' ? [] : [...functions, ...views, ...others])];
  }

  function matching(asked) {
    const known = new Set();
    const all = candidates(asked).filter(({ name, kind }) => {
      const key = `${kind} ${name}`;
      if (known.has(key) || !name.includes(asked.text)) return false;
      known.add(key);
      return true;
    });
    const starting = all.filter(({ name }) => name.startsWith(asked.text));
    return [...starting, ...all.filter((each) => !starting.includes(each))].slice(0, maxShown);
  }

  function close() {
    list.hidden = true;
    shown = [];
    isChosen = false;
    typed.removeAttribute('aria-activedescendant');
  }

  function choose(index) {
    chosen = (index + shown.length) % shown.length;
    for (const [at, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(at === chosen));
    list.children[chosen].scrollIntoView({ block: 'nearest' });
    typed.setAttribute('aria-activedescendant', `suggestion-${chosen}`);
  }

  function open() {
    const asked = nameBefore();
    shown = matching(asked);
    if (shown.length === 0 || (shown.length === 1 && shown[0].name === asked.text)) return close();
    list.replaceChildren(
      ...shown.map(({ name, kind, of, about, parameters, type }, index) => {
        const item = document.createElement('li');
        item.id = `suggestion-${index}`;
        item.setAttribute('role', 'option');
        const code = document.createElement('code');
        code.textContent = kind === 'function' ? `${name}(${parameters})` : name;
        const note = document.createElement('span');
        note.textContent = [kind === 'column' ? `${type}, ${of}` : kind, about].filter(Boolean).join(' · ');
        item.append(code, ' ', note);
        item.addEventListener('pointerdown', (event) => {
          event.preventDefault(); // the text keeps the focus
          accept(index);
        });
        return item;
      }),
    );
    list.hidden = false;
    moveToCaret();
    choose(0);
    isChosen = false;
    spoken.textContent = `${shown.length} ${shown.length === 1 ? 'suggestion' : 'suggestions'}; first ${shown[0].name}`;
  }

  /** Puts the list below the line of the caret. */
  function moveToCaret() {
    const copy = document.createElement('div');
    const style = getComputedStyle(typed);
    for (const name of ['font', 'lineHeight', 'paddingTop', 'paddingLeft', 'paddingRight', 'borderTopWidth', 'letterSpacing'])
      copy.style[name] = style[name];
    Object.assign(copy.style, { position: 'absolute', visibility: 'hidden', whiteSpace: 'pre-wrap', overflowWrap: 'break-word', width: `${typed.clientWidth}px` });
    copy.textContent = typed.value.slice(0, nameBefore().start);
    const mark = document.createElement('span');
    mark.textContent = '\u200b';
    copy.append(mark);
    place.append(copy);
    const [left, top] = [mark.offsetLeft, mark.offsetTop + mark.offsetHeight - typed.scrollTop];
    copy.remove();
    list.style.top = `${Math.min(top + 2, typed.offsetHeight)}px`;
    list.style.left = `${Math.max(0, Math.min(left, typed.clientWidth - Math.min(380, typed.clientWidth)))}px`;
  }

  function accept(index) {
    const { name, kind } = shown[index];
    const { start } = nameBefore();
    const end = typed.selectionStart;
    typed.setRangeText(kind === 'function' ? `${name}()` : name, start, end, 'end');
    if (kind === 'function') typed.selectionStart = typed.selectionEnd = typed.selectionStart - 1;
    spoken.textContent = `${name} inserted`;
    close();
  }

  typed.addEventListener('input', (event) => {
    const asked = nameBefore();
    if (event.inputType?.startsWith('delete') || (asked.text.length < 2 && asked.of === undefined)) close();
    else open();
  });
  typed.addEventListener('keydown', (event) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      open();
      isChosen = !list.hidden;
      return;
    }
    if (list.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
      isChosen = true;
    } else if (event.key === 'Tab' && !event.shiftKey) {
      event.preventDefault();
      accept(chosen);
    } else if (event.key === 'Enter' && isChosen) {
      event.preventDefault();
      accept(chosen);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') close();
  });
  typed.addEventListener('blur', close);

  // The last queries, in this browser only.
  const history = document.getElementById('history');
  try {
    const known = JSON.parse(localStorage.getItem('queries') ?? '[]').filter((each) => each !== typed.value);
    const queries = (typed.value.trim() === '' ? known : [typed.value, ...known]).slice(0, 30);
    localStorage.setItem('queries', JSON.stringify(queries));
    for (const query of queries) {
      const link = document.createElement('a');
      link.href = `${root}sql?${new URLSearchParams({ q: query })}`;
      link.textContent = query.replace(/\s+/g, ' ');
      history.querySelector('ul').appendChild(document.createElement('li')).append(link);
    }
    history.hidden = queries.length === 0;
    history.querySelector('button').addEventListener('click', () => {
      localStorage.removeItem('queries');
      history.hidden = true;
      typed.focus();
    });
  } catch {
    // The browser stores nothing, or something else: there is no history.
  }
})();
