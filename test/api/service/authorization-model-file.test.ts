// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { transformer } from '@openfga/syntax-transformer';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { registry } from '#entities/index.ts';
import { deriveModel, printModel } from '#entities/kit/model/authorization-model.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

// Processes take a while to start.
vi.setConfig({ testTimeout: 120_000 });

const derived = printModel(deriveModel(registry));

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Writes files into a folder of their own. @returns the path of the first one */
async function files(contents: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(world.mailFolder, '..', newId());
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return join(folder, Object.keys(contents)[0] ?? '');
}

/** An instance with a store of its own that has spoken with it. */
async function connected(environment: Record<string, string>) {
  const instance = await world.openInstance({
    environment: { CORE_AUTHZ_STORENAME: `file-${newId()}`, ...environment },
  });
  const store = instance.runtime.store as NonNullable<typeof instance.runtime.store>;
  await store.ping();
  return store;
}

/** What an instance is refused for, one line per problem. */
async function refusalOf(environment: Record<string, string>): Promise<string[]> {
  const error = await world.openInstance({ environment }).then(
    () => new Error('it was not refused'),
    (refused: unknown) => refused as Error,
  );
  expect(error.name, error.message).toBe('ConfigurationError');
  return error.message
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
}

const replaced = (text: string, from: string, to: string): string => {
  expect(text).toContain(from);
  return text.replace(from, to);
};

/** The text of a type of the model, wherever it stands. */
const typeOf = (name: string): string =>
  new RegExp(`^type ${name}\\n(?:[ \\t].*\\n|\\n)*`, 'm').exec(derived)?.[0] ?? '';

/** Replaces a line of one type; other types may have the same line. */
const replacedIn = (type: string, text: string, from: string, to: string): string =>
  replaced(text, typeOf(type), replaced(typeOf(type), from, to));

const withoutFileShares = replaced(derived, typeOf('file_share'), '');

/** A type and a relation more, and organizations under a condition as parent context of tasks. */
const richer = `${replaced(
  derived,
  'type task\n  relations\n    define parent_context: [organization]\n',
  'type task\n  relations\n    define parent_context: [organization, organization with in_office]\n    define watcher: [user, contractor]\n',
)}
type contractor

condition in_office(place: string) {
  place == "office"
}
`;

