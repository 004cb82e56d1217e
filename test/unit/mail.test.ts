import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import type { AlertFact } from '../../src/findings/kinds/index.ts';
import { drawnPictures } from '../../src/sinks/drawn-pictures.ts';
import { mailOf } from '../../src/sinks/kinds/email.ts';
import { previewOf, type SinkSettings } from '../../src/sinks/kinds/index.ts';
import { mailHtml, maxHtml } from '../../src/sinks/mail-html.ts';
import type { OutgoingMessage } from '../../src/sinks/message.ts';
import { entryOf, exampleFacts, exampleForecast, examplePicture, messageOf } from '../support/example-alerts.ts';

const noLog = { warn: () => undefined };
const email: SinkSettings = {
  ...{ type: 'email', host: 'smtp.example.com', port: 587, tls: 'starttls', user: undefined, password: undefined },
  ...{ from: 'costbook@example.com', to: ['finops@example.com'], allowPrivateNetwork: false },
};
const hostile = `<img src=x onerror=alert(1)>"'&</title></style><script>x</script>\u202e\u2066\u0000 https://x.example `;
const budget = exampleFacts['budget'] as AlertFact & { kind: 'budget' };

function hostileMessage(name: string): OutgoingMessage {
  const driver = { account: name, workspace: name, resourceType: name, resourceName: name, cost: '1.000000000000' };
  const entry = entryOf({ ...budget, key: name, budget: name, gaps: [name], drivers: [driver] });
  return {
    ...messageOf(entry),
    origin: { project: name, host: name, dashboard: 'https://costs.example.com' },
    pictures: [{ key: name, picture: examplePicture(name) }],
  };
}

async function parsed(message: OutgoingMessage) {
  const bytes = await mailOf(message, 'a@example.com', ['b@example.com'], await drawnPictures(message, noLog));
  return { bytes, mail: await PostalMime.parse(bytes) };
}

describe('a mail', () => {
  test.each([hostile, hostile.repeat(100), 'שלום', '分析'])(
    'with the name %j has it as text only, in subject, HTML and alternative text',
    async (name) => {
      const { mail } = await parsed(hostileMessage(name));
      const { html = '', text = '', subject = '' } = mail;
      // Every tag is one of our own, with our own attributes.
      expect(html).not.toMatch(/<(script|iframe|object|link|base|form|svg)\b/i);
      const images = html.match(/<img[^>]*>/g) ?? [];
      expect(images).toHaveLength(1);
      expect(images[0]?.replace(/"[^"]*"/g, '""')).toBe('<img src="" width="" height="" alt="" style="">');
      expect(html.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=/i);
      for (const shown of [html, text, subject])
        expect(shown.replace(/[\r\n]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      // The only address that it opens is that of the dashboard.
      const addresses = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address = '']) => address);
      expect(addresses.filter((address) => !/^(cid:|https:\/\/costs\.example\.com\/)/.test(address))).toEqual([]);
      expect(html.replaceAll('https://costs.example.com', '')).not.toMatch(/https?:\/\/(?!www\.w3\.org\/1999\/xhtml)/);
      expect(subject.length).toBeLessThanOrEqual(160);
    },
  );

  test('has at most 300 kB and counts the alerts that it does not show, whatever it is about', async () => {
    const facts = Array.from({ length: 2000 }, (_, index): AlertFact => {
      const drivers = Array.from({ length: 20 }, () => budget.drivers[0]).flatMap((driver) => driver ?? []);
      return { ...budget, key: `budget/${index}`, budget: `${index} ${'x'.repeat(10_000)}`, drivers };
    });
    const pictures = facts.slice(0, 5).map(({ key }) => ({ key, picture: examplePicture() }));
    const { bytes, mail } = await parsed({ ...messageOf(...facts.map((fact) => entryOf(fact))), pictures });
    expect(bytes.length).toBeLessThanOrEqual(300_000);
    expect(mail.attachments.length).toBeGreaterThan(0);
    expect(mail.html?.length).toBeLessThan(maxHtml + 10_000);
    const shown = mail.html?.match(/<h1 /g)?.length ?? 0;
    expect(shown).toBeGreaterThan(3);
    expect(mail.html).toContain(`and ${2000 - shown} more; `);
  });

  test('leads with the amount and what to do, before the picture and the details', async () => {
    const pictures = [{ key: exampleForecast.key, picture: examplePicture() }];
    const { mail } = await parsed({ ...messageOf(entryOf(exampleForecast)), pictures });
    const html = mail.html ?? '';
    const order = ['6,012.35 USD expected', 'save about 1,012 USD', '<img', 'Largest costs'].map((words) =>
      html.indexOf(words, html.indexOf('<h1')),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
  });

  test('has the same bytes each time, so that a repeat is recognized', async () => {
    const message = hostileMessage('box');
    expect((await parsed(message)).bytes.equals((await parsed(message)).bytes)).toBe(true);
  });

  test('about a failed night has no picture, and about several alerts has a card for each', async () => {
    const { mail } = await parsed(messageOf(...Object.values(exampleFacts).map((fact) => entryOf(fact))));
    expect(mail.attachments).toEqual([]);
    expect(mail.html?.match(/<h1 /g)).toHaveLength(Object.keys(exampleFacts).length);
  });
});

describe('a preview', () => {
  const message = hostileMessage('box');

  test('of a mail is one file with its picture inside', async () => {
    const page = String(await previewOf(message, email, undefined, noLog));
    expect(page).toMatch(/<img src="data:image\/png;base64,iVBOR/);
    expect(page).not.toContain('cid:');
    expect(page).toContain(mailHtml(message, [], () => '').match(/<h1 [\s\S]*?<\/h1>/)?.[0]);
  });

  test('of a mail as eml is the mail', async () => {
    const mail = await PostalMime.parse((await previewOf(message, email, 'eml', noLog)) as Buffer);
    expect(mail).toMatchObject({ from: { address: 'costbook@example.com' }, to: [{ address: 'finops@example.com' }] });
    expect(mail.attachments).toHaveLength(1);
  });

  test.each(['webhook', 'bot'])('of Slack with a %s shows its text, and its picture only with a bot', async (kind) => {
    const isBot = kind === 'bot';
    const settings: SinkSettings = isBot
      ? {
          type: 'slack',
          botToken: 'xoxb-MARKED',
          channel: 'C01',
          apiUrl: 'https://slack.com/api',
          allowPrivateNetwork: false,
        }
      : { type: 'slack', url: 'https://hooks.slack.com/MARKED', allowPrivateNetwork: false };
    const page = String(await previewOf(hostileMessage(hostile), settings, undefined, noLog));
    expect(page).toContain('Open in the dashboard</a>');
    expect(page).not.toMatch(/<script|<img src=x|MARKED/);
    expect(page.includes('data:image/png')).toBe(isBot);
    const json = JSON.parse(String(await previewOf(message, settings, 'json', noLog)));
    expect(json.channel).toBe(isBot ? 'C01' : undefined);
  });

  test('of a webhook or the log is its JSON, and no page', async () => {
    const webhook: SinkSettings = { type: 'webhook', url: 'https://x', secret: 'MARKED', allowPrivateNetwork: false };
    expect(JSON.parse(String(await previewOf(message, webhook, undefined, noLog)))).toMatchObject({ version: 1 });
    expect(JSON.parse(String(await previewOf(message, { type: 'log' }, undefined, noLog)))).toHaveLength(1);
    await expect(previewOf(message, webhook, 'html', noLog)).rejects.toThrow('expected json');
  });
});
