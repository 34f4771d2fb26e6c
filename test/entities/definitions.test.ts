import { expect, test } from 'vitest';
import { organization, user } from '#entities/index.ts';
import { defineEntityModule, type EntityModule } from '#entities/kit/model/define.ts';
import {
  choice,
  integer,
  json,
  reference,
  text,
  textList,
  timestamp,
  type Fields,
} from '#entities/kit/model/fields.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';

interface Named {
  readonly filter?: readonly string[];
  readonly order?: readonly string[];
  readonly search?: readonly string[];
  readonly displayId?: string;
}

function define(kind: string, fields: Fields, named: Named = {}): EntityModule {
  const definition = { filter: [], order: [], ...named };
  return defineEntityModule({
    kind,
    table: `${kind}s`,
    description: 'A kind.',
    fields,
    tenancy: 'organization',
    expose: {},
    events: [],
    // What the compiler would refuse as well.
    ...(definition as object as { filter: []; order: [] }),
  });
}

const fields = {
  plan: json('Plan.', { maxBytes: 99, optional: true }),
  words: textList('Words.', { max: 9, maxItems: 9 }),
  weight: integer('Weight.', { min: 1, max: 9, default: 5 }),
  size: choice('Size.', ['small', 'very_large', 'a4'], { default: 'small' }),
  since: timestamp('Since.', { default: new Date(0) }),
  title: text('Title.', { max: 9, default: 'none' }),
};

test.each<[string, Fields, Named]>([
  ['"plan" is a document, by which nothing is filtered', fields, { filter: ['plan'] }],
  ['"plan" holds more than one value, by which nothing is ordered', fields, { order: ['plan'] }],
  ['"words" holds more than one value, by which nothing is ordered', fields, { order: ['createdAt', 'words'] }],
  ['"words" is no text, and only texts are searched', fields, { search: ['title', 'words'] }],
  ['"weight" is no text, and only texts are searched', fields, { search: ['weight'] }],
  [
    'field "weight" would not take its own default, 0',
    { weight: integer('Weight.', { min: 1, max: 9, default: 0 }) },
    {},
  ],
  [
    'field "size" would not take its own default, "huge"',
    { size: choice('Size.', ['small', 'large'], { default: 'huge' as 'small' }) },
    {},
  ],
  ['field "title" would not take its own default, "long"', { title: text('Title.', { max: 3, default: 'long' }) }, {}],
  ['field "size" offers "Very Large", which is no lower-case word', { size: choice('Size.', ['Very Large']) }, {}],
  ['field "size" offers "4a", which is no lower-case word', { size: choice('Size.', ['4a']) }, {}],
])('is refused: %s', (message, wrong, named) => {
  expect(() => define('risk', wrong, named)).toThrow(`entity "risk": ${message}`);
});

test('a valid definition is accepted', () => {
  define('risk', fields, { filter: ['words', 'size', 'weight'], order: ['weight', 'since'], search: ['title'] });
});

test('two kinds with one prefix are refused', () => {
  const kinds = ['risk', 'risotto'].map((kind) => define(kind, {}, { displayId: 'RSK' }));
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