describe('modelfile', () => {
  test('is the model that is written, with what it adds', async () => {
    shows('authz.modelfile');
    const store = await connected({ CORE_AUTHZ_MODELFILE: await files({ 'model.fga': richer }) });
    const [object, contractor] = [`task:${newId()}`, `contractor:${newId()}`];
    await store.write([{ object, relation: 'watcher', subject: contractor }], []);
    expect(await store.check({ object, relation: 'watcher', subject: contractor })).toBe(true);
    const inOrganization = { object, relation: 'parent_context', subject: `organization:${newId()}` };
    const at = (place: string) => ({ ...inOrganization, condition: { name: 'in_office', context: { place } } });
    expect(await store.counts(at('office'))).toEqual({ isAllowed: true });
    expect(await store.counts(at('elsewhere'))).toEqual({ isAllowed: false });
    expect(await store.counts({ ...at(''), condition: { name: 'in_office', context: {} } })).toMatchObject({
      isAllowed: false,
      refusal: expect.stringContaining('in_office'),
    });
  });

  test('may be JSON, and the same model in another order is the same', async () => {
    const storename = `file-${newId()}`;
    const model = transformer.transformDSLToJSONObject(richer);
    model.type_definitions.reverse();
    const inJson = await files({ 'model.json': JSON.stringify(model, undefined, 2) });
    await connected({ CORE_AUTHZ_STORENAME: storename, CORE_AUTHZ_MODELFILE: inJson });
    const inLanguage = await files({ 'model.fga': richer });
    await connected({ CORE_AUTHZ_STORENAME: storename, CORE_AUTHZ_MODELFILE: inLanguage });
    expect(await modelsOf(storename)).toHaveLength(1);
  });

  test('without a file, and with a file that says the same, the derived model is written once', async () => {
    const storename = `file-${newId()}`;
    await connected({ CORE_AUTHZ_STORENAME: storename });
    await connected({ CORE_AUTHZ_STORENAME: storename, CORE_AUTHZ_MODELFILE: await files({ 'model.fga': derived }) });
    expect(await modelsOf(storename)).toHaveLength(1);
  });

  test('that lacks or changes what is derived is refused with every difference', async () => {
    let text = replacedIn('task', withoutFileShares, 'define assigner: [user]\n', 'define assigner: [user, service]\n');
    text = replacedIn('organization', text, 'define owner: [user] or owner from parent', 'define owner: [user]');
    text +=
      '\ntype file_share\n  relations\n    define parent_context: [organization]\n    define file: [file]\n    define can_view: can_edit from file\n';
    const file = await files({ 'model.fga': text });
    const remedy = 'start from entities/authorization.fga and only add to it';
    expect(await refusalOf({ CORE_AUTHZ_MODELFILE: file })).toEqual([
      `${file}: authz.modelfile: organization#owner must be "define owner: [user] or owner from parent", not "define owner: [user]"; ${remedy}`,
      `${file}: authz.modelfile: task#assigner must be "define assigner: [user]", not "define assigner: [user, service]"; ${remedy}`,
      `${file}: authz.modelfile: file_share#can_view must be "define can_view: can_view from file or can_view_file_share from parent_context", not "define can_view: can_edit from file"; ${remedy}`,
      `${file}: authz.modelfile: file_share#can_delete must be "define can_delete: can_edit from file or can_delete_file_share from parent_context", but the file lacks it; ${remedy}`,
    ]);
  });

  test('that lacks a type, or ties records to somebody else without a condition, is refused', async () => {
    const lacking = await files({
      'model.fga': replaced(
        withoutFileShares,
        'type note\n  relations\n    define parent_context: [organization]\n',
        'type note\n  relations\n    define parent_context: [organization, group]\n',
      ),
    });
    expect(await refusalOf({ CORE_AUTHZ_MODELFILE: lacking })).toEqual([
      expect.stringContaining('note#parent_context must be "define parent_context: [organization]"'),
      expect.stringContaining('file_share must be "type file_share", but the file lacks it'),
    ]);
  });

  test('alternatives may stand in another order', async () => {
    const text = replaced(
      derived,
      'define can_create_tag: owner or super_admin or',
      'define can_create_tag: super_admin or owner or',
    );
    await connected({ CORE_AUTHZ_MODELFILE: await files({ 'model.fga': text }) });
  });

  test.each([
    ['missing', undefined, /model\.fga: authz\.modelfile: cannot be read \(ENOENT\)/u],
    [
      'broken',
      `${derived}\ntype\n`,
      /model\.fga:\d+: authz\.modelfile: is not an authorization model: mismatched input/u,
    ],
    [
      'without sense',
      `${derived}\ntype x\n  relations\n    define a: [nobody]\n`,
      /is not an authorization model: `nobody` is not a valid type/u,
    ],
    ['broken JSON', '{"schema_version": ', /is not an authorization model: /u],
    ['other JSON', '{"schema_version": "1.1"}', /it has no type_definitions/u],
    ['empty', '', /is not an authorization model: /u],
  ])('%s is refused', async (_case, text, refusal) => {
    const file =
      text === undefined ? join(await files({ x: '' }), '..', 'model.fga') : await files({ 'model.fga': text });
    const lines = await refusalOf({ CORE_AUTHZ_MODELFILE: file });
    for (const line of lines) expect(line).toMatch(refusal);
    expect(lines.length).toBeGreaterThan(0);
  });

  test('is not needed where a modelid says which model there is', async () => {
    const instance = await world.openInstance({
      environment: { CORE_AUTHZ_MODELFILE: '/nowhere/model.fga', CORE_AUTHZ_MODELID: newId() },
    });
    expect(instance.runtime.store).toBeDefined();
  });

  test.each(['api/api-main.ts', 'worker/worker-main.ts'] as const)(
    'unreadable ends %s with 1 and a line',
    async (program) => {
      const environment = { ...world.environment, CORE_AUTHZ_MODELFILE: '/nowhere/model.fga' };
      const started = new ProductProcess({
        program,
        environment: { ...environment, STACK_STATE_DIR: join(world.mailFolder, '..', 'state') },
      });
      expect(await started.ended).toEqual({ code: 1, signal: null });
      expect(started.output.trimEnd().split('\n')).toEqual([
        'The configuration has a problem:',
        expect.stringContaining('/nowhere/model.fga: authz.modelfile: cannot be read (ENOENT)'),
      ]);
    },
  );
});

