import { Check } from 'typebox/value';
import { expect, expectTypeOf, test } from 'vitest';
import { organization, task, user } from '#entities/index.ts';
import { defineEntityModule, type EntityModule, type RowOf } from '#entities/kit/model/define.ts';
import type { Fields } from '#entities/kit/model/declared-field.ts';
import {
  choice,
  email,
  flag,
  integer,
  json,
  member,
  reference,
  sealed,
  text,
  textList,
  timestamp,
} from '#entities/kit/model/fields.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { sampleValue } from '../kit/records/sample-field-value.ts';

function define(kind: string, fields: Fields, displayId?: string): EntityModule {
  return defineEntityModule({
    kind,
    table: `${kind}s`,
    description: 'A kind.',
    fields,
    tenancy: 'organization',
    events: [],
    ...(displayId !== undefined && { displayId }),
  });
}

const plan = json('Plan.', { maxBytes: 99, optional: true });
const words = textList('Words.', { max: 9, maxItems: 9 });
const weight = integer('Weight.', { min: 1, max: 9, default: 5 });

test.each<[string, Fields]>([
  // What the compiler refuses as an option of these fields.
  ['"plan" is a JSON document and cannot be a filter', { plan: { ...plan, lists: ['filter'] } }],
  ['"plan" holds more than one value and cannot be an order', { plan: { ...plan, lists: ['order'] } }],
  ['"words" holds more than one value and cannot be an order', { words: { ...words, lists: ['order'] } }],
  ['"words" is not a text field, and only text fields can be searched', { words: { ...words, lists: ['search'] } }],
  ['"weight" is not a text field, and only text fields can be searched', { weight: { ...weight, lists: ['search'] } }],
  [
    '"title" is not exposed for reading, and a search would reveal its value',
    { title: text('Title.', { max: 9, lists: ['search'] }) },
  ],
  [
    '"key" is a sealed field, which callers write and nobody reads',
    { key: { ...sealed('Key.', { max: 9 }), exposed: 'read' } },
  ],
  [
    '"hash" is a secret field and cannot be exposed',
    { hash: text('Hash.', { max: 9, secret: true, exposed: 'read' }) },
  ],
  ['field "weight" has a default that is not valid: 0', { weight: integer('Weight.', { min: 1, max: 9, default: 0 }) }],
  [
    'field "size" has a default that is not valid: "huge"',
    { size: choice('Size.', ['small', 'large'], { default: 'huge' as 'small' }) },
  ],
  ['field "title" has a default that is not valid: "long"', { title: text('Title.', { max: 3, default: 'long' }) }],
  [
    'field "size" has the choice "Very Large", which is not a lower-case word',
    { size: choice('Size.', ['Very Large']) },
  ],
  ['field "size" has the choice "4a", which is not a lower-case word', { size: choice('Size.', ['4a']) }],
])('a definition is refused: %s', (message, wrong) => {
  expect(() => define('risk', wrong)).toThrow(`entity "risk": ${message}`);
});

test('a kind knows which of its fields callers see, and by which lists are filtered, ordered and searched', () => {
  const risk = define(
    'risk',
    {
      title: text('Title.', { max: 9, default: 'none', exposed: 'read-write', lists: ['search', 'order'] }),
      words: textList('Words.', { max: 9, maxItems: 9, exposed: 'read', lists: ['filter'] }),
      plan,
      size: choice('Size.', ['small', 'very_large', 'a4'], { default: 'small', lists: ['filter'] }),
      since: timestamp('Since.', { default: new Date(0), exposed: 'read', lists: ['order'] }),
    },
    'RSK',
  );
  expect(risk).toMatchObject({
    expose: { displayId: 'read', title: 'read-write', words: 'read', since: 'read' },
    filter: ['displayId', 'words', 'size'],
    order: ['title', 'since'],
    search: ['title'],
  });
});

test('two kinds with one prefix are refused', () => {
  const kinds = ['risk', 'risotto'].map((kind) => define(kind, {}, 'RSK'));
  expect(() => createRegistry([user, organization, ...kinds])).toThrow(
    '"risotto" and "risk" share the prefix of display ids "RSK"',
  );
});

test('a reference to an unknown kind is refused with its kind and field', () => {
  const risk = define('risk', { taskId: reference('tsk', 'Task.') });
  expect(() => createRegistry([user, organization, risk])).toThrow(
    'entity "risk": field "taskId": no entity is called "tsk"; known are user, organization, risk',
  );
});

// The compiler refuses each of these options, too: without an error on its line, it reports the directive as unused.
test.each<[string, () => unknown]>([
  // @ts-expect-error -- not an option
  ['text', () => text('A field.', { max: 9, secert: true })],
  // @ts-expect-error -- not an option
  ['email', () => email('A field.', { secert: true })],
  // @ts-expect-error -- not an option
  ['choice', () => choice('A field.', ['a'], { secert: true })],
  // @ts-expect-error -- not an option
  ['integer', () => integer('A field.', { min: 1, max: 9, secert: true })],
  // @ts-expect-error -- not an option
  ['flag', () => flag('A field.', { secert: true })],
  // @ts-expect-error -- not an option
  ['timestamp', () => timestamp('A field.', { secert: true })],
  // @ts-expect-error -- not an option
  ['textList', () => textList('A field.', { max: 9, maxItems: 9, secert: true })],
  // @ts-expect-error -- not an option
  ['json', () => json('A field.', { maxBytes: 9, secert: true })],
  // @ts-expect-error -- not an option
  ['reference', () => reference('user', 'A field.', { secert: true })],
  // @ts-expect-error -- not an option
  ['member', () => member('A field.', { onLeave: 'keep', secert: true })],
])('%s refuses an option that it does not have, to the compiler and at run time', (_type, define) => {
  expect(define).toThrow(
    'field "A field.": "secert" is not an option; options are optional, default, immutable, secret',
  );
});

test('rows have the display id where their kind has one', () => {
  expectTypeOf<RowOf<typeof task>>().toHaveProperty('displayId').toEqualTypeOf<string>();
  expectTypeOf<RowOf<typeof user>>().not.toHaveProperty('displayId');
  expect(Object.keys(task.fields)).toContain('displayId');
});

test('a value for tests is one that its field takes, or undefined where the definition does not tell one', () => {
  const fields = [
    text('Short.', { max: 3 }),
    text('Long.', { min: 40, max: 50 }),
    text('Code.', { max: 12, pattern: /^[a-z]{3}-[0-9]{4,8}$/ }),
    text('Part.', { max: 20, pattern: /[0-9]/ }),
    integer('Narrow.', { min: 10, max: 12 }),
    integer('One.', { min: 3, max: 3 }),
    textList('Words.', { max: 2, maxItems: 2 }),
  ];
  for (const field of fields)
    for (const value of Array.from({ length: 5 }, () => sampleValue(field, new Date(0))))
      expect([field.description, value, Check(field.schema, value)]).toEqual([field.description, value, true]);
  for (const pattern of [/^(?=.*a)b+$/, /^a{20}$/])
    expect(sampleValue(text('Text.', { max: 9, pattern }), new Date(0))).toBeUndefined();
});
