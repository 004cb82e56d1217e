import { messageOf, UsageError } from '../base/errors.ts';
import { ownPage } from './below-path.ts';
import { usualRanges } from './explore-question.ts';
import { html, type Markup, raw } from './markup.ts';
import { menu } from './menu.ts';
import type { Page, PageRequest } from './page.ts';
import { maxTitle, parseView } from './views.ts';

/** The parameter of an address that names what it shows. */
export const nameParameter = 'called';

/**
 * Names a page with its parameters. The name stands in the address, which can be sent or kept in the browser; a file for the
 * project gives it to everybody. The server writes neither.
 */
export async function sharePage({ query }: PageRequest): Promise<Page> {
  const asked = new URLSearchParams(query);
  const take = (name: string) => {
    const value = asked.get(name) ?? '';
    asked.delete(name);
    return value;
  };
  const [of, called, time] = [ownPage(take('of')).replace(/\?.*/s, ''), take(nameParameter), take('time')];
  // A form sends the fields that nobody filled in, too.
  for (const [name, value] of [...asked]) if (value === '') asked.delete(name, value);
  const shown = new URLSearchParams(asked);
  const range = Object.keys(ranges).find((name) => name === time);
  if (range !== undefined) {
    for (const name of ['from', 'to']) shown.delete(name);
    shown.set('range', range);
  }
  const title = called.trim().slice(0, maxTitle);
  return {
    ...{ path: undefined, title: 'Name and share a view' },
    body: html`<section><form class="filters" method="get" action="/share"><input type="hidden" name="of" value="${of}">${[
      ...asked,
    ].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Name <input name="${nameParameter}" value="${title}" maxlength="${maxTitle}" required autocomplete="off" placeholder="Production by team"></label>
${of === '/explore' ? timeChoice(range) : ''}<button>Name it</button></form>
<p class="empty">The view is ${of} with its parameters.</p></section>
${title === '' ? '' : waysToShare(of, title, shown)}
<section id="kept" hidden><h2>Kept in this browser</h2><ul class="plain"></ul></section>`,
  };
}

const ranges = usualRanges(0);

function timeChoice(range: string | undefined): Markup {
  return html`<label>Time <select name="time"><option value="">as it is shown now</option>${Object.entries(ranges).map(
    ([name, { words }]) =>
      html`<option value="${name}"${name === range ? raw(' selected') : ''}>${words}, moves on with the books</option>`,
  )}</select></label>
`;
}

function waysToShare(of: string, title: string, shown: URLSearchParams): Markup {
  const address = `${of}?${new URLSearchParams([...shown, [nameParameter, title]])}`;
  return html`<section><h2>Send it</h2><p><a id="shared" href="${address}">${title}</a>: this link has the name and everything that the page shows. People who open it see only what they may see.</p>
<p class="actions"><button type="button" data-copy="shared" hidden>Copy the link</button><button type="button" data-keep="shared" hidden>Keep it in this browser</button></p></section>
<section><h2>Give it to everybody</h2>${fileOf(of, title, shown)}</section>`;
}

/** The file of the view, or why there is none. */
function fileOf(of: string, title: string, shown: URLSearchParams): Markup {
  if (!menu.some(({ path }) => path === of))
    return html`<p class="empty">Files name pages of the menu only. Send the link above.</p>`;
  const file = `${fileName(title)}.yaml`;
  const text = viewText(of, title, shown);
  try {
    parseView({ text, file: `views/${file}` });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return html`<p class="state bad" role="alert">${messageOf(error)}</p>`;
  }
  return html`<p>The dashboard writes nothing. Save these lines as <code>views/${file}</code> in the folder of the project: then the menu of everybody lists the view, at <code>/views/${fileName(title)}</code>.</p>
<pre>${text}</pre><p class="actions"><a download="${file}" href="data:text/yaml;charset=utf-8,${encodeURIComponent(text)}">Download ${file}</a></p>`;
}

/** A view as its file has it. Texts of JSON are texts of YAML. */
export function viewText(page: string, title: string, parameters: URLSearchParams): string {
  const names = [...new Set(parameters.keys())];
  const lines = names.map((name) => {
    const values = parameters.getAll(name).map((value) => JSON.stringify(value));
    const key = /^[a-z_]+$/.test(name) ? name : JSON.stringify(name);
    return `  ${key}: ${values.length === 1 ? values[0] : `[${values.join(', ')}]`}\n`;
  });
  return `title: ${JSON.stringify(title)}\npage: ${page}\n${lines.length === 0 ? '' : `parameters:\n${lines.join('')}`}`;
}

function fileName(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name || 'view';
}