describe('modulefile', () => {
  /** The derived model as one module, and another one that adds to it. */
  const modules = {
    'fga.mod': 'schema: "1.2"\ncontents:\n  - core.fga\n  - more/watchers.fga\n',
    'core.fga': replaced(derived, 'model\n  schema 1.1', 'module core'),
    'more/watchers.fga': 'module watchers\n\nextend type task\n  relations\n    define watcher: [user]\n',
  };

  test('is a list of modules that are one model, next to it', async () => {
    shows('authz.modulefile');
    const store = await connected({ CORE_AUTHZ_MODULEFILE: await files(modules) });
    const tuple = { object: `task:${newId()}`, relation: 'watcher', subject: `user:${newId()}` };
    await store.write([tuple], []);
    expect(await store.check(tuple)).toBe(true);
  });

  test('that changes what is derived, or whose modules are missing, broken or elsewhere, is refused', async () => {
    const changed = {
      ...modules,
      'core.fga': replacedIn('task', modules['core.fga'], 'define assignee: [user]', 'define assignee: [service]'),
    };
    expect(await refusalOf({ CORE_AUTHZ_MODULEFILE: await files(changed) })).toEqual([
      expect.stringContaining('authz.modulefile: task#assignee must be "define assignee: [user]"'),
    ]);
    const lacking = await files({ 'fga.mod': modules['fga.mod'] });
    expect(await refusalOf({ CORE_AUTHZ_MODULEFILE: lacking })).toEqual([
      expect.stringContaining('core.fga: authz.modulefile: cannot be read (ENOENT)'),
      expect.stringContaining('more/watchers.fga: authz.modulefile: cannot be read (ENOENT)'),
    ]);
    const broken = {
      ...modules,
      'more/watchers.fga': 'module watchers\n\nextend type nothing\n  relations\n    define a: [user]\n',
    };
    expect(await refusalOf({ CORE_AUTHZ_MODULEFILE: await files(broken) })).toEqual([
      expect.stringContaining(
        'watchers.fga:3: authz.modulefile: is not an authorization model: extended type nothing does not exist',
      ),
    ]);
    const elsewhere = { ...modules, 'fga.mod': 'schema: "1.2"\ncontents:\n  - ../core.fga\n' };
    expect(await refusalOf({ CORE_AUTHZ_MODULEFILE: await files(elsewhere) })).toEqual([
      expect.stringContaining(
        'fga.mod:3: authz.modulefile: is not an authorization model: invalid contents item ../core.fga',
      ),
    ]);
  });
});

async function modelsOf(storename: string): Promise<object[]> {
  const url = inject('stack').openfgaUrl;
  const get = async <T>(path: string) => (await (await fetch(`${url}${path}`)).json()) as T;
  const { stores } = await get<{ stores: { id: string }[] }>(`/stores?name=${storename}`);
  const answer = await get<{ authorization_models: object[] }>(`/stores/${stores[0]?.id}/authorization-models`);
  return answer.authorization_models;
}

test('the checked-in model is the one to start from', async () => {
  const file = join(import.meta.dirname, '..', '..', '..', 'entities', 'authorization.fga');
  expect(await readFile(file, 'utf8')).toBe(derived);
  await connected({ CORE_AUTHZ_MODELFILE: file });
});
