import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformer, validator } from '@openfga/syntax-transformer';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { registry } from '#entities/index.ts';
import { deriveModel } from '#entities/kit/model/authorization-model.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { expectedRights } from '../kit/records/rights-files.ts';
import { storeTests } from '../kit/store-tests.ts';

const root = join(import.meta.dirname, '..', '..');
const file = storeTests(registry, expectedRights());
const model = transformer.transformDSLToJSONObject(readFileSync(join(root, 'entities/authorization.fga'), 'utf8'));

/** The store's limit of one write. */
const maxConcurrent = 100;

let store: string;
beforeAll(async () => {
  store = `/stores/${(await ask<{ id: string }>('/stores', { name: `model-${newId()}` })).id}`;
  await ask(`${store}/authorization-models`, model);
  for (let start = 0; start < file.tuples.length; start += maxConcurrent)
    await ask(`${store}/write`, { writes: { tuple_keys: file.tuples.slice(start, start + maxConcurrent) } });
});
afterAll(async () => {
  await fetch(`${inject('stack').openfgaUrl}${store}`, { method: 'DELETE' });
});

async function ask<T>(path: string, body: object): Promise<T> {
  const answer = await fetch(`${inject('stack').openfgaUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  expect(answer.ok, `${path}: ${text}`).toBe(true);
  return JSON.parse(text) as T;
}

test('the tests have the format of the tool of the store; .local/ has them for it', () => {
  mkdirSync(join(root, '.local'), { recursive: true });
  writeFileSync(join(root, '.local/authorization.tests.fga.yaml'), stringify(file));
  const isValid = validator.YamlStoreValidator();
  // The validator takes the model as its `this`, and finds subjects worth a second look that no tuple names.
  isValid.call({ jsonModel: model }, file);
  const errors = (isValid.errors ?? [])
    .filter(({ message }) => !message?.includes('the check is still valid'))
    .map(({ instancePath, message }) => `${instancePath}: ${message}`);
  expect(errors).toEqual([]);
});

describe('the model', () => {
  test.each(file.tests)('$name', async ({ check }) => {
    const wrong: string[] = [];
    for (const { user, object, assertions } of check)
      await Promise.all(
        Object.entries(assertions).map(async ([relation, expected]) => {
          const { allowed } = await ask<{ allowed: boolean }>(`${store}/check`, {
            tuple_key: { user, relation, object },
            consistency: 'HIGHER_CONSISTENCY',
          });
          if (allowed !== expected) wrong.push(`${user} ${relation} ${object}: ${allowed}, not ${expected}`);
        }),
      );
    expect(wrong).toEqual([]);
  });
});

test('every relation of the model is granted in one test, and refused in one', () => {
  const seen = new Set<string>();
  for (const { check } of file.tests)
    for (const { object, assertions } of check)
      for (const [relation, isAllowed] of Object.entries(assertions))
        seen.add(`${object.slice(0, object.indexOf(':'))}#${relation} ${isAllowed ? 'granted' : 'refused'}`);
  const wanted = deriveModel(registry).flatMap(({ name, relations }) =>
    relations.flatMap((relation) => [`${name}#${relation.name} granted`, `${name}#${relation.name} refused`]),
  );
  expect(
    wanted.filter((each) => !seen.has(each)),
    'expect the rights of somebody who has the relation, and of somebody who does not, in the rights files',
  ).toEqual([]);
});
