// Second tier: Opens each page of the dashboard in a real browser; e2e/serve asks over HTTP.

import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeFindings, openTab, overflowOf } from '../support/browser.ts';
import { dashboardBooks, dashboardProject, type Served, serve } from '../support/dashboard.ts';
import { runCli } from '../support/project.ts';

const query = 'select resource_name, sum(cost) as cost from costs group by all order by cost desc';
const paths = [
  ...[
    '/',
    '/?changes=owner&alerts=all',
    '/explore',
    '/explore?group=resource_name&top=20&shape=cumulative',
    '/months',
    '/months/2026-10',
    '/health',
  ],
  `/explore?workspace=north&workspace=~&except=workspace&region=~&resource_name=${'box'.repeat(30)}`,
  ...['/explore?shape=table&group=label:service', '/explore?measure=price&shape=lines&step=hour&workspace=north'],
  ...[
    '/budgets',
    '/anomalies',
    '/savings',
    '/allocation',
    '/resource/sandbox/north/box?range=30d',
    '/resource?q=BOX',
    '/reports',
  ],
  ...['/reports/cost_by_workspace?month=2026-10', '/sql', `/sql?${new URLSearchParams({ q: query })}`],
];

let dir: string;
let served: Served;
beforeAll(async () => {
  dir = await dashboardProject();
  served = await serve(dir);
});

describe.each([1440, 390])('the dashboard in a browser, %d pixels wide', (width) => {
  test.each(paths)('%s has no console error, foreign request, overflow or accessibility finding', async (path) => {
    const tab = await openTab(served.url, { width });
    await tab.page.goto(`${served.url}${path}`);
    await tab.page.evaluate('document.querySelectorAll(".controls, .choice").forEach((each) => { each.open = true })');
    const charts = await tab.page.locator('[data-chart]').count();
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.page.emulateMedia({ colorScheme });
      // Each chart that the server drew is drawn again, so that it can be pointed at.
      await expect.poll(() => tab.page.locator('[data-chart] canvas').count()).toBe(charts);
      expect(await axeFindings(tab), colorScheme).toEqual([]);
      expect(await overflowOf(tab), colorScheme).toBeLessThanOrEqual(0);
    }
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });
});

