import type { Log } from '../../base/effects.ts';
import { UsageError } from '../../base/errors.ts';
import type { SinkSettings } from '../../config/index.ts';
import type { Call } from '../../platform/index.ts';
import { oneOf } from '../../text/choices.ts';
import { escapeMarkup } from '../../text/markup.ts';
import { type OutgoingMessage, subjectOf } from '../message.ts';
import { agentCall } from './agent.ts';
import { type DrawnPicture, drawnPictures } from './drawn-pictures.ts';
import { mailOf } from './email.ts';
import { jobCall } from './job.ts';
import { logLines } from './log.ts';
import { mailHtml } from './mail-html.ts';
import { modelCall } from './model.ts';
import { pagerDutyEvents } from './pagerduty.ts';
import { postOf } from './slack-bot.ts';
import { type SlackBlock, slackMessage } from './slack-message.ts';
import { teamsMessage } from './teams.ts';
import { webhookBody } from './webhook.ts';

/** html: a page that opens by itself. json: what the sink receives. eml: the whole mail. */
export const previewFormats = ['html', 'json', 'eml'] as const;
export type PreviewFormat = (typeof previewFormats)[number];

/** The formats of each type of sink, the usual one first. */
const formatsOf: Readonly<Record<SinkSettings['type'], readonly PreviewFormat[]>> = {
  email: ['html', 'eml'],
  slack: ['html', 'json'],
  webhook: ['json'],
  teams: ['json'],
  pagerduty: ['json'],
  log: ['json'],
  agent: ['json'],
  job: ['json'],
  model: ['json'],
};

/**
 * What a sink would receive, without sending it. Throws UsageError if the type of sink does not have the format.
 */
export async function previewOf(
  message: OutgoingMessage,
  settings: SinkSettings,
  format: PreviewFormat | undefined,
  log: Pick<Log, 'warn'>,
): Promise<string | Buffer> {
  const formats = formatsOf[settings.type];
  const [usual = 'json'] = formats;
  const asked = format ?? usual;
  if (!formats.includes(asked)) {
    throw new UsageError(`--format: found ${asked}, expected ${oneOf(formats)} for a sink of type ${settings.type}`);
  }
  switch (settings.type) {
    case 'email': {
      const pictures = await drawnPictures(message, log);
      if (asked === 'eml') return mailOf(message, settings.from, settings.to, pictures);
      return mailHtml(message, pictures, dataAddress);
    }
    case 'slack': {
      const isBot = 'botToken' in settings;
      if (asked === 'json') return asJson(isBot ? postOf(message, settings.channel) : slackMessage(message));
      return slackHtml(message, isBot ? await drawnPictures(message, log) : []);
    }
    case 'webhook':
      return asJson(JSON.parse(webhookBody(message)));
    case 'teams':
      return asJson(teamsMessage(message));
    case 'pagerduty':
      return asJson(pagerDutyEvents(message, '***'));
    case 'log':
      return asJson(logLines(message));
    case 'agent':
      return callJson(agentCall(message, settings));
    case 'job':
      return callJson(jobCall(message, settings));
    case 'model':
      if (message.summary === null) throw new UsageError('a model gets summaries only: add --period weekly or monthly');
      return callJson(modelCall(message.summary, settings));
  }
}

/** What a call of the platform sends: the values of its path and headers, and its body. */
function callJson({ operation, values, sending }: Call): string {
  return asJson({ operation: operation.name, values, body: JSON.parse(sending?.body ?? 'null') });
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function dataAddress({ png }: DrawnPicture): string {
  return `data:image/png;base64,${png.toString('base64')}`;
}

/** A Slack message as a page that looks much as in Slack, with its pictures in a thread. */
function slackHtml(message: OutgoingMessage, pictures: readonly DrawnPicture[]): string {
  const title = escapeMarkup(subjectOf(message));
  const thread = pictures
    .map(
      (picture) =>
        `<figure><figcaption>${escapeMarkup(picture.title)}</figcaption><img src="${dataAddress(picture)}" width="${picture.width}" alt="${escapeMarkup(picture.alternative)}"></figure>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
:root{color-scheme:light dark}
body{font:15px/1.46 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;margin:0;padding:16px;background:light-dark(#fff,#1a1d21);color:light-dark(#1d1c1d,#d1d2d3)}
main{max-width:640px;margin:0 auto;overflow-wrap:anywhere}
h1{font-size:18px;line-height:1.3;margin:0 0 8px}
.text{margin:8px 0;white-space:pre-wrap}
pre{font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;background:light-dark(#f8f8f8,#222529);border:1px solid light-dark(#ddd,#444);border-radius:4px;padding:8px;overflow-x:auto}
dl{display:grid;grid-template-columns:1fr 1fr;gap:8px;margin:8px 0}
dd{margin:0}
small{display:block;color:light-dark(#616061,#ababad);font-size:13px;margin:6px 0}
a{color:light-dark(#1264a3,#1d9bd1)}
.thread{border-left:3px solid light-dark(#ddd,#444);padding-left:12px;margin-top:16px}
figure{margin:0 0 12px}
figcaption{font-size:13px;margin-bottom:4px}
img{max-width:100%;height:auto;border-radius:8px;border:1px solid light-dark(#ddd,#444)}
</style>
</head>
<body>
<main>
${slackMessage(message).blocks.map(blockHtml).join('\n')}
${thread === '' ? '' : `<section class="thread" aria-label="Thread">\n<small>In the thread of the message</small>\n${thread}\n</section>`}
</main>
</body>
</html>
`;
}

function blockHtml(block: SlackBlock): string {
  if (block.type === 'header') return `<h1>${textHtml(block.text)}</h1>`;
  if (block.type === 'context')
    return block.elements.map((element) => `<small>${textHtml(element)}</small>`).join('\n');
  if ('fields' in block) return `<dl>${block.fields.map((field) => `<dd>${textHtml(field)}</dd>`).join('')}</dl>`;
  return `<div class="text">${textHtml(block.text)}</div>`;
}

/** Slack escapes three characters, which mean the same in HTML; quotes stand in text only. */
function textHtml({ type, text }: { readonly type: 'plain_text' | 'mrkdwn'; readonly text: string }): string {
  if (type === 'plain_text') return text;
  // Our own words: bold, fixed width, and a link.
  return text
    .replace(/^```\n?([\s\S]*?)\n?```$/, '<pre>$1</pre>')
    .replace(/^\*(.*)\*$/, '<b>$1</b>')
    .replace(/^<(https?:[^|>"]*)\|([^>]*)>$/, '<a href="$1">$2</a>');
}
