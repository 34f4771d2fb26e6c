import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '#config/schema/field.ts';
import { effectPaths, leafByPath, leaves, valueAt } from '#config/objects/leaf.ts';
import { root } from '#config/objects/root.ts';
import { Sandbox } from './configuration-folder.ts';
import { specification, statedDefaults } from './specification.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.make();
});
afterAll(() => sandbox.remove());

function everyField(field: Field, path: string): { field: Field; path: string }[] {
  const children =
    field.type === 'object'
      ? Object.entries(field.fields).flatMap(([key, child]) => everyField(child, `${path}.${key}`))
      : field.type === 'list'
        ? everyField(field.items, `${path}[]`)
        : field.type === 'map'
          ? everyField(field.values, `${path}.*`)
          : [];
  return [{ field, path }, ...children];
}

describe('the description of the configuration', () => {
  test('has every field of the specification', () => {
    const specified = Object.entries(specification).flatMap(([object, fields]) =>
      fields.split(' ').map((field) => (object === '' ? field : `${object}.${field}`)),
    );
    expect(specified.filter((path) => !leafByPath.has(path))).toEqual([]);
  });

  test('has the defaults that the specification states', async () => {
    const { config } = await sandbox.load(undefined);
    for (const [path, value] of Object.entries(statedDefaults)) {
      expect(valueAt(config, path.split('.')), path).toBe(value);
    }
  });

  test('gives every leaf its own variable, also with _FILE', () => {
    const names = leaves.flatMap((leaf) => [leaf.variable, `${leaf.variable}_FILE`]);
    expect(new Set(names).size).toBe(names.length);
    for (const leaf of leaves) expect(leaf.variable).toMatch(/^CORE_[A-Z0-9]+(?:_[A-Z0-9]+)*$/u);
  });

  test('has defaults that are right by its own rules', () => {
    for (const { field, path } of everyField(root, '')) {
      expect(field.description.length, path).toBeGreaterThan(3);
      if (field.type === 'text') {
        const { default: value } = field;
        if (field.values !== undefined && !path.endsWith('[]')) expect(field.values, path).toContain(value);
        if (value !== '') expect(field.format?.check(value), path).toBeUndefined();
      }
      if (field.type === 'integer') {
        const isSpecial = field.special?.some((special) => special.value === field.default) === true;
        expect(isSpecial || (field.default >= field.minimum && field.default <= field.maximum), path).toBe(true);
        expect(field.unit, path).not.toBe('');
      }
    }
  });

  test('has no default for any secret', () => {
    for (const { field, path } of everyField(root, '')) {
      if (field.type === 'text' && field.secret !== undefined) expect(field.default, path).toBe('');
    }
  });

  test('refuses seconds where milliseconds belong, for every default of at least a second', () => {
    for (const { field, path } of everyField(root, '')) {
      if (field.type !== 'integer' || field.unit !== 'milliseconds' || field.default < 1000) continue;
      // Sub-second settings of the poller may be a few milliseconds, and long ones overlap with their seconds.
      if (/Fetch|linkttl|Retention/u.test(path)) continue;
      expect(field.default / 1000, path).toBeLessThan(field.minimum);
    }
  });

  test('names what has an effect of its own, items of lists and maps included', () => {
    const paths = effectPaths();
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toContain('ratelimit.options[].requests');
    expect(paths).toContain('jobqueue.queueconf.Queues.*.MaxWorkers');
    expect(paths).toContain('auth.token.apitokens.keys.*.secret');
    expect(paths).not.toContain('ratelimit.options');
    expect(leafByPath.has('ratelimit.options')).toBe(true);
  });
});
