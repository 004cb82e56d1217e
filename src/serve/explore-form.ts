import { windowBefore } from '../time/compared.ts';
import { dayMs, floorMonth } from '../time/time.ts';
import type { BooksView } from './books/index.ts';
import {
  type Choice,
  choiceWords,
  type Dimension,
  dimensionWords,
  encodeValue,
  isOverTime,
  partsOf,
  seriesDimensions,
  valueWords,
} from './dimensions.ts';
import {
  type Asked,
  addressOf,
  comparisons,
  maxTop,
  shapes,
  shownTime,
  shownWindow,
  usualRanges,
} from './explore-question.ts';
import { measures, steps } from './explored.ts';
import { named } from './layout.ts';
import { html, type Markup, raw } from './markup.ts';

/** Filters that the form always shows as lists of their own. */
const listed = ['workspace', 'resource_type', 'billing_dimension', 'account'] as const;
/** Regions, owners and labels have lists, too, until these have so many values; the others are added one by one. */
const maxOffered = 600;
/** More values of one dimension are not read. */
const maxKnown = 500;

/** What a viewer can choose from: only what is in the costs that they see. */
export interface Choices {
  /** Values by dimension. */
  readonly values: ReadonlyMap<Dimension, readonly string[]>;
}

export async function readChoices(view: BooksView): Promise<Choices> {
  const [names, fields] = await Promise.all([view.rows('dimension_values'), view.rows('field_values')]);
  const values = new Map<Dimension, string[]>();
  const add = (dimension: Dimension, value: string) => values.set(dimension, [...(values.get(dimension) ?? []), value]);
  for (const row of names) add(String(row['dimension']), String(row['value']));
  for (const row of fields) {
    const [field, name] = [String(row['field']), String(row['name'])];
    add(name === '' ? field : `${field}:${name}`, String(row['value']));
  }
  return { values };
}

const shapeWords = { bars: 'bars', lines: 'lines', cumulative: 'running total', table: 'table' } as const;
const measureWords = { cost: 'cost, USD', usage: 'usage', price: 'USD per unit' } as const;
const compareWords = { before: 'the period before', month: 'a month before', none: 'nothing' } as const;

/** The question as a form, its range as links, and its filters, each with a link that removes it. */
export function exploreForm(asked: Asked, choices: Choices): Markup {
  const { step, groupBy, shape, top, measure, compare, against, filters } = asked;
  const { from, to } = shownWindow(asked);
  const { usual, further } = offeredOf(asked, choices);
  const others = dimensionsOf(groupBy, choices).filter((each) => !usual.includes(each) && !further.includes(each));
  const choice = (dimension: Dimension) => choiceOf(dimension, choices.values.get(dimension) ?? [], filters[dimension]);
  const time = (name: string, value: string) =>
    html`<input type="${value.length <= 10 ? 'date' : 'datetime-local'}" step="${value.length <= 10 ? '1' : '3600'}" name="${name}" value="${value}">`;
  return html`${rangeLinks(asked)}
<details class="controls" open><summary>Group, filter, compare</summary><form class="filters" method="get" action="/explore">
<label>From ${time('from', from)}</label>
<label>To ${time('to', to)}</label>
<label>By <select name="step">${options(steps, step)}</select></label>
<label>Group by <select name="group">${groupOptions(asked, choices)}</select></label>
<label>Measure <select name="measure">${measures.map((each) => option(each, measureWords[each], each === measure))}</select></label>
<label>As <select name="shape">${shapes.map((each) => option(each, shapeWords[each], each === shape))}</select></label>
<label>Compare with <select name="compare">${comparisons.map((each) => option(each, compareWords[each], each === compare))}</select></label>
<label>or with the period since ${time('against', against === undefined ? '' : shownTime(against))}</label>
<label>Groups <input type="number" name="top" value="${top}" min="1" max="${maxTop}" size="3"></label>
<div class="break"></div>
${usual.map(choice)}
<details class="choice"><summary>More filters</summary><div class="filters">${further.map(choice)}
<label>Also filter by <select name="where">${option('', 'nothing else', true)}${others.map((each) => option(each, dimensionWords(each), false))}</select></label>
<label>with the value <input name="is" list="values" placeholder="~ for none" size="14" autocomplete="off"></label></div></details>
<button>Show</button>
</form></details>
${valueList(others, choices)}
${chips(asked)}`;
}

function option(value: string, shown: string, isChosen: boolean): Markup {
  return html`<option value="${value}"${isChosen ? raw(' selected') : ''}>${shown}</option>`;
}

function options(values: readonly string[], chosen: string): Markup[] {
  return values.map((each) => option(each, each, each === chosen));
}

/** The filters with a list of their own: the usual and the chosen ones, and further ones that have few values. */
function offeredOf({ filters }: Asked, { values }: Choices): Record<'usual' | 'further', readonly Dimension[]> {
  let left = maxOffered;
  const few = [...values.keys()].filter((dimension) => {
    if (!isOverTime(dimension)) return false;
    left -= values.get(dimension)?.length ?? 0;
    return left >= 0;
  });
  const named = listed.filter((each) => each !== 'account' || (values.get(each)?.length ?? 0) > 1);
  const isLabel = (dimension: Dimension) => partsOf(dimension)[0] === 'label';
  const owned = few.filter((each) => !isLabel(each)).reverse();
  const usual = [...new Set([...named, 'resource_name', ...owned, ...Object.keys(filters)])];
  return { usual, further: few.filter((each) => isLabel(each) && !usual.includes(each)) };
}

