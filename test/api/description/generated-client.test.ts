import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { buildPerson, testPassword, type Person } from '../../kit/people.ts';
import { codeBlocks } from '../../kit/records/reader-shell.ts';
import { openWorld, type World } from '../../kit/world.ts';

const run = promisify(execFile);
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

let world: World;
let person: Person;
let url: string;
let folder: string;

/** As strict as a project of others can be. */
const compilerOptions = {
  target: 'es2024',
  lib: ['esnext', 'dom', 'dom.iterable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: false,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  skipLibCheck: false,
};

/** The compiler's errors, one a line; empty if there are none. */
async function typeErrors(): Promise<string> {
  return run(join(modules, '.bin/tsc'), ['-p', folder]).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  ({ url } = await world.listen());
  folder = await mkdtemp(join(tmpdir(), 'core-client-'));
  await symlink(modules, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['api.ts', 'calls.ts'], include: [] }),
  );
  await writeFile(join(folder, 'calls.ts'), codeBlocks('docs/clients.md', 'ts').join('\n'));
  await run(process.execPath, [join(modules, 'oazapfts/dist/cli.js'), `${url}/openapi.json`, join(folder, 'api.ts')]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await world.close();
});

test('a TypeScript client generated from /openapi.json compiles, and so do the calls in docs/clients.md', async () => {
  expect(await typeErrors()).toBe('');
});

test('the types of the client refuse unknown fields, values and codes', async () => {
  const calls = await readFile(join(folder, 'calls.ts'), 'utf8');
  const mistaken = [
    [`title: 'Collect evidence'`, `titel: 'Collect evidence'`],
    [`['open', 'in_progress']`, `['open', 'in_progres']`],
    [`const code: 'precondition_failed'`, `const code: 'stale_record'`],
    [`changed.record_version`, `changed.recordVersion`],
  ] as const;
  const errors = [];
  for (const [right, wrong] of mistaken) {
    expect(calls).toContain(right);
    await writeFile(join(folder, 'calls.ts'), calls.replace(right, wrong));
    errors.push([wrong, await typeErrors()] as const);
  }
  await writeFile(join(folder, 'calls.ts'), calls);
  for (const [wrong, found] of errors) {
    expect(found, wrong).toMatch(/calls\.ts\(\d+,\d+\): error TS/);
  }
});

test('the client signs in, creates, lists with filters, changes with If-Match, and is refused with a typed problem', async () => {
  const { organization: chosen } = await buildPerson(world);
  await asSystem(world, chosen.id, (data) => data.create(membership, { userId: person.user.id, role: 'member' }));
  const environment = {
    PATH: process.env['PATH'],
    API: url,
    EMAIL: person.user.email,
    PASSWORD: testPassword,
    ORGANIZATION: chosen.name,
  };
  const { stdout } = await run(process.execPath, [join(folder, 'calls.ts')], { env: environment });
  expect(stdout.trim().split('\n')).toEqual([
    'created Collect evidence open',
    'listed 1 true false',
    'changed completed 2',
    'refused precondition_failed',
    'described title title all',
  ]);
  const written = await asOwner(world, 'select organization_id from tasks where assigner_id = $1', [person.user.id]);
  expect(written).toEqual([{ organization_id: chosen.id }]);
});
