import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';

test('the workflow bundle holds no Node module, no entity, no client and no activity code', async () => {
  const bundle = await readFile(inject('stack').bundlePath, 'utf8');
  const modules = [...bundle.matchAll(/^\s*\/\*\*\*\/ "\.\/([^"]+)"/gm)].map(([, path]) => path as string);
  // The bundle names its modules; otherwise this test would see nothing.
  expect(modules.some((path) => path.startsWith('workflows/events/deliver-events.ts'))).toBe(true);
  const ours = modules.filter((path) => !path.startsWith('node_modules/'));
  // Besides the workflows there is the list of them, which is written for the bundle.
  const others = ours.filter((path) => !path.startsWith('workflows/'));
  expect(others.filter((path) => !/^\.local\/bundles\/workflows-[^/]+\.entry\.ts/.test(path))).toEqual([]);
  expect(bundle).not.toMatch(/require\(['"]node:/);
});
