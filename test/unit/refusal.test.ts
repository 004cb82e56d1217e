import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../src/platform/refusal.ts';

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers, body: Buffer.from(text) };
}

const gateway = {
  code: 'WORKLOAD_UNAVAILABLE',
  message: 'nothing serves it',
  action: 'Ask again.',
  do_not: 'Do not create it again.',
  retryable: true,
  status: 404,
  origin: 'platform',
};

describe('a refusal', () => {
  test('with a text under error has its code and message', async () => {
    const error = await refusalOf(answer(403, { error: 'forbidden', code: 403, message: 'no access' }));
    expect(error).toMatchObject({
      status: 403,
      code: 'forbidden',
      retryable: false,
      message: '403: forbidden: no access',
    });
  });

  test('with an object under error has its code, message and advice', async () => {
    expect(await refusalOf(answer(404, { error: gateway }))).toMatchObject({
      ...{ status: 404, code: 'WORKLOAD_UNAVAILABLE', retryable: true },
      message: '404: WORKLOAD_UNAVAILABLE: nothing serves it. Ask again. Do not create it again.',
    });
  });

  test.each([
    ['that says it may be repeated', 404, true, true],
    ['that says it is final', 503, false, false],
    ['that does not say, with 404', 404, undefined, false],
    ['that does not say, with 503', 503, undefined, true],
  ])('%s is taken at its word before its status', async (_, status, retryable, expected) => {
    expect((await refusalOf(answer(status, { error: { ...gateway, retryable } }))).retryable).toBe(expected);
  });

  test.each([
    [{ 'retry-after-ms': '1500.5', 'retry-after': '9' }, 1501],
    [{ 'retry-after': '9' }, 9000],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
    [{}, undefined],
  ])('waits as %o asks', async (headers, ms) => {
    expect((await refusalOf(answer(429, '', headers as Record<string, string>))).retryAfterMs).toBe(ms);
  });

  test.each(['', '<html>', '[]', 'null', '{"error":5}', '{"error":{"code":5}}'])(
    'with the body %j says its status, and the code of its header',
    async (body) => {
      const headers = { 'x-acme-error-code': 'USAGE_LIMIT_EXCEEDED', 'x-acme-source': 'platform' };
      expect(await refusalOf(answer(402, body, headers))).toMatchObject({
        ...{ status: 402, message: '402', code: 'USAGE_LIMIT_EXCEEDED', retryable: false },
      });
    },
  );

  test('with a web page names its title', async () => {
    const page = '<!doctype html><title>Bad gateway</title><h1>502</h1>';
    expect((await refusalOf(answer(502, page))).message).toBe('502: a web page: Bad gateway');
  });

  test('cannot move the cursor of a terminal', async () => {
    const { message } = await refusalOf(answer(400, { error: { code: 'BAD\u001b[2J', message: 'a\nb' } }));
    for (const control of ['\u001b', '\n']) expect(message).not.toContain(control);
  });
});