/** The values of a dimension to choose from, or to exclude; a name that is not in the list can be typed. */
function choiceOf(dimension: Dimension, known: readonly string[], chosen: Choice | undefined): Markup {
  const { values: picked, isExcept } = chosen ?? { values: [], isExcept: false };
  const all = isOverTime(dimension) ? ['', ...known] : known;
  const values = [...picked.filter((value) => !all.includes(value)), ...all];
  const check = (name: string, value: string, words: string, isChecked: boolean) =>
    html`<label><input type="checkbox" name="${name}" value="${value}"${isChecked ? raw(' checked') : ''}> ${words}</label>`;
  const isWhole = known.length > 0 && known.length < maxKnown;
  return html`<details class="choice"><summary>${dimensionWords(dimension)}: <b>${chosen === undefined ? 'all' : choiceWords(dimension, chosen)}</b></summary><fieldset><legend class="spoken">${dimensionWords(dimension)}</legend>
${check('except', dimension, 'all but the chosen ones', isExcept)}
${values.map((value) => check(dimension, encodeValue(value), valueWords(dimension, value), picked.includes(value)))}
${isWhole ? '' : html`<label>Another name <input name="${dimension}" size="20" autocomplete="off"></label>`}</fieldset></details>`;
}

/** Every dimension that the viewer's costs have, and the chosen one. */
function dimensionsOf(chosen: Dimension, { values }: Choices): readonly Dimension[] {
  const known = [...values.keys()];
  const owners = known.filter((each) => each.startsWith('owner:'));
  const all = [
    ...seriesDimensions,
    ...known.filter((each) => each === 'region'),
    ...(owners.length > 0 ? ['owner', ...owners] : []),
    ...known.filter((each) => each.startsWith('label:')),
  ];
  return all.includes(chosen) ? all : [...all, chosen];
}

function groupOptions({ groupBy }: Asked, choices: Choices): Markup[] {
  const dimensions = dimensionsOf(groupBy, choices);
  const kindOf = (dimension: Dimension) =>
    partsOf(dimension)[0] === 'label' ? 'Labels' : partsOf(dimension)[0] === 'owner' ? 'Owner' : 'Costs';
  return ['Costs', 'Owner', 'Labels'].flatMap((kind) => {
    const own = dimensions.filter((dimension) => kindOf(dimension) === kind);
    if (own.length === 0) return [];
    return [
      html`<optgroup label="${kind}">${own.map((each) => option(each, dimensionWords(each), each === groupBy))}</optgroup>`,
    ];
  });
}

/** Values for the filters that have no list of their own. */
const maxListed = 300;

function valueList(dimensions: readonly Dimension[], { values }: Choices): Markup {
  const entries = dimensions.flatMap((each) => (values.get(each) ?? []).map((value) => [value, each] as const));
  return html`<datalist id="values">${entries
    .slice(0, maxListed)
    .map(
      ([value, dimension]) =>
        html`<option value="${encodeValue(value)}">${dimensionWords(dimension)}: ${named(value, '')}</option>`,
    )}</datalist>`;
}

/** Each filter in words, with a link that removes it. */
function chips(asked: Asked): Markup {
  const entries = Object.entries(asked.filters);
  if (entries.length === 0) return html``;
  return html`<ul class="chips" aria-label="Filters">${entries.map(([dimension, choice]) => {
    const { [dimension]: _, ...others } = asked.filters;
    const words = `${dimensionWords(dimension)}: ${choiceWords(dimension, choice)}`;
    return html`<li>${words} <a href="${addressOf(asked, { filters: others })}" aria-label="Remove the filter ${words}">✕</a></li>`;
  })}</ul>`;
}

/** The range before: as many months, or the same length. */
function earlierOf({ from, to }: Asked): Pick<Asked, 'from' | 'to'> {
  const before = floorMonth(from) === from ? windowBefore({ start: from, end: to }) : undefined;
  return before === undefined ? { from: from - (to - from), to: from } : { from: before.start, to: before.end };
}

/** Usual ranges, and the ranges before and after this one. */
function rangeLinks(asked: Asked): Markup {
  const { through, from, to } = asked;
  const length = to - from;
  const later = Math.min(through, to + length);
  const wider = {
    from: from - Math.ceil(length / 2 / dayMs) * dayMs,
    to: Math.min(through, to + Math.ceil(length / 2 / dayMs) * dayMs),
  };
  return html`<nav class="ranges" aria-label="Range">${Object.values(usualRanges(through)).map(
    ({ words, ...window }) =>
      html`<a href="${addressOf(asked, window)}"${window.from === from && window.to === to ? raw(' aria-current="true"') : ''}>${words}</a> `,
  )}<span class="gap"></span><a href="${addressOf(asked, earlierOf(asked))}">Earlier</a> ${
    to < through ? html`<a href="${addressOf(asked, { from: later - length, to: later })}">Later</a> ` : ''
  }<a href="${addressOf(asked, wider)}">Zoom out</a></nav>`;
}
