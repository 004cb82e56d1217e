import { expect, test } from 'vitest';
import { decodeDeployments, decoderOf } from '../../src/fetch/index.ts';
import { listings } from '../../src/platform/index.ts';
import { schemaOf } from '../../src/platform/interface/index.ts';
import { readListingPage } from '../../src/platform/listings.ts';
import fc from '../support/fast-check.ts';

/** JSON Schema, as far as the shapes of listings use it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
}

/** Values that a mock server makes of a schema. */
function mocked(schema: Schema): fc.Arbitrary<unknown> {
  const { anyOf, type, items = {}, properties, required = [], additionalProperties } = schema;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(mocked));
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => mocked({ ...schema, type: one })));
  switch (type) {
    case 'string':
      return fc.string({ minLength: 1, maxLength: 12 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(mocked(items), { maxLength: 3 });
    case 'object':
      if (properties === undefined)
        return fc.dictionary(fc.string(), mocked(additionalProperties ?? {}), { maxKeys: 3 });
      return fc.record(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, mocked(one)])), {
        requiredKeys: required as never[],
      });
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

test.each(listings.filter(({ name }) => name === undefined))(
  'whatever a mock of the description answers as $kind, its page is read and its resources are decoded',
  (listing) => {
    const { operation } = listing;
    fc.assert(
      fc.property(mocked(schemaOf(operation.response) as Schema), (answer) => {
        const { items, isPaged } = readListingPage(answer, {
          about: operation.name,
          limit: undefined,
          cursor: undefined,
        });
        expect(isPaged).toBe(!Array.isArray(answer));
        for (const item of items) {
          expect(decoderOf()(item, listing).state.name).toBe(item.metadata.name);
          decodeDeployments(item);
        }
      }),
      { numRuns: 50 },
    );
  },
);
