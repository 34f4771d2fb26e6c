import { recordNames } from '#api/rest/records/record-names.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { changeableFields, writableFields } from '#entities/kit/model/exposure.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { TestAnswer, TestClient } from './test-client.ts';

export interface Written {
  /** The record that was changed. */
  readonly id: string;
  /** Of the creations and changes that are right. */
  readonly answers: readonly TestAnswer[];
}

type Input = Readonly<Record<string, unknown>>;

/** Fields of a kind into which people write what they like. */
export function writtenFields(module: EntityModule, isNew: boolean): string[] {
  const given = isNew ? writableFields(module) : changeableFields(module);
  return given
    .filter(
      ([, { type, schema }]) => (type === 'text' && !('pattern' in schema)) || type === 'textList' || type === 'json',
    )
    .map(([name]) => name);
}

/**
 * Writes texts into records of a kind in every way there is, right and wrong, and asks for them.
 * @param word makes a new one; it is told where it goes
 * @param existing a record to change, instead of one that is created
 */
export async function fuzzWrites(
  client: TestClient,
  module: EntityModule,
  word: (place: string) => string,
  existing?: string,
): Promise<Written> {
  const { typeName, kind, mutate } = module;
  const { path } = recordNames(module);
  const input = (): Input => inputOf(module, true, (field) => word(`${kind}.${field}`));
  const answers: TestAnswer[] = [];
  let id = existing ?? word(`id of a ${kind}`);
  if (mutate?.includes('create')) {
    const first = input();
    const created = await client.post(path, snakeCased(first));
    id = existing ?? created.body.id ?? id;
    answers.push(
      created,
      await client.graphql(creation(typeName), { input: input() }),
      await client.graphql(bulkCreation(typeName), { inputs: [input(), input()] }),
      await client.graphql(csvCreation(typeName), { csv: csvOf([input(), input()]) }),
    );
    // Taken, where a value has to be the only one; and wrong.
    await client.post(path, snakeCased(first));
    await client.graphql(bulkCreation(typeName), { inputs: [first, first] });
    for (const wrong of wrongInputs(input())) {
      await client.post(path, snakeCased(wrong));
      await client.graphql(creation(typeName), { input: wrong });
      await client.graphql(bulkCreation(typeName), { inputs: [wrong] });
      await client.graphql(csvCreation(typeName), { csv: csvOf([wrong]) });
    }
  }
  if (writtenFields(module, false).length > 0) answers.push(...(await changeEverywhere(client, module, word, id)));
  await reserve(client, module, word);
  return { id, answers };
}

async function changeEverywhere(
  client: TestClient,
  module: EntityModule,
  word: (place: string) => string,
  id: string,
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
  for (const wrong of wrongInputs(input())) {
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
      const { type, schema } = module.fields[name] ?? {};
      const text = word(name);
      if (type === 'textList') return [name, [text]];
      if (type === 'json') return [name, { [word(name)]: text }];
      return [name, schema !== undefined && 'format' in schema ? `${text}@example.com` : text];
    }),
  );
}

/** Refused for one value or one key, with the others beside it. */
function wrongInputs(input: Input): Input[] {
  const [first = ''] = Object.keys(input);
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