describe('the dashboard in a browser', () => {
  test('on a phone, breaks the lines of a long problem, and shows all values of a filter side by side', async () => {
    const costs = Array.from({ length: 40 }, (_, index) => ({ workspace: `workspace-of-a-team-${index}`, cost: '1' }));
    const { url } = await serve(await dashboardProject(dashboardBooks({ costs })));
    const tab = await openTab(url, { width: 390 });
    await tab.page.goto(`${url}/explore?from=${'never '.repeat(40)}&group=${'x'.repeat(200)}`);
    expect(await tab.page.locator('p.state.bad').count()).toBeGreaterThan(0);
    await tab.page.evaluate('document.querySelectorAll(".controls, .choice").forEach((each) => { each.open = true })');
    expect(await overflowOf(tab)).toBeLessThanOrEqual(0);
    const wider = '[...document.querySelectorAll("fieldset")].map((each) => each.scrollWidth - each.clientWidth)';
    expect(Math.max(...((await tab.page.evaluate(wider)) as number[]))).toBe(0);
    await tab.context.close();
  });

  test('1024 pixels wide, hides no amount of a table on its first page', async () => {
    const made = { budget: 'everything', scope: '{}', amount: '6012345', exceeds_on: '2026-10-05' };
    const period = { period: '2026-10', period_start: '2026-10-01', period_end: '2026-11-01' };
    const amounts = { forecast: '33333333.25', low: '30000000.5', high: '40000000.5' };
    const project = await dashboardProject(
      dashboardBooks({ forecasts: [{ ...made, ...period, ...amounts, complete_through: '2026-10-04 12:00:00' }] }),
    );
    await mkdir(join(project, 'jobs'), { recursive: true });
    await writeFile(
      join(project, 'jobs', 'budgets.yaml'),
      'budgets: [{ name: everything, period: monthly, amount: 6012345 USD }]\n',
    );
    const { url } = await serve(project);
    const tab = await openTab(url, { width: 1024 });
    await tab.page.goto(`${url}/`);
    expect(await tab.page.getByText('33,333,333.25').last().isVisible()).toBe(true);
    const table = tab.page.locator('section', { hasText: 'Budgets, most urgent first' }).locator('.wide').last();
    const hidden = await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    expect(hidden).toBe(0);
    await tab.context.close();
  });

  test('drills down by a click, and its address is its state', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/explore`);
    await tab.page.locator('table').getByRole('link', { name: 'north', exact: true }).first().click();
    await tab.page.waitForURL(/workspace=north/);
    expect(await tab.page.getByLabel('Group by').inputValue()).toBe('resource_name');
    const shown = await tab.page.locator('table').first().textContent();
    await tab.page.goto(tab.page.url());
    expect(await tab.page.locator('table').first().textContent()).toBe(shown);
    await tab.context.close();
  });

  test('zooms to the days over which a person drags, and opens a bar by a click', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/explore?from=2026-09-20&to=2026-10-03&compare=none`);
    const box = await tab.page.locator('[data-chart] canvas').boundingBox();
    if (box === null) throw new Error('the chart has no size');
    // 14 days from the first label to the right edge of the chart.
    const day = (number: number) => box.x + 40 + ((box.width - 52) / 14) * (number + 0.5);
    await tab.page.mouse.move(day(2), box.y + 40);
    await tab.page.mouse.down();
    await tab.page.mouse.move(day(4), box.y + 60, { steps: 5 });
    expect(await tab.page.locator('.selection').isVisible()).toBe(true);
    await tab.page.mouse.move(day(7), box.y + 60, { steps: 5 });
    await tab.page.mouse.up();
    await tab.page.waitForURL(/from=2026-09-22&to=2026-09-27/);
    expect(await tab.page.getByLabel('From').inputValue()).toBe('2026-09-22');

    await tab.page.goto(`${served.url}/explore?from=2026-09-26&to=2026-09-26&compare=none&step=day`);
    await tab.page.locator('[data-chart] canvas').waitFor();
    await tab.page.waitForTimeout(200);
    // The only bar is in the middle; its lower part is the workspace that costs most.
    await tab.page.mouse.click(box.x + 40 + (box.width - 52) / 2, box.y + box.height - 60);
    await tab.page.waitForURL(/workspace=south/);
    expect(tab.page.url()).toContain('step=hour');
    expect(await tab.page.getByLabel('Group by').inputValue()).toBe('resource_name');
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test.each([
    { path: '/', place: [0.12, 0.5], target: /explore\?from=2026-10-0[1-4]&to=2026-10-0[1-4]&step=hour/ },
    { path: '/months', place: [0.75, 0.8], target: /months\/2026-10/ },
    { path: '/allocation', place: [0.3, 0.3], target: /explore\?from=2026-10-01&to=2026-10-04.*owner%3Ateam=/ },
    { path: `/sql?${new URLSearchParams({ q: query })}`, place: [0.3, 0.08], target: /resource\/\*\/\*\/secret-box/ },
  ])('opens what a mark of a chart of $path stands for', async ({ path, place: [x = 0, y = 0], target }) => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}${path}`);
    const canvas = tab.page.locator('[data-chart] canvas').first();
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('the chart has no size');
    await canvas.click({ position: { x: box.width * x, y: box.height * y } });
    await tab.page.waitForURL(target);
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test('has the exact amount of each point of a chart', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/explore?from=2026-10-01&to=2026-10-03&workspace=north&compare=none`);
    const { texts, unit } = JSON.parse((await tab.page.locator('#explored-actions').textContent()) ?? '{}');
    expect(unit).toBe('USD');
    expect(texts['series-0']).toEqual(['3.000000000024', '9.000000000024', '3.000000000024']);
    await tab.context.close();
  });

  test('completes the names of views, columns and functions with the keyboard alone', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/sql`);
    const editor = tab.page.getByLabel('One SELECT');
    await editor.focus();
    await tab.page.keyboard.type('select works');
    await tab.page.keyboard.press('Escape');
    await tab.page.keyboard.press('Control+a');
    await tab.page.keyboard.type('select * from costs_mon');
    const options = tab.page.getByRole('option');
    expect(await options.first().textContent()).toContain('costs_monthly');
    expect(await editor.getAttribute('aria-activedescendant')).toBe('suggestion-0');
    expect(await axeFindings(tab)).toEqual([]);
    await tab.page.keyboard.press('Tab');
    expect(await editor.inputValue()).toBe('select * from costs_monthly');
    expect(await options.count()).toBe(0);
    await tab.page.keyboard.type(' where resource_n');
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.keyboard.press('ArrowUp');
    await tab.page.keyboard.press('Enter');
    expect(await editor.inputValue()).toBe('select * from costs_monthly where resource_name');
    await editor.fill('select date_tr');
    await tab.page.keyboard.press('Control+Space');
    await tab.page.keyboard.press('Tab');
    expect(await editor.inputValue()).toBe('select date_trunc()');
    // With the list closed, Tab leaves the editor.
    await tab.page.keyboard.press('Tab');
    expect(await tab.page.locator(':focus').textContent()).toBe('Run');
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test.each(paths)('loads %s with at most 400 kB', async (path) => {
    const tab = await openTab(served.url, { width: 1440 });
    const session = await tab.context.newCDPSession(tab.page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await tab.page.goto(`${served.url}${path}`, { waitUntil: 'networkidle' });
    expect(bytes).toBeGreaterThan(1000);
    expect(bytes).toBeLessThanOrEqual(400_000);
    await tab.context.close();
  });

  test('opens a day and a group with the keyboard alone', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/explore?from=2026-10-01&to=2026-10-03&compare=none`);
    const details = tab.page.getByText('Numbers by day');
    await details.focus();
    await tab.page.keyboard.press('Enter');
    const amounts = await tab.page
      .locator('details table tbody tr')
      .first()
      .locator('data')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('value')));
    const { stdout } = await runCli([
      ...['sql', '--json', '--dir', dir],
      "select sum(cost) as cost from costs where bucket_start >= '2026-10-01' and bucket_start < '2026-10-02' group by grouping sets ((), (workspace)) order by cost desc",
    ]);
    expect(amounts).toEqual((JSON.parse(stdout) as { rows: { cost: string }[] }).rows.map(({ cost }) => cost));
    const link = tab.page.getByRole('link', { name: '2026-10-02', exact: true });
    await link.focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForURL(/from=2026-10-02&to=2026-10-02&step=hour/);
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test('answers every control of Explore, and downloads, without JavaScript', async () => {
    const tab = await openTab(served.url, { width: 390, hasJavaScript: false });
    await tab.page.goto(`${served.url}/explore`);
    await tab.page.getByLabel('Measure').selectOption('usage');
    await tab.page.locator('select[name=shape]').selectOption('table');
    await tab.page.getByLabel('Compare with').selectOption('none');
    await tab.page.getByLabel('From').fill('2026-10-01');
    await tab.page.locator('input[name=to]').fill('2026-10-02');
    await tab.page.getByText('More filters').click();
    await tab.page.getByLabel('Also filter by').selectOption('unit');
    await tab.page.getByLabel('with the value').fill('GB-seconds');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await tab.page.waitForURL(/where=unit/);
    expect(await tab.page.locator('caption').first().textContent()).toBe('By day, GB-seconds');
    expect(await tab.page.locator('table').first().locator('tbody tr').count()).toBe(2);
    await tab.page.getByRole('link', { name: /Remove the filter Unit/ }).click();
    await tab.page.getByRole('link', { name: '7 days' }).click();
    await tab.page.waitForURL(/from=2026-09-28/);
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.page.getByRole('link', { name: 'XLSX' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('costs-by-workspace-2026-09-28-2026-10-04.xlsx');
    await tab.context.close();
  });

  test('downloads the file of a report as its manifest names it', async () => {
    await runCli(['report', 'cost_by_workspace', '--param', 'month=2026-10', '--format', 'csv', '--dir', dir]);
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/reports/cost_by_workspace`);
    expect(await axeFindings(tab)).toEqual([]);
    const row = tab.page.getByRole('row').filter({ hasText: '.csv' });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), row.getByRole('link').click()]);
    const sha256 = createHash('sha256')
      .update(await readFile(await download.path()))
      .digest('hex');
    expect(await row.locator('code').getAttribute('title')).toBe(sha256);
    await tab.context.close();
  });

  test('shows every chart and can be used without JavaScript', async () => {
    const tab = await openTab(served.url, { width: 1440, hasJavaScript: false });
    await tab.page.goto(`${served.url}/explore`);
    expect(await tab.page.locator('figure svg').isVisible()).toBe(true);
    await tab.page.getByLabel('Group by').selectOption('resource_name');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await tab.page.waitForURL(/group=resource_name/);
    expect(await tab.page.locator('table tbody tr').count()).toBeGreaterThan(3);
    await tab.context.close();
  });

  test('names a view and keeps it in that browser, and downloads the table of the page that is shown', async () => {
    const tab = await openTab(served.url, { width: 390 });
    await tab.page.goto(`${served.url}/explore?group=resource_name`);
    const csv = tab.page.getByRole('button', { name: 'CSV: By resource' });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), csv.click()]);
    expect(download.suggestedFilename()).toBe('by-resource.csv');
    await tab.page.getByRole('button', { name: 'Name and share this view' }).click();
    await tab.page.getByLabel('Name').fill('By <name>');
    await tab.page.getByRole('button', { name: 'Name it' }).click();
    await tab.page.getByRole('button', { name: 'Keep it in this browser' }).click();
    expect(await axeFindings(tab)).toEqual([]);
    await tab.page.goto(`${served.url}/changes`);
    expect(await axeFindings(tab)).toEqual([]);
    await tab.page.getByRole('link', { name: 'By <name>' }).click();
    expect(await tab.page.locator('h1').textContent()).toBe('By <name>');
    expect(tab.page.url()).toContain('group=resource_name');
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test('runs a query that a person types, and remembers it in that browser', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/sql`);
    await tab.page.getByLabel('One SELECT').fill(query);
    await tab.page.keyboard.press('Control+Enter');
    await tab.page.waitForURL(/q=select/);
    expect(await tab.page.locator('tbody tr').count()).toBeGreaterThan(3);
    await tab.page.goto(`${served.url}/sql`);
    expect(await tab.page.locator('#history a').allTextContents()).toEqual([query]);
    await tab.page.getByRole('button', { name: 'Forget them' }).click();
    await tab.page.reload();
    expect(await tab.page.locator('#history').isVisible()).toBe(false);
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  test('can be reached with the keyboard alone', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/`);
    await tab.page.keyboard.press('Tab');
    expect(await tab.page.locator(':focus').textContent()).toBe('Skip to content');
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.press('Tab');
    expect(await tab.page.locator(':focus').textContent()).toBe('Explore');
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForURL(/explore/);
    await tab.context.close();
  });

  test('lets a person sign in with a token', async () => {
    const dir = await dashboardProject();
    await writeFile(join(dir, 'costbook.yaml'), 'serve: { tokens: { me: { token: "$' + '{MY_TOKEN}" } } }\n');
    const own = await serve(dir, [], { MY_TOKEN: 'mine-0123456789abcdefghij' });
    const tab = await openTab(own.url, { width: 390 });
    await tab.page.goto(`${own.url}/`);
    expect(await axeFindings(tab)).toEqual([]);
    await tab.page.getByLabel('Access token').fill('mine-0123456789abcdefghij');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.waitForURL(`${own.url}/`);
    expect(await tab.page.locator('h1').textContent()).toBe('Overview');
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });
});
