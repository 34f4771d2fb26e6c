/**
 * Prints what is derived from the code into files that are checked in. With `--check`, it only names the files that differ and
 * ends with exit code 1. Derived code is never checked in.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { schemaFiles } from '#api/graphql/schema-files.ts';
import { printExample, printSchema } from './print-configuration.ts';
import { printReference } from './print-reference.ts';
import { registry } from '#entities/index.ts';
import { compareText } from '#entities/kit/base/compare-text.ts';
import { deriveModel, printModel } from '#entities/kit/model/authorization-model.ts';
import { describeApi } from './describe-api.ts';
import { lostFields } from './lost-fields.ts';
import { printArchitecture } from './print-architecture.ts';
import { printErrors } from './print-errors.ts';
import { printEvents, printEventSchemas } from './print-events.ts';
import { printNotifications, printNotificationTopics } from './print-notifications.ts';
import { printOpenapi } from './print-openapi.ts';
import { printPolicy } from './print-policy.ts';
import { printTokens } from './print-tokens.ts';
import { renderMailLayouts } from './render-mail-layouts.ts';

/** The kinds read it, so what is printed from them is printed again after it has changed. */
const topicsFile = 'entities/notifications/notification-topics.json';

const api = await describeApi(registry);
const today = new Date().toISOString().slice(0, 10);

/** Prints each file, by path from the root of the repository. `present` is its current text. */
const printed: Readonly<Record<string, (present: string) => string>> = {
  'ARCHITECTURE.md': printArchitecture,
  ...Object.fromEntries(
    [...schemaFiles(productSchema(), registry)].map(([area, text]) => [
      `api/graphql/schema/${area}.graphql`,
      () => text,
    ]),
  ),
  ...Object.fromEntries(Object.entries(await renderMailLayouts()).map(([path, text]) => [path, () => text])),
  'config/config.example.yaml': printExample,
  'config/config.schema.json': printSchema,
  'docs/reference/configuration.md': printReference,
  'docs/reference/errors.md': printErrors,
  'docs/reference/events.md': printEvents,
  'docs/reference/events.schema.json': printEventSchemas,
  'docs/reference/notifications.md': printNotifications,
  'docs/reference/openapi.json': (present) => printOpenapi(present, api, today),
  'docs/reference/policy.md': printPolicy,
  'docs/reference/tokens.md': printTokens,
  'entities/authorization.fga': () => printModel(deriveModel(registry)),
  [topicsFile]: printNotificationTopics,
};

const repository = join(import.meta.dirname, '..', '..');

/** The printed files below a folder that differ from the code. */
export async function driftedFiles(folder = repository): Promise<string[]> {
  await keepFields(join(folder, 'api/graphql/schema'));
  const drifted: string[] = [];
  for (const [path, print] of Object.entries(printed)) {
    const present = await readFile(join(folder, path), 'utf8').catch(() => '');
    if (present === '' || present !== print(present)) drifted.push(path);
  }
  return drifted;
}

/** @throws Error that names what clients of GraphQL would lose, compared with the printed schema */
async function keepFields(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(names.toSorted(compareText).map((name) => readFile(join(folder, name), 'utf8')));
  const lost = texts.length === 0 ? [] : lostFields(texts.join('\n'), productSchema());
  if (lost.length > 0)
    throw new Error(
      `GraphQL would lose what clients rely on; mark it as deprecated first (CONTRIBUTING.md, "Remove a part of the API"):\n${lost.join('\n')}`,
    );
}

if (import.meta.main) {
  const drifted = await driftedFiles();
  if (process.argv.includes('--check')) {
    for (const path of drifted) process.stderr.write(`${path} differs from the code; to update it: npm run derive\n`);
    if (drifted.length > 0) process.exitCode = 1;
  } else {
    for (const path of drifted) {
      const file = join(repository, path);
      await mkdir(dirname(file), { recursive: true });
      const present = await readFile(file, 'utf8').catch(() => '');
      await writeFile(file, printed[path]?.(present) ?? '');
      process.stdout.write(`wrote ${path}\n`);
    }
    if (drifted.includes(topicsFile)) {
      const again = spawnSync(process.execPath, [...process.execArgv, import.meta.filename], { stdio: 'inherit' });
      process.exitCode = again.status ?? 1;
    }
  }
}
