import { expect, test } from 'vitest';
import { isEncrypted, isForeign, type RequestOrigin } from '../../src/serve/origin.ts';

const own = new Set(['costs.example.com', '10.0.0.5:8620', '127.0.0.1:8620']);
const nothing: RequestOrigin = {
  fetchSite: undefined,
  origin: undefined,
  host: '10.0.0.5:8620',
  forwardedProto: undefined,
};

test.each<[string, Partial<RequestOrigin>, boolean]>([
  ['a program', {}, false],
  ['our page, as a browser at https says', { fetchSite: 'same-origin', origin: 'https://costs.example.com' }, false],
  ['a person who sends the form again', { fetchSite: 'none', origin: 'null' }, false],
  ['our page at an address', { origin: 'http://10.0.0.5:8620' }, false],
  ['our page at a name, behind a proxy that replaces Host', { origin: 'http://costs.example.com' }, false],
  ['our page at a port of ours that serve.hosts does not name', { origin: 'http://box:99', host: 'box:99' }, false],
  ['another page, as a browser at https says', { fetchSite: 'cross-site', origin: 'https://costs.example.com' }, true],
  ['a page of a neighbour', { fetchSite: 'same-site', origin: 'https://evil.example.com' }, true],
  ['another page over plain http', { origin: 'http://evil.example' }, true],
  ['a page at another port', { origin: 'http://10.0.0.5:9999' }, true],
  ['a sandboxed frame, or a page that hides where it is', { origin: 'null' }, true],
  ['what is no origin', { origin: 'costs.example.com' }, true],
  ['a file', { origin: 'file://' }, true],
])('%s', (_, said, expected) => {
  expect(isForeign({ ...nothing, ...said }, own)).toBe(expected);
});

test.each<[string, Partial<RequestOrigin>, string | undefined, boolean]>([
  ['plain http', {}, undefined, false],
  ['a page that was opened by https', { origin: 'https://costs.example.com' }, undefined, true],
  [
    'a page that was opened by http, although https would do',
    { origin: 'http://10.0.0.5:8620' },
    'https://10.0.0.5:8620',
    false,
  ],
  ['a proxy with https', { forwardedProto: 'https' }, undefined, true],
  ['a proxy with https before one with http', { forwardedProto: 'HTTPS, http' }, undefined, true],
  ['a proxy with http before one with https', { forwardedProto: 'http,https' }, undefined, false],
  ['a program at the address of dashboardUrl', { host: 'costs.example.com' }, 'https://costs.example.com', true],
  ['a program at another address', { host: '127.0.0.1:8620' }, 'https://costs.example.com', false],
])('a session goes over https only, or not: %s', (_, said, address, expected) => {
  expect(isEncrypted({ ...nothing, ...said }, address)).toBe(expected);
});
