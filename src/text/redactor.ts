/** Hides registered secrets in texts. */
export interface Redactor {
  keep(secret: string): void;
  redact(text: string): string;
}

/** A shorter secret would match ordinary words, and could be guessed anyway. */
const minSecretLength = 4;

/** Of a token in a cut text, this much of its start is enough to hide it. */
const headLength = 16;
/** What a token may go on with. None of it is special in JSON, HTML or a table. */
const restOfToken = /[\w.~+/=%-]*/y;
/** Shorter encodings of a secret match ordinary words. */
const minCodeLength = 8;

/**
 * A redactor that replaces each registered secret with `***`, in any letter case: plain, escaped for JSON or HTML,
 * URL-encoded (once or twice), as hex, as base64 within a longer text, or cut after its first 16 characters. Then the rest
 * of the word is hidden too, whatever it is: who can have texts of their own shown must not learn how much of a guess is
 * right.
 */
export function redactor(): Redactor {
  /** Each form of a secret, with how much of it is enough. */
  const needles = new Map<string, number>();
  let longestFirst: [string, number][] | undefined;
  return {
    keep(secret) {
      if (secret.length < minSecretLength) return;
      for (const form of printedForms(secret)) {
        // As much of the secret in each form: 16 signs of its hex are 8 of it.
        const enough = isToken(secret) ? Math.ceil((headLength * form.length) / secret.length) : form.length;
        needles.set(lowerCase(form), Math.min(enough, needles.get(lowerCase(form)) ?? enough));
      }
      longestFirst = undefined;
    },
    redact(text) {
      // Longest first: a secret that starts with another one must not leave its end behind.
      longestFirst ??= [...needles].sort(([a], [b]) => b.length - a.length);
      let left: Both = { text, lower: longestFirst.length === 0 ? text : lowerCase(text) };
      for (const [needle, enough] of longestFirst) left = hide(left, needle, enough);
      return left.text;
    },
  };
}

/** Longer than any secret. Of a longer word, so much at its end is held back. */
const longestHeld = 8192;

/**
 * Redacts a text that comes in parts. The word at the end of a part is held back: it may be the start of a secret. The last
 * part is undefined.
 */
export function redactParts(redact: (text: string) => string): (part: string | undefined) => string {
  let held = '';
  return (part) => {
    held += part ?? '';
    let start = held.length;
    while (start > 0 && start > held.length - longestHeld && /\S/.test(held.charAt(start - 1))) start -= 1;
    const whole = part === undefined ? held : held.slice(0, start);
    held = held.slice(whole.length);
    return redact(whole);
  };
}

/** A text, and the same in small letters. */
interface Both {
  readonly text: string;
  readonly lower: string;
}

/** Replaces each occurrence of a lower-case needle with `***`; if its start is enough, with the rest of the word. */
function hide({ text, lower }: Both, needle: string, enough: number): Both {
  const head = needle.slice(0, enough);
  const kept: [number, number][] = [];
  let from = 0;
  for (let at = lower.indexOf(head); at >= 0; at = lower.indexOf(head, from)) {
    let length = head.length;
    while (length < needle.length && lower[at + length] === needle[length]) length += 1;
    kept.push([from, at]);
    from = at + length;
    if (head.length < needle.length) {
      restOfToken.lastIndex = from;
      from += restOfToken.exec(text)?.[0].length ?? 0;
    }
  }
  if (from === 0) return { text, lower };
  kept.push([from, text.length]);
  const shown = (whole: string) => kept.map(([start, end]) => whole.slice(start, end)).join('***');
  return { text: shown(text), lower: shown(lower) };
}

/** Lower-cases ASCII only, so that every character keeps its position. An answer of an agent has millions of them. */
function lowerCase(text: string): string {
  if (!/[A-Z]/.test(text)) return text;
  const units = Buffer.from(text, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const unit = units[at] ?? 0;
    if (units[at + 1] === 0 && unit >= 65 && unit <= 90) units[at] = unit + 32;
  }
  return units.toString('utf16le');
}

/** Whether the start of a secret is itself secret, unlike the start of an address. */
function isToken(secret: string): boolean {
  return secret.length > headLength && !secret.startsWith('/') && !secret.includes('://');
}

function printedForms(secret: string): string[] {
  // encodeURIComponent throws on half a surrogate pair, which cannot be in a URL anyway.
  const url = encodeURIComponent(secret.replace(/\p{Cs}/gu, '\ufffd'));
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const json = JSON.stringify(secret).slice(1, -1);
  const plain = [
    secret,
    secret.toUpperCase(),
    secret.toLowerCase(), // for letters beyond ASCII, which are compared case-sensitively
    json,
    json.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
    json.replaceAll('/', '\\/'),
    secret.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character),
    url,
    encodeURIComponent(url),
    hex.replace(/../g, '%$&'),
    ...(['base64', 'base64url'] as const).map((code) => bytes.toString(code)),
  ];
  const codes = [
    hex,
    ...(['base64', 'base64url'] as const).flatMap((code) =>
      [0, 1, 2].map((offset) => base64Within(bytes, offset, code)),
    ),
  ];
  return [...new Set([...plain, ...codes.filter(({ length }) => length >= minCodeLength)])];
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * The base64 letters of bytes that follow `offset` other bytes (modulo three), independent of what is around them.
 * The first and last letters may be shared with a neighbour and are left out.
 */
function base64Within(bytes: Buffer, offset: number, code: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(code);
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}
