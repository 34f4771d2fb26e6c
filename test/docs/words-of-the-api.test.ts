import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, visit } from 'graphql';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const isState = (name: string) => /(?:^|_)states?$|states?$/i.test(name);

/** Names of properties, parameters and schemas in the description. */
function namesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn);
  if (typeof node !== 'object' || node === null) return [];
  const { properties, name, title, in: place, ...others } = node as Record<string, unknown>;
  return [
    ...Object.keys((properties as object | undefined) ?? {}),
    ...(place === 'query' || place === 'path' ? [String(name)] : []),
    ...(typeof title === 'string' ? [title] : []),
    ...namesIn(Object.values((properties as object | undefined) ?? {})),
    ...namesIn(Object.values(others)),
  ];
}

test('in REST, status is the one word; the state that a sign-in provider returns has its name from OAuth', () => {
  const { paths, components } = JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8'));
  const { parameters, ...parts } = components;
  expect(namesIn([paths, parts]).filter(isState)).toEqual([]);
  const named = Object.values(parameters as Record<string, { readonly name: string }>);
  expect(named.map(({ name }) => name).filter((name) => isState(name.replace(/\[.*/, '')))).toEqual(['state']);
});

test('in GraphQL, status is the one word', () => {
  const folder = join(root, 'api/graphql/schema');
  const names: string[] = [];
  for (const file of readdirSync(folder))
    visit(parse(readFileSync(join(folder, file), 'utf8')), { Name: ({ value }) => void names.push(value) });
  expect(names).toContain('EmailStatus');
  expect(names.filter(isState)).toEqual([]);
});
