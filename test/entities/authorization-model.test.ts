import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformer, validator } from '@openfga/syntax-transformer';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { registry } from '#entities/index.ts';
import { deriveModel } from '#entities/kit/model/authorization-model.ts';
import { newId } from '#entities/kit/base/ids.ts';

/** A file of tests as the store's own tool takes it, as far as ours uses it. */
interface TestFile {
  readonly model_file: string;
  readonly tuples: readonly TupleLine[];
  readonly tests: readonly {
    readonly name: string;
    readonly check?: readonly {
      readonly user: string;
      readonly object: string;
      readonly assertions: Readonly<Record<string, boolean>>;
    }[];
    readonly list_objects?: readonly {
      readonly user: string;
      readonly type: string;
      readonly assertions: Readonly<Record<string, readonly string[]>>;
    }[];
  }[];
}

interface TupleLine {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

const folder = join(import.meta.dirname, '..', '..', 'entities');
const file = parse(readFileSync(join(folder, 'authorization.tests.fga.yaml'), 'utf8')) as TestFile;

const model = transformer.transformDSLToJSONObject(readFileSync(join(folder, file.model_file), 'utf8'));

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

test('the file has the form of the tool', () => {
  const isValid = validator.YamlStoreValidator();
  // The validator takes the model as its `this`, and finds subjects worth a second look that no tuple names.
  isValid.call({ jsonModel: model }, file);
  const errors = (isValid.errors ?? [])
    .filter(({ message }) => !message?.includes('the check is still valid'))
    .map(({ instancePath, message }) => `${instancePath}: ${message}`);
  expect(errors).toEqual([]);
});

describe('the model', () => {
  test.each(file.tests)('$name', async ({ check = [], list_objects: lists = [] }) => {
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
    for (const { user, type, assertions } of lists)
      for (const [relation, expected] of Object.entries(assertions)) {
        const { objects } = await ask<{ objects: string[] }>(`${store}/list-objects`, { user, relation, type });
        const found = objects.toSorted().join();
        if (found !== expected.toSorted().join())
          wrong.push(`${user} ${relation} ${type}: ${found}, not ${expected.join()}`);
      }
    expect(wrong).toEqual([]);
  });
});

test('every relation of the model is granted in one test, and refused in one', () => {
  const seen = new Set<string>();
  for (const { check = [], list_objects: lists = [] } of file.tests) {
    for (const { object, assertions } of check)
      for (const [relation, isAllowed] of Object.entries(assertions))
        seen.add(`${object.slice(0, object.indexOf(':'))}#${relation} ${isAllowed ? 'granted' : 'refused'}`);
    for (const { type, assertions } of lists)
      for (const [relation, objects] of Object.entries(assertions))
        if (objects.length > 0) seen.add(`${type}#${relation} granted`);
  }
  const wanted = deriveModel(registry).flatMap(({ name, relations }) =>
    relations.flatMap((relation) => [`${name}#${relation.name} granted`, `${name}#${relation.name} refused`]),
  );
  expect(
    wanted.filter((each) => !seen.has(each)),
    'add assertions to entities/authorization.tests.fga.yaml',
  ).toEqual([]);
});
