/**
 * What is wrong with a message by the limits that Slack publishes for Block Kit and incoming webhooks, written from
 * them by hand; nothing where it is valid. It shares no line with src.
 */
export function blockKitFaults(message: unknown): string[] {
  const faults: string[] = [];
  const { text, blocks, ...others } = message as { text: unknown; blocks: unknown };
  if (Object.keys(others).length > 0) faults.push(`unknown keys ${Object.keys(others)}`);
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
        textFaults(block['text'], 'plain_text', 150, at);
        break;
      case 'section':
        if ('text' in block) textFaults(block['text'], 'mrkdwn', 3000, at);
        else if (!('fields' in block)) faults.push(`${at}: neither text nor fields`);
        if ('fields' in block) {
          const fields = block['fields'] as unknown[];
          if (!Array.isArray(fields) || fields.length < 1 || fields.length > 10) faults.push(`${at}: 1 to 10 fields`);
          for (const field of fields) textFaults(field, 'mrkdwn', 2000, at);
        }
        break;
      case 'context': {
        const elements = block['elements'] as unknown[];
        if (!Array.isArray(elements) || elements.length < 1 || elements.length > 10)
          faults.push(`${at}: 1 to 10 elements`);
        for (const element of elements) textFaults(element, 'mrkdwn', 2000, at);
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

  function textFaults(given: unknown, type: string, most: number, at: string): void {
    const object = (given ?? {}) as { type?: unknown; text?: unknown };
    if (object.type !== type) faults.push(`${at}: text of type ${object.type}, expected ${type}`);
    if (typeof object.text !== 'string' || object.text.length < 1) faults.push(`${at}: an empty text`);
    else {
      if (object.text.length > most) faults.push(`${at}: ${object.text.length} characters, over ${most}`);
      if (/[<>]|&(?!(amp|lt|gt);)/.test(object.text)) faults.push(`${at}: & < or > that is not escaped`);
      if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(object.text)) faults.push(`${at}: half a character`);
    }
  }
}
