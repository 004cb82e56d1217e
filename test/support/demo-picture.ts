/** The demo's months, reconciliation and chargeback, without anything that differs between machines. Pure. */
export function demoExcerpt(stdout: string): string[] {
  const lines = stdout.split('\n');
  const table = lines.findIndex((line) => line.startsWith('USD '));
  const reconciled = lines.findIndex((line) => line.startsWith('Reconciled: '));
  const charged = lines.findIndex((line) => line.startsWith('Chargeback of'));
  const ends = [reconciled, charged].map((from) => lines.findIndex((line, index) => index > from && line === ''));
  const complete = lines.findIndex((line) => line.startsWith('complete through'));
  return [
    '$ npm run demo',
    '',
    ...lines.slice(table, table + 2),
    '…',
    ...lines.slice(complete - 4, complete + 1),
    '',
    ...lines.slice(reconciled, ends[0]).map((line) => line.replace(/ in \d+ s\.$/, '.')),
    '',
    ...lines.slice(charged, ends[1]).filter((line) => !line.startsWith('Team labels')),
  ];
}

const lineHeight = 19;
const charWidth = 8.4;
const margin = 18;

/** Lines as a terminal shows them. The same lines give the same bytes. Pure. */
export function terminalPicture(lines: readonly string[]): string {
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * charWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin + 22;
  const texts = lines.map((line, index) => {
    const y = margin + 22 + (index + 0.8) * lineHeight;
    const colour = line.startsWith('$') ? '#7ee787' : /^[─ ]+$/.test(line) ? '#6e7681' : '#e6edf3';
    return `  <text x="${margin}" y="${y.toFixed(1)}" fill="${colour}">${toXml(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
  <title>What costbook demo says</title>
  <style>text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }</style>
  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
  <circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${texts.join('\n')}
</svg>
`;
}

function toXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
