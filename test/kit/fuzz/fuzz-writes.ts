import { Check } from 'typebox/value';
import { recordNames } from '#api/rest/records/record-names.ts';
import { listFieldsOf } from '#entities/kit/model/behaviour.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { changeableFields, isRequired, writableFields } from '#entities/kit/model/exposure.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';

export interface Written {
  /** The record that was changed. */
  readonly id: string;
  /** Of the creations and changes that are right. */
  readonly answers: readonly TestAnswer[];
}

export type Input = Readonly<Record<string, unknown>>;

/** Fields of a kind into which people write what they like, with room for a word. */
export function writtenFields(module: EntityModule, isNew: boolean): string[] {
  const given = isNew ? writableFields(module) : changeableFields(module);
  return (
    given
      // Secrets are no texts that somebody reads, and are not given to many records.
      .filter(
        ([, { type, schema, isSealed }]) =>
          ['text', 'textList', 'json'].includes(type) && !('pattern' in schema) && !isSealed,
      )
      .filter(([, field]) =>
        Check(
          field.schema,
          valueWith(field, () => 'x'.repeat(wordLength)),
        ),
      )
      // A document with an example has a form of its own.
      .filter(([, { type, schema }]) => type !== 'json' || !('examples' in schema))
      .map(([name]) => name)
  );
}

/** Fields that a creation has to fill in besides. */
export function otherRequiredFields(module: EntityModule): string[] {
  const written = new Set(writtenFields(module, true));
  return writableFields(module).flatMap(([name, field]) => (isRequired(field) && !written.has(name) ? [name] : []));
}

/** Of the words that are written. */
const wordLength = 16;

/** Records that one call creates, if each way accepts what it is given. */
export const creationsOfOneCall = 7;

interface Records {
  /** A record to change, instead of one that is created. */
  readonly existing?: string;
  /** Values that records require besides the words, for each of `creationsOfOneCall`. */
  readonly required?: readonly Input[];
  /** Leaves out what is refused for its form, before anything is done with it. */
  readonly wellFormedOnly?: boolean;
}

/**
 * Writes texts into records of a kind in every way there is, right and wrong, and asks for them.
 * @param word makes a new word of at most 16 characters for a place of a request
 */
export async function fuzzWrites(
  client: TestClient,
  module: EntityModule,
  word: (place: string) => string,
  { existing, required = [], wellFormedOnly = false }: Records = {},
): Promise<Written> {
  const { typeName, kind, mutate } = module;
  const { path } = recordNames(module);
  let creations = 0;
  const input = (): Input => ({
    ...required[creations++],
    ...inputOf(module, true, (field) => word(`${kind}.${field}`)),
  });
  const answers: TestAnswer[] = [];
  let id = existing ?? word(`id of a ${kind}`);
  if (mutate?.includes('create')) {
    const first = input();
    const created = await client.post(path, snakeCased(first));
    id = existing ?? created.body.id ?? id;
    answers.push(
      created,
      await client.graphql(creation(typeName), { input: withEnumValues(module, input()) }),
      await client.graphql(bulkCreation(typeName), {
        inputs: [withEnumValues(module, input()), withEnumValues(module, input())],
      }),
      await client.graphql(csvCreation(typeName), { csv: csvOf([input(), input()]) }),
    );
    // Taken, where a value has to be the only one; and wrong.
    await client.post(path, snakeCased(first));
    const taken = withEnumValues(module, first);
    await client.graphql(bulkCreation(typeName), { inputs: [taken, taken] });
    for (const wrong of wellFormedOnly ? [] : wrongInputs(input(), writtenFields(module, true))) {
      const inGraphql = withEnumValues(module, wrong);
      await client.post(path, snakeCased(wrong));
      await client.graphql(creation(typeName), { input: inGraphql });
      await client.graphql(bulkCreation(typeName), { inputs: [inGraphql] });
      await client.graphql(csvCreation(typeName), { csv: csvOf([wrong]) });
    }
  }
  if (writtenFields(module, false).length > 0)
    answers.push(...(await changeEverywhere(client, module, word, { id, wellFormedOnly })));
  await reserve(client, module, word);
  return { id, answers };
}

