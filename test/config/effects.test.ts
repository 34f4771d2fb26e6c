import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptedPaths, effectPaths, leafByPath } from '#config/objects/leaf.ts';
import { pendingPaths } from '#config/objects/pending.ts';
import { checkEffects, effectiveLeaves, isMeant, leavesIn, writtenLeaves } from './effects.ts';

const repository = join(import.meta.dirname, '..', '..');
const leaves = effectiveLeaves();
const written = writtenLeaves();

/** The path and those of all objects above it. */
function prefixesOf(path: string): string[] {
  const parts = path.split('.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}

describe('leaves of the configuration', () => {
  test('that have an effect are each shown by a test', () => {
    expect(leaves.filter((path) => !written.some(({ leaf }) => isMeant(path, leaf)))).toEqual([]);
  });

  test('that tests show have an effect', () => {
    expect(written.filter(({ leaf }) => !leaves.some((path) => isMeant(path, leaf)))).toEqual([]);
  });

  test('are shown by what the product has, and not by kinds or mails of a test', () => {
    const own = /\b(?:createRegistry|defineEntityModule|defineMail|syntheticRegistry)\(/;
    const files = new Set(written.map(({ file }) => file));
    expect([...files].filter((file) => own.test(readFileSync(join(repository, file), 'utf8')))).toEqual([]);
  });

  test('that are accepted without an effect give the reason', () => {
    const reasons = acceptedPaths.map((path) => [path, leafByPath.get(path)?.field.description]);
    expect(Object.fromEntries(reasons)).toEqual({
      'jobqueue.queueconf.AdvisoryLockPrefix': expect.stringMatching(/^No effect: \w/),
      'jobqueue.queueconf.JobStuckHandler': expect.stringMatching(/^No effect: \w/),
      'jobqueue.queueconf.Logger': expect.stringMatching(/^No effect: \w/),
      'jobqueue.queueconf.Workers': expect.stringMatching(/^No effect: \w/),
    });
  });

  test('that are pending are leaves', () => {
    const known = new Set(effectPaths().flatMap((path) => prefixesOf(path.replaceAll('[]', ''))));
    expect(pendingPaths.filter((path) => !known.has(path))).toEqual([]);
  });
});

describe('leavesIn', () => {
  // Written apart, as this file shows nothing.
  const call = (list: string) => ['  shows', `(${list});`].join('');

  test('reads literals, and templates with a name in them', () => {
    expect(leavesIn('a.test.ts', call("'db.debug', `${name}.enabled`")).map(({ leaf }) => leaf)).toEqual([
      'db.debug',
      '${name}.enabled',
    ]);
    expect(isMeant('cache.enabled', '${name}.enabled')).toBe(true);
    expect(isMeant('server.tls.enabled', '${name}.enabled')).toBe(false);
  });

  test('refuses what is no literal', () => {
    expect(() => leavesIn('a.test.ts', call('...leaves'))).toThrow('a.test.ts shows ...leaves');
  });
});

describe('checkEffects', () => {
  const shown = [
    { leaf: 'db.debug', isWithinConfig: false },
    { leaf: 'domain', isWithinConfig: true },
  ] as const;
  const nothing = { shown: [], leftOut: [], read: new Set<string>() };

  test('finds a leaf that no test shows, unless its test is left to another run', () => {
    expect(checkEffects(['db.debug'], nothing)).toEqual(['db.debug: no test that passed shows it']);
    expect(checkEffects(['db.debug'], { ...nothing, leftOut: ['db.${name}'] })).toEqual([]);
  });

  test('finds a leaf that nothing reads, unless its effect is within config/', () => {
    expect(checkEffects(['db.debug', 'domain'], { ...nothing, shown })).toEqual([
      'db.debug: shown, but nothing outside config/ read it',
    ]);
  });

  test('does not ask what is read of a run that leaves out files', () => {
    expect(checkEffects(['db.debug'], { shown, leftOut: ['domain'], read: undefined })).toEqual([]);
  });

  test('is content with a run that shows everything', () => {
    expect(checkEffects(['db.debug', 'domain'], { ...nothing, shown, read: new Set(['db.debug']) })).toEqual([]);
  });
});
