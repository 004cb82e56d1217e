import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { afterFile } from './clean-up.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Promise<Browser> | undefined;

/** A real Chromium, which an npm package contains; started once per test file and ended with it. */
export function startBrowser(): Promise<Browser> {
  if (browser !== undefined) return browser;
  browser = chromium.executablePath().then((executablePath) =>
    // The package's own arguments are for functions in a cloud: one process, no web security.
    driver.launch({
      executablePath,
      // Names of this domain lead to this machine: pages at a name are less trusted than those of localhost.
      args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP *.test 127.0.0.1'],
      headless: true,
    }),
  );
  const started = browser;
  afterFile(async () => {
    browser = undefined;
    await (await started).close();
  });
  return started;
}

export interface Look {
  readonly width: number;
  readonly isDark?: boolean;
  readonly hasJavaScript?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A tab, and what it complained about: errors on its console, and requests to any other host than `base`. */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
}

export async function openTab(
  base: string,
  { width, isDark = false, hasJavaScript = true, headers = {} }: Look,
): Promise<Tab> {
  const context = await (await startBrowser()).newContext({
    viewport: { width, height: 900 },
    colorScheme: isDark ? 'dark' : 'light',
    javaScriptEnabled: hasJavaScript,
    extraHTTPHeaders: { ...headers },
    ignoreHTTPSErrors: true,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !url.startsWith('data:')) complaints.push(`request to ${url}`);
  });
  return { page, context, complaints };
}

/** What axe finds on the page as it is, one line each. */
export async function axeFindings(tab: Tab): Promise<string[]> {
  const session = await tab.context.newCDPSession(tab.page);
  // The page's own policy admits no foreign script, so axe is put in through the debugger.
  await session.send('Runtime.evaluate', { expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    expression:
      'axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" "))))',
    awaitPromise: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as string[];
}

/** How far the page is wider than its window, in pixels. */
export function overflowOf({ page }: Tab): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
