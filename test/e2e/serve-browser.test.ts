import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeFindings, openTab, overflowOf } from '../support/browser.ts';
import { dashboardProject, type Served, serve } from '../support/dashboard.ts';

const query = 'select resource_name, sum(cost) as cost from costs group by all order by cost desc';
const paths = [
  ...['/', '/explore', '/explore?group=resource_name&top=20&shape=cumulative', '/months', '/health'],
  ...['/budgets', '/anomalies', '/allocation', '/resource/sandbox/north/box?range=30d', '/reports'],
  ...['/reports/cost_by_workspace?month=2026-10', '/sql', `/sql?${new URLSearchParams({ q: query })}`],
];

let served: Served;
beforeAll(async () => {
  served = await serve(await dashboardProject());
});

describe.each([
  { width: 1440, isDark: false },
  { width: 390, isDark: true },
])('the dashboard in a browser, $width pixels wide, dark: $isDark', (look) => {
  test.each(paths)('%s has no console error, foreign request, overflow or accessibility finding', async (path) => {
    const tab = await openTab(served.url, look);
    await tab.page.goto(`${served.url}${path}`);
    const charts = await tab.page.locator('[data-chart]').count();
    // Each chart that the server drew is drawn again, so that it can be pointed at.
    await expect.poll(() => tab.page.locator('[data-chart] canvas').count()).toBe(charts);
    expect(await axeFindings(tab)).toEqual([]);
    expect(await overflowOf(tab)).toBeLessThanOrEqual(0);
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });
});

describe('the dashboard in a browser', () => {
  test('drills down by a click, and its address is its state', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/explore`);
    await tab.page.getByRole('link', { name: 'north', exact: true }).click();
    await tab.page.waitForURL(/workspace=north/);
    expect(await tab.page.getByLabel('Group by').inputValue()).toBe('resource_name');
    const shown = await tab.page.locator('table').textContent();
    await tab.page.goto(tab.page.url());
    expect(await tab.page.locator('table').textContent()).toBe(shown);
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

  test('runs a query that a person types, and remembers it in that browser', async () => {
    const tab = await openTab(served.url, { width: 1440 });
    await tab.page.goto(`${served.url}/sql`);
    await tab.page.getByLabel('One SELECT').fill(query);
    await tab.page.keyboard.press('Control+Enter');
    await tab.page.waitForURL(/q=select/);
    expect(await tab.page.locator('tbody tr').count()).toBeGreaterThan(3);
    await tab.page.goto(`${served.url}/sql`);
    expect(await tab.page.locator('#history a').allTextContents()).toEqual([query]);
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
