import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { repositoryFiles } from '../kit/repository-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = repositoryFiles();
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const decisions = tracked.filter((file) => file.startsWith('docs/decisions/'));
const pages = [...decisions, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'CHANGELOG.md'];

/** Code spans of a page, without those in blocks of code. */
function spansOf(text: string): string[] {
  return [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span as string);
}

/** Whether a span names a file or a folder of the repository: with a folder of it in front, or a source file by its name alone. */
function isPath(span: string): boolean {
  if (/[<>*…\s(]/.test(span) || /^(?:\.local|node_modules|\/)/.test(span)) return false;
  return (
    /^[\w.-]+(?:\/[\w.-]+)*\/?$/.test(span) && /\.(?:ts|mjs|md|ya?ml|json|fga)$|^\w[\w-]*\/(?:[\w-]+\/)*$/.test(span)
  );
}

function exists(path: string): boolean {
  if (!path.includes('/')) return tracked.some((file) => basename(file) === path);
  return tracked.some((file) => file === path || (path.endsWith('/') && file.startsWith(path)));
}

/** Paths and identifiers of a text that the repository does not have. */
function stale(text: string, sources: string): string[] {
  return spansOf(text).filter((span) => {
    if (isPath(span)) return !exists(span) && !generatedFiles.has(span);
    return /^(?:[a-z]+[A-Z]\w*|[a-z]+_\w+)$/.test(span) && !sources.includes(span);
  });
}

/** Written by commands, and not tracked. */
const generatedFiles = new Set(['config/config.yaml', 'worker.log']);
const sources = tracked
  .filter((file) => /\.(?:ts|mjs|sql|json|graphql)$/.test(file) && file !== 'test/docs/named-files.test.ts')
  .map(textOf)
  .join('\n');

describe('pages name what exists', () => {
  test.each(pages)('%s', (page) => {
    expect(stale(textOf(page), sources)).toEqual([]);
  });

  test('a file and a function that are gone are noticed', () => {
    const text = 'See `entities/kit/read/gone.ts`, `kit/gone/`, `gone-file.ts`, `goneFunction` and `openWorld`.';
    expect(stale(text, sources)).toEqual(['entities/kit/read/gone.ts', 'kit/gone/', 'gone-file.ts', 'goneFunction']);
  });
});

test('comments name decision records that exist', () => {
  const named = [...sources.matchAll(/docs\/decisions\/[\w-]+\.md/g)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !tracked.includes(path))).toEqual([]);
});

test('comments say the rule instead of citing a document that is not in the repository', () => {
  expect([...sources.matchAll(/\((?:specification|design)[,:][^)]*\)/g)].map(([citation]) => citation)).toEqual([]);
});

test.each(decisions)('%s is short and names its check', (file) => {
  const text = textOf(file);
  expect([...text.matchAll(/^\*\*([^*]+?)\.?\*\*/gm)].map(([, part]) => part)).toEqual([
    'Context',
    'Decision',
    'Consequences',
    'Enforced by',
  ]);
  const [, check = ''] = text.split('**Enforced by**');
  expect(spansOf(check).filter(isPath)).not.toEqual([]);
  expect(text.split('\n').length).toBeLessThanOrEqual(25);
});
