/**
 * What is wrong with a message by the limits that Slack publishes for Block Kit and incoming webhooks, written from
 * them by hand; empty if it is valid. It shares no line with src.
 */
export function blockKitFaults(message: unknown): string[] {
  const faults: string[] = [];
  const { text, blocks, ...others } = message as { text: unknown; blocks: unknown };
  const settings = JSON.stringify(others);
  if (settings !== '{"mrkdwn":false,"unfurl_links":false,"unfurl_media":false}') faults.push(`settings ${settings}`);
  if (typeof text !== 'string' || text === '') faults.push('no text fallback');
  else if (text.length > 40_000) faults.push('text over 40000');
  if (!Array.isArray(blocks) || blocks.length === 0) return [...faults, 'no blocks'];
  if (blocks.length > 50) faults.push(`${blocks.length} blocks, over 50`);
  for (const [index, block] of (blocks as Record<string, unknown>[]).entries()) {
    const at = `block ${index} (${block['type']})`;
    const keys = Object.keys(block).sort().join();
    switch (block['type']) {
      case 'header':
        if (keys !== 'text,type') faults.push(`${at}: keys ${keys}`);
        textFaults(block['text'], 150, at, ['plain_text']);
        break;
      case 'section':
        if ('text' in block) textFaults(block['text'], 3000, at);
        else if (!('fields' in block)) faults.push(`${at}: neither text nor fields`);
        if ('fields' in block) {
          const fields = block['fields'] as unknown[];
          if (!Array.isArray(fields) || fields.length < 1 || fields.length > 10) faults.push(`${at}: 1 to 10 fields`);
          for (const field of fields) textFaults(field, 2000, at);
        }
        break;
      case 'context': {
        const elements = block['elements'] as unknown[];
        if (!Array.isArray(elements) || elements.length < 1 || elements.length > 10)
          faults.push(`${at}: 1 to 10 elements`);
        for (const element of elements) textFaults(element, 2000, at);
        break;
      }
      case 'divider':
        if (keys !== 'type') faults.push(`${at}: keys ${keys}`);
        break;
      default:
        faults.push(`${at}: unknown type`);
    }
  }
  return faults;

  function textFaults(given: unknown, most: number, at: string, types = ['plain_text', 'mrkdwn']): void {
    const object = (given ?? {}) as { type?: unknown; text?: unknown; emoji?: unknown };
    if (!types.includes(String(object.type))) faults.push(`${at}: text of type ${object.type}, expected ${types}`);
    // Markup is for words of our own: a label in bold, a link to the dashboard, or lines of code, in which it means nothing.
    const isLink =
      object.type === 'mrkdwn' && /^<https?:\/\/[^<>|\s]+\|Open in the dashboard>$/.test(String(object.text));
    if (object.type === 'mrkdwn' && !isLink && !/^\*[A-Za-z0-9 %]+\*$|^```\n[^`]*\n```$/.test(String(object.text)))
      faults.push(`${at}: markup around ${object.text}`);
    if (object.type === 'plain_text' && object.emoji !== false) faults.push(`${at}: emoji names are drawn`);
    if (typeof object.text !== 'string' || object.text.length < 1) faults.push(`${at}: an empty text`);
    else {
      if (object.text.length > most) faults.push(`${at}: ${object.text.length} characters, over ${most}`);
      if (!isLink && /[<>]|&(?!(amp|lt|gt);)/.test(object.text)) faults.push(`${at}: & < or > that is not escaped`);
      if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(object.text)) faults.push(`${at}: half a character`);
    }
  }
}
