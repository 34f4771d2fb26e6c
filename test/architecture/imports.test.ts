import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Who may import what, by top folder (ARCHITECTURE.md shows the same table). Type imports are free where it says so. */
const allowed: Readonly<Record<string, { readonly values: readonly string[]; readonly types?: readonly string[] }>> = {
  config: { values: [] },
  entities: { values: [] },
  workflows: { values: [], types: ['activities'] },
  activities: { values: ['entities', 'workflows', 'config'] },
  relay: { values: ['entities', 'workflows', 'activities/clients', 'config'] },
  runtime: { values: ['entities', 'relay', 'workflows', 'activities/clients', 'activities/listeners', 'config'] },
  api: { values: ['entities', 'relay', 'runtime', 'workflows', 'activities/clients', 'config', 'migrations'] },
  worker: { values: ['entities', 'relay', 'runtime', 'workflows', 'activities', 'config', 'migrations'] },
  migrations: { values: ['entities', 'config'] },
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly isType: boolean;
}

async function sources(folder: string): Promise<string[]> {
  const files = await readdir(join(root, folder), { recursive: true });
  return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(join(root, file), 'utf8');
  const pattern = /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)/g;
  return [...text.matchAll(pattern)].map(([, type, from, dynamic]) => ({
    file,
    target: (from ?? dynamic) as string,
    isType: type !== undefined,
  }));
}

describe.each(Object.entries(allowed))('%s', (folder, { values, types = [] }) => {
  test('imports only what the table allows', async () => {
    const violations: string[] = [];
    for (const file of await sources(folder)) {
      for (const { target, isType } of await importsOf(file)) {
        const [, area] = /^#([^/]+)\//.exec(target) ?? [];
        if (!area || area === folder) continue;
        const path = target.slice(1);
        const isAllowed = [...values, ...(isType ? types : [])].some((name) => path.startsWith(`${name}/`));
        if (!isAllowed) violations.push(`${file} imports ${target}`);
      }
    }
    expect(violations).toEqual([]);
  });

  test('reaches other folders by #area and its own by relative paths, always with .ts', async () => {
    const violations: string[] = [];
    for (const file of await sources(folder)) {
      for (const { target } of await importsOf(file)) {
        if (target.startsWith('.')) {
          const resolved = relative(root, resolve(root, dirname(file), target));
          if (!resolved.startsWith(`${folder}/`)) violations.push(`${file} leaves its folder: ${target}`);
        }
        if (/^[.#]/.test(target) && !target.endsWith('.ts')) violations.push(`${file} imports without .ts: ${target}`);
      }
    }
    expect(violations).toEqual([]);
  });
});

/** Packages that stand for an outside system or a layer, and where they belong. */
const homes: Readonly<Record<string, readonly string[]>> = {
  '@temporalio/workflow': ['workflows/'],
  '@temporalio/worker': ['worker/'],
  '@temporalio/client': ['activities/clients/', 'worker/'],
  '@openfga/sdk': ['activities/clients/'],
  ioredis: ['activities/clients/'],
  nodemailer: ['activities/clients/'],
  fastify: ['api/'],
  'graphql-yoga': ['api/'],
  graphql: ['api/', 'docs/'],
  jose: ['api/auth/'],
  '@mikro-orm/core': ['entities/kit/', 'migrations/'],
  '@mikro-orm/postgresql': ['entities/kit/', 'migrations/'],
  pg: ['entities/kit/', 'migrations/', 'relay/', 'temporal-dev/'],
  kysely: ['entities/kit/'],
};

test('packages stay where they belong', async () => {
  const violations: string[] = [];
  for (const folder of [...Object.keys(allowed), 'docs', 'temporal-dev']) {
    for (const file of await sources(folder)) {
      for (const { target, isType } of await importsOf(file)) {
        const home = Object.entries(homes).find(([name]) => target === name || target.startsWith(`${name}/`))?.[1];
        if (home && !isType && !home.some((prefix) => file.startsWith(prefix)))
          violations.push(`${file} imports ${target}`);
      }
    }
  }
  expect(violations).toEqual([]);
});

test('SQL is written in entities/kit and migrations only', async () => {
  const violations: string[] = [];
  for (const folder of Object.keys(allowed).filter((name) => name !== 'migrations')) {
    for (const file of await sources(folder)) {
      if (file.startsWith('entities/kit/')) continue;
      // The wall of an entity is SQL by nature; it is one expression and becomes a policy.
      const text = (await readFile(join(root, file), 'utf8')).replace(/rlsUsing: `[^`]*`/, '');
      if (
        /\b(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\b/i.test(
          text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''),
        )
      ) {
        violations.push(file);
      }
    }
  }
  expect(violations).toEqual([]);
});

test('process.env is read in config/ and temporal-dev/ only', async () => {
  const violations: string[] = [];
  for (const folder of Object.keys(allowed).filter((name) => name !== 'config')) {
    for (const file of await sources(folder)) {
      if ((await readFile(join(root, file), 'utf8')).includes('process.env')) violations.push(file);
    }
  }
  expect(violations).toEqual([]);
});
