import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const kit = fileURLToPath(new URL('../../entities/kit/', import.meta.url));

test('a kind declares at most 20 properties: what few kinds have is a behaviour', () => {
  const source = readFileSync(`${kit}model/define.ts`, 'utf8');
  const [, body = ''] = /export interface EntityDefinition<[^]*?> \{\n([^]*?)\n\}\n/.exec(source) ?? [];
  const properties = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name);
  expect(properties).toContain('behaviours');
  expect(properties.length).toBeLessThanOrEqual(20);
});

describe.each(['behaviours/', 'model/behaviours/'])('each file in entities/kit/%s', (folder) => {
  test.each(readdirSync(kit + folder))('%s has the function that makes the behaviour of its name', async (file) => {
    const name = file.replace('.ts', '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const exported = (await import(`${kit}${folder}${file}`)) as Record<string, unknown>;
    expect(Object.keys(exported)).toEqual([name]);
  });
});
