import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../src/platform/interface/without-secrets.ts';
import fc from '../support/fast-check.ts';

describe('an answer without its secrets', () => {
  test('hides every documented place of a secret, and keeps names and everything else', () => {
    const answer = {
      metadata: { name: 'a', labels: { value: 'kept', secret: 'kept' } },
      spec: {
        runtime: {
          envs: [{ name: 'KEY', value: 's1', secret: true }, { name: 'LEVEL', value: 's2', secret: false }, 's3'],
        },
        configurations: { key: { secret: true, value: 's4' }, other: 's5' },
        network: {
          proxy: {
            routing: [
              { destinations: ['x'], headers: { authorization: 'Bearer s6' }, body: 's7', secrets: { name: 's8' } },
            ],
          },
        },
        triggers: [{ configuration: { path: '/p', callbackUrl: 'https://u:s9@h/x', callbackSecret: 's10' } }],
        repository: { url: 'https://x-access-token:s11@github.example/repo' },
      },
    };
    const clean = withoutSecrets(answer);
    expect(JSON.stringify(clean)).not.toMatch(/s\d/);
    expect(clean).toEqual({
      metadata: { name: 'a', labels: { value: 'kept', secret: 'kept' } },
      spec: {
        runtime: {
          envs: [{ name: 'KEY', value: '***', secret: true }, { name: 'LEVEL', value: '***', secret: false }, '***'],
        },
        configurations: { key: { secret: true, value: '***' }, other: '***' },
        network: {
          proxy: {
            routing: [
              { destinations: ['x'], headers: { authorization: '***' }, body: '***', secrets: { name: '***' } },
            ],
          },
        },
        triggers: [{ configuration: { path: '/p', callbackUrl: 'https://***@h/x', callbackSecret: '***' } }],
        repository: { url: 'https://***@github.example/repo' },
      },
    });
  });

  test('hides them in every shape, and under every name', () => {
    const shapes = {
      a: { envs: { KEY: 's1', path: 's2' }, secrets: [{ name: 'kept', value: 's3' }, 's4'], configurations: 's5' },
      b: {
        secrets: { path: 's6', timeout: { value: 's7' } },
        configurations: { schedule: { secret: true, value: 's8' } },
      },
      c: { routing: { headers: { authorization: 's9' }, body: ['s10'] } },
      d: { routing: { first: { headers: ['s11'], secrets: { tasks: 's12' } } } },
      e: { routing: [[{ headers: 's13', envs: 's14' }]], configuration: ['s15'] },
      f: { spec: { envOverride: { KEY: 's16', OTHER: { value: 's17' } } } },
    };
    expect(JSON.stringify(withoutSecrets(shapes))).not.toMatch(/s\d/);
  });

  test('takes no longer for a text of very many words', () => {
    const began = performance.now();
    const text = 'a.'.repeat(250_000);
    expect(withoutSecrets({ url: `${text}x://u:p@h` })).toEqual({ url: `${text}x://***@h` });
    expect(performance.now() - began).toBeLessThan(5000);
  });

  test('is the same value if it has none, for any JSON', () => {
    const safe = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('a', 'https://h/x'),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom('metadata', 'name', 'spec', 'labels'), tie('value'), { maxKeys: 3 }),
    })).value;
    fc.assert(
      fc.property(safe, (value) => {
        expect(withoutSecrets(value)).toEqual(value);
      }),
    );
  });
});
