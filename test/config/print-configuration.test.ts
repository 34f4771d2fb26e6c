import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import Schema from 'typebox/schema';
import { driftedFiles } from '#tools/generators/derive-main.ts';
import { isPlainObject } from '#config/schema/is-plain-object.ts';
import { leaves, valueAt } from '#config/objects/leaf.ts';
import { pendingCapability } from '#config/objects/pending.ts';
import { printExample, printSchema } from '#tools/generators/print-configuration.ts';
import { printReference } from '#tools/generators/print-reference.ts';
import { parse } from 'yaml';
import { Sandbox, leastEnvironment } from './configuration-folder.ts';
import { sampleValue } from './sample-config-value.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

const nest = (keys: readonly string[], value: unknown): unknown =>
  keys.reduceRight((inner, key) => ({ [key]: inner }), value);

describe('the printed configuration', () => {
  test('is what is checked in', async () => {
    expect(await driftedFiles()).toEqual([]);
  });

  test('is missed by name where it is missing or differs', async () => {
    await sandbox.write('config/config.schema.json', printSchema());
    await sandbox.write('config/config.example.yaml', `${printExample()}# mine\n`);
    const drifted = await driftedFiles(sandbox.directory);
    expect(drifted).toContain('config/config.example.yaml');
    expect(drifted).toContain('docs/reference/configuration.md');
    expect(drifted).not.toContain('config/config.schema.json');
  });

  test('is checked by the command without a word when nothing differs', async () => {
    const script = join(import.meta.dirname, '..', '..', 'tools', 'generators', 'derive-main.ts');
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, '--check']);
    expect(stdout + stderr).toBe('');
  });
});

describe('the example', () => {
  test('loads as it is, for development, and says nothing at start', async () => {
    const { config, noEffect } = await sandbox.load(printExample(), {});
    expect(config.server.dev).toBe(true);
    expect(noEffect).toEqual([]);
  });

  test('begins with the schema, for editors', async () => {
    expect(printExample().split('\n')[0]).toBe('# yaml-language-server: $schema=./config.schema.json');
  });

  test('holds the default of every field but the few that development needs', async () => {
    const { config: defaults } = await sandbox.load(undefined, leastEnvironment);
    const { config: example } = await sandbox.load(printExample(), {});
    const different = leaves.filter(
      ({ keys }) => JSON.stringify(valueAt(defaults, keys)) !== JSON.stringify(valueAt(example, keys)),
    );
    expect(different.map(({ path }) => path)).toEqual([
      'auth.token.kid',
      'auth.token.audience',
      'auth.token.issuer',
      'db.primarydbsource',
    ]);
  });

  test('names every field and says its unit', () => {
    const text = printExample();
    for (const { keys, field } of leaves) {
      expect(text).toMatch(new RegExp(`^ *(?:# )?${keys.at(-1)}: `, 'mu'));
      if (field.type === 'integer') expect(text).toContain(`Unit: ${field.unit},`.split(' ').at(-1));
    }
  });
});

test('each of the three says at every pending field, and at no other, that it has no effect yet', () => {
  const example = printExample()
    .replaceAll(/\n *# /gu, ' ')
    .split('\n');
  const rows = printReference().split('\n');
  const schema: object = JSON.parse(printSchema());
  for (const { keys, path, variable } of leaves) {
    const capability = pendingCapability(path);
    const said = `Has no effect yet (${capability})`;
    const node = valueAt(
      schema,
      keys.flatMap((key) => ['properties', key]),
    ) as { readonly description: string };
    expect(node.description.startsWith(said), path).toBe(capability !== undefined);
    expect(rows.find((row) => row.includes(`\`${variable}\``))?.includes(said), path).toBe(capability !== undefined);
  }
  const marked = leaves.filter(({ path }) => pendingCapability(path) !== undefined);
  expect(example.join(' ').split('Has no effect yet (').length - 1).toBe(marked.length);
});

describe('the JSON Schema', () => {
  const schema: object = JSON.parse(printSchema());
  const accepts = (value: unknown): boolean => Schema.Check(schema, value);

  test('refuses unknown keys at every depth', () => {
    const look = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      if ('properties' in node) expect(node, path).toHaveProperty('additionalProperties', false);
      for (const [key, child] of Object.entries(node)) look(child, `${path}/${key}`);
    };
    look(schema, '');
    expect(accepts({ servr: {} })).toBe(false);
    expect(accepts({ server: { tls: { enable: true } } })).toBe(false);
    expect(accepts({ ratelimit: { options: [{ windo: 5000 }] } })).toBe(false);
  });

  test('accepts the example', () => {
    expect(accepts(parse(printExample()))).toBe(true);
  });

  test('describes every leaf with its default, bounds and whether it is written only', () => {
    for (const { keys, field, path, variable } of leaves) {
      const node = valueAt(
        schema,
        keys.flatMap((key) => ['properties', key]),
      );
      if (!isPlainObject(node)) throw new Error(`${path} is not in the schema`);
      expect(node.description, path).toContain(field.description);
      expect(node['x-environment'], path).toBe(variable);
      expect(node['x-restart'], path).toBe(field.restart === true);
      if (field.type === 'text') expect(node.writeOnly === true, path).toBe(field.secret !== undefined);
      if ('default' in field && !('required' in field && field.default === ''))
        expect(node.default, path).toEqual(field.default);
    }
  });

  test('accepts what the loader accepts and refuses the same wrong values', () => {
    for (const { keys, field, path } of leaves) {
      expect(accepts(nest(keys, sampleValue(field))), path).toBe(true);
      if (field.type === 'any') continue;
      expect(accepts(nest(keys, field.type === 'list' ? {} : [1])), path).toBe(false);
      if (field.type !== 'integer') continue;
      const outside = [field.minimum - 1, field.maximum + 1, field.minimum + 0.5].filter(
        (value) => field.special?.some((special) => special.value === value) !== true,
      );
      for (const value of outside) expect(accepts(nest(keys, value)), `${path} ${value}`).toBe(false);
      for (const value of [field.maximum, ...(field.special ?? []).map((special) => special.value)])
        expect(accepts(nest(keys, value)), path).toBe(true);
    }
  });
});

describe('the reference page', () => {
  test('has a row for every field, with its variable', () => {
    const rows = printReference().split('\n');
    for (const { keys, variable, field } of leaves) {
      const row = rows.find((line) => line.startsWith(`| \`${keys.at(-1)}\` | \`${variable}\``));
      expect(row, variable).toBeDefined();
      expect(row).toContain(field.description.replaceAll('|', String.raw`\|`));
      expect(row?.replaceAll(String.raw`\|`, '').split('|')).toHaveLength(10);
    }
  });

  test('holds no path of a machine, nor do the others', () => {
    for (const text of [printReference(), printExample(), printSchema()]) {
      expect(text).not.toMatch(/\/(?:home|root|work|Users)\//u);
    }
  });
});
