import { expect, test } from 'vitest';
import { previewOf, type SinkSettings } from '../../src/sinks/kinds/index.ts';
import { axeFindings, openTab, overflowOf } from '../support/browser.ts';
import { entryOf, exampleFacts, exampleForecast, examplePicture, messageOf } from '../support/example-alerts.ts';

const facts = [exampleForecast, ...Object.values(exampleFacts)];
const message = {
  ...messageOf(...facts.map((fact) => entryOf(fact))),
  origin: { project: 'acme', host: 'finops-01', dashboard: 'https://costs.example.com' },
  pictures: [{ key: exampleForecast.key, picture: examplePicture() }],
};
const email = { type: 'email', from: 'a@example.com', to: ['b@example.com'] } as unknown as SinkSettings;
const bot = { type: 'slack', botToken: 'xoxb-1', channel: 'C01', apiUrl: 'x', allowPrivateNetwork: false } as const;

test.each([
  ['mail', email],
  ['Slack', bot],
] as const)(
  'the preview of %s fits phones and desks, light and dark, and opens nothing else',
  async (_, settings) => {
    const page = String(await previewOf(message, settings, 'html', { warn: () => undefined }));
    for (const { width, isDark } of [
      { width: 390, isDark: true },
      { width: 700, isDark: false },
    ]) {
      const tab = await openTab('about:', { width, isDark });
      await tab.page.setContent(page);
      expect(await axeFindings(tab)).toEqual([]);
      expect(await overflowOf(tab)).toBeLessThanOrEqual(0);
      expect(await tab.page.evaluate('document.images[0].naturalWidth')).toBe(1000);
      expect(tab.complaints).toEqual([]);
      await tab.context.close();
    }
  },
  60_000,
);