async function changeEverywhere(
  client: TestClient,
  module: EntityModule,
  word: (place: string) => string,
  { id, wellFormedOnly }: { readonly id: string; readonly wellFormedOnly: boolean },
): Promise<TestAnswer[]> {
  const { typeName, kind } = module;
  const { path } = recordNames(module);
  const input = (): Input => inputOf(module, false, (field) => word(`change of ${kind}.${field}`));
  const change = (payload: object) => client.mutate({ method: 'PATCH', url: `${path}/${id}`, payload });
  const answers = [
    await change(snakeCased(input())),
    await client.graphql(update(typeName), { id, input: input() }),
    await client.graphql(bulkUpdate(typeName), { ids: [id], input: input() }),
  ];
  for (const wrong of wellFormedOnly ? [] : wrongInputs(input(), writtenFields(module, false))) {
    await change(snakeCased(wrong));
    await client.graphql(update(typeName), { id, input: wrong });
    await client.graphql(bulkUpdate(typeName), { ids: [id], input: wrong });
  }
  return answers;
}

const creation = (type: string) =>
  `mutation ($input: Create${type}Input!) { create${type}(input: $input) { __typename } }`;
const bulkCreation = (type: string) =>
  `mutation ($inputs: [Create${type}Input!]!) { createBulk${type}(inputs: $inputs) { __typename } }`;
const csvCreation = (type: string) => `mutation ($csv: String!) { createBulkCSV${type}(csv: $csv) { __typename } }`;
const update = (type: string) =>
  `mutation ($id: ID!, $input: Update${type}Input!) { update${type}(id: $id, input: $input) { __typename } }`;
const bulkUpdate = (type: string) =>
  `mutation ($ids: [ID!]!, $input: Update${type}Input!) { updateBulk${type}(ids: $ids, input: $input) { updatedIds } }`;

function inputOf(module: EntityModule, isNew: boolean, word: (field: string) => string): Input {
  return Object.fromEntries(
    writtenFields(module, isNew).map((name) => {
      if (name === listFieldsOf(module)?.filter) return [name, filterWith(word(name))];
      return [name, valueWith(module.fields[name] as Field, () => word(name))];
    }),
  );
}

/** A filter of the list that is named where the name of a kind belongs: people write what they compare with. */
const filterWith = (word: string): Input => ({ title: { contains: word } });

/** A value of a field with words in it. */
function valueWith({ type, schema, naming }: Field, word: () => string): unknown {
  if (naming !== undefined) return naming === 'kind' ? 'task' : ['createdAt'];
  const text = word();
  if (type === 'textList') return [text];
  if (type === 'json') return { [word()]: text };
  if ('format' in schema) return `${text}@example.com`;
  return text.padEnd('minLength' in schema ? Number(schema.minLength) : 0, '.');
}

/** GraphQL has the values of choices in capitals. */
export function withEnumValues({ fields }: EntityModule, input: Input): Input {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      fields[name]?.type === 'choice' ? String(value).toUpperCase() : value,
    ]),
  );
}

/** Refused for one value or one key, with the others beside it. */
function wrongInputs(input: Input, [first = '']: readonly string[]): Input[] {
  const text = JSON.stringify(input[first]);
  return [
    { ...input, [first]: text.repeat(5_000) },
    { ...input, [first]: { [text]: text } },
    { ...input, [text.replaceAll(/\W/g, '_')]: text },
    { ...input, id: text },
  ];
}

function snakeCased(input: Input): object {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [snakeCase(name), value]));
}

function csvOf(inputs: readonly Input[]): string {
  const cell = (value: unknown): string => {
    if (value instanceof Date) return cell(value.toISOString());
    const text = Array.isArray(value) ? value.join(';') : typeof value === 'string' ? value : JSON.stringify(value);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const rows = inputs.map((input) => Object.values(input).map(cell).join(','));
  return [Object.keys(inputs[0] ?? {}).join(','), ...rows].join('\n');
}

/** By filters, searches and cursors. */
async function reserve(client: TestClient, module: EntityModule, word: (place: string) => string): Promise<void> {
  const { kind, filter, search } = module;
  const { path } = recordNames(module);
  for (const name of filter.filter((each) => module.fields[each]?.type === 'text')) {
    const comparison = { eq: word(`filter ${name}`), contains: word(`part of ${name}`), in: [word(`one ${name}`)] };
    await client.graphql(
      `query ($where: ${module.typeName}Where) { ${pluralOf(module)}(where: $where) { totalCount } }`,
      { where: { [name]: comparison } },
    );
    await client.get(`${path}?${snakeCase(name)}=${word(`filter ${name}`)}`);
  }
  await client.get(`${path}?after=${word('cursor')}&order_by=${word('order')}`);
  await client.get(`${path}?after=${Buffer.from(JSON.stringify([word('cursor')])).toString('base64url')}`);
  if (search?.length) {
    await client.graphql(`query ($query: String!) { ${kind}Search(query: $query) { totalCount } }`, {
      query: word(`search of ${kind}`),
    });
    await client.graphql('query ($query: String!) { search(query: $query) { __typename } }', { query: word('search') });
  }
}
