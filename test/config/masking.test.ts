import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changedLeaves, describeChange } from '#config/live/changed-leaves.ts';
import type { Field } from '#config/schema/field.ts';
import { leaves } from '#config/objects/leaf.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import { leastEnvironment, Sandbox } from './configuration-folder.ts';
import { sampleValue } from './sample-config-value.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

/** Occurs in every secret of these tests and must never be printed. */
const marker = 'hunter2';

/** A value of a leaf, with the marker in each of its secrets. */
function marked(field: Field, isRight: boolean): unknown {
  switch (field.type) {
    case 'text':
      if (field.secret === undefined) return sampleValue(field);
      if (field.secret === 'url')
        return isRight ? `postgres://core:${marker}@db.example/core` : `postgres://core:${marker}@db.example`;
      if (field.format?.name.includes('URL') === true)
        return isRight ? `https://hooks.example/${marker}` : `hooks ${marker}`;
      return isRight ? marker.repeat(6) : `\0${marker}`;
    case 'list':
      return [marked(field.items, isRight)];
    case 'map':
      return { sample: marked(field.values, isRight) };
    case 'object':
      return Object.fromEntries(Object.entries(field.fields).map(([key, child]) => [key, marked(child, isRight)]));
    case 'integer':
    case 'flag':
    case 'text-or-integer':
    case 'any':
    case 'empty':
      return sampleValue(field);
  }
}

const nest = (keys: readonly string[], value: unknown): unknown =>
  keys.reduceRight((inner, key) => ({ [key]: inner }), value);

/** Everything that a load prints or throws. */
async function printed(content: string | undefined, environment: Record<string, string>): Promise<string> {
  try {
    const loaded = await sandbox.load(content, environment);
    return JSON.stringify(loaded.noEffect);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message + JSON.stringify(error.problems) + String(error.stack);
  }
}

const secrets = leaves.filter((leaf) => leaf.secret);

describe('a secret is never printed', () => {
  test('there are secrets', () => {
    expect(secrets.length).toBeGreaterThan(40);
  });

  test('when it is wrong in the file', async () => {
    for (const { keys, field, path } of secrets) {
      const { [`CORE_${keys.join('_').toUpperCase()}`]: _, ...environment }: Record<string, string> = leastEnvironment;
      const inPlaces = [
        marked(field, false),
        [marker],
        { [marker]: marker, a: { b: marker } },
        `${marker} ${marker}`,
        { sample: { secret: marker, status: 'active' } },
      ];
      for (const value of inPlaces) {
        const text = await printed(JSON.stringify(nest(keys, value)), environment);
        // A key is not a secret, only values are.
        expect(text.replaceAll(`.${marker}`, ''), path).not.toContain(marker);
      }
    }
  });

  test('when it stands where its object belongs, or under a misspelt key', async () => {
    for (const { keys, path } of secrets) {
      const parent = keys.slice(0, -1);
      const key = keys.at(-1) ?? '';
      expect(await printed(JSON.stringify(nest(parent, `${key} ${marker}`)), leastEnvironment), path).not.toContain(
        marker,
      );
      expect(
        await printed(JSON.stringify(nest(parent, { [`${key}x`]: marker })), leastEnvironment),
        path,
      ).not.toContain(marker);
      expect(
        await printed(JSON.stringify(nest(parent, { [`${key}:${marker}`]: null })), leastEnvironment),
        path,
      ).not.toContain(marker);
    }
  });

  test('when its line is no YAML', async () => {
    for (const line of [
      `signingkey: "${marker}`,
      `signingkey ${marker}\n  x: 1`,
      `signingkey: ${marker}: ${marker}`,
      `signingkey: @${marker}`,
      `signingkey: "\\q${marker}"`,
      `signingkey: [${marker}`,
      `signingkey: *${marker}`,
      `signingkey: !${marker} x`,
      `signingkey: &${marker}`,
      `\t${marker}`,
    ]) {
      expect(await printed(`sessions:\n  ${line}\n`, leastEnvironment), line).not.toContain(marker);
    }
  });

  test('when it is wrong in the environment or in the file that a variable names', async () => {
    const file = await sandbox.write('secret', `\u0001{"${marker}`);
    for (const { variable, field, path } of secrets) {
      const { [variable]: _, ...environment }: Record<string, string> = leastEnvironment;
      const wrong = marked(field, false);
      const text = typeof wrong === 'string' ? wrong : JSON.stringify(wrong);
      expect(await printed(undefined, { ...environment, [variable]: text }), path).not.toContain(marker);
      expect(await printed(undefined, { ...environment, [variable]: `["${marker}"` }), path).not.toContain(marker);
      expect(await printed(undefined, { ...environment, [`${variable}X`]: marker }), path).not.toContain(marker);
      expect(await printed(undefined, { ...environment, [`${variable}_FILE`]: file }), path).not.toContain(marker);
      expect(
        await printed(undefined, { ...environment, [`${variable}_FILE`]: file, [variable]: marker }),
        path,
      ).not.toContain(marker);
    }
    expect(
      await printed(undefined, {
        ...leastEnvironment,
        CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
        CORE_API_TOKEN_KEY_A: marker,
      }),
    ).not.toContain(marker);
  });

  test('when it changes', async () => {
    const { config: from } = await sandbox.load(undefined);
    for (const leaf of secrets) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one leaf replaced by a value of its kind
      const to = merge(from, nest(leaf.keys, marked(leaf.field, true))) as typeof from;
      const changed = changedLeaves(from, to);
      expect(changed.map(({ path }) => path)).toEqual([leaf.path]);
      expect(
        JSON.stringify(changed.map((each) => [describeChange(each, from, to), describeChange(each, to, from)])),
        leaf.path,
      ).not.toContain(marker);
    }
  });
});

/** `over` laid over `base`, key by key. */
function merge(base: unknown, over: unknown): unknown {
  if (typeof base !== 'object' || base === null || typeof over !== 'object' || over === null || Array.isArray(over))
    return over;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) result[key] = merge(result[key], value);
  return result;
}
