import { escapeMarkup } from '../text/markup.ts';
import { type DrawnPicture, dataAddress } from './drawn-pictures.ts';
import { type OutgoingMessage, subjectOf } from './message.ts';
import { type SlackBlock, slackMessage } from './slack-message.ts';

/** A Slack message as a page that looks much as in Slack, with its pictures in a thread. */
export function slackHtml(message: OutgoingMessage, pictures: readonly DrawnPicture[]): string {
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
