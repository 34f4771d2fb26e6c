import { execFileSync, execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword, type Person } from '../kit/people.ts';
import { ProductProcess } from '../kit/spawned-process.ts';
import { openWorld, type World } from '../kit/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

let world: World;
let person: Person;
/** A copy of the repository, in which the recipe is followed. */
let copy: string;
let api: ProductProcess | undefined;

beforeAll(async () => {
  // The copy knows a kind that this process does not.
  world = await openWorld({ skipVerify: true });
  person = await buildPerson(world);
  copy = join(dirname(world.mailFolder), 'copy');
  for (const file of git('ls-files', '--cached', '--others', '--exclude-standard')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['init', '-q'], { cwd: copy });
  execFileSync('git', ['add', '-A'], { cwd: copy });
}, 120_000);
afterAll(async () => {
  await api?.kill();
  await world.close();
});

function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .filter(Boolean);
}

/** Files of the copy that are not as they were. */
function changedFiles(): string[] {
  const lines = execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], {
    cwd: copy,
    encoding: 'utf8',
  });
  return lines
    .split('\n')
    .filter((line) => line !== '' && line[1] !== ' ')
    .map((line) => line.slice(3));
}

/** The commands of the recipe, one a line. */
function commands(): string[] {
  const [, recipe = ''] = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('**Add a kind.**');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(recipe) ?? [];
  return block.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/** Pastes a command into a shell; what `npm start` would say of the database stands behind it. */
async function paste(command: string): Promise<string> {
  const pointed = command.replace(/^npm run (migrate:new -- \S+)$/, `$& --url ${world.databaseUrl}`);
  const line = pointed.replace(/^npm run migrate$/, `$& -- --url ${world.databaseUrl}`);
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const { stdout, stderr } = await run('bash', ['-ec', line], { cwd: copy, env: environment });
  return stdout + stderr;
}

/** The line that tells the address may come after the word that it is ready. */
async function serving(process: ProductProcess): Promise<ProductProcess> {
  await process.ready;
  await eventually(() => process.url !== '');
  return process;
}

const entity = `import { defineEntityModule } from './kit/define.ts';
import { choice, flag, integer, json, member, reference, text, textList, timestamp } from './kit/fields.ts';
import { allow, anyone, creators, deny, related, role, scope, system, through } from './kit/policy.ts';

export const risk = defineEntityModule({
  kind: 'risk',
  table: 'risks',
  description: 'Something that may go wrong.',
  fields: {
    title: text('What may go wrong.', { max: 500 }),
    severity: choice('How bad it would be.', ['low', 'high'], { default: 'low' }),
    likelihood: integer('How likely it is, in percent.', { min: 0, max: 100, default: 50 }),
    reviewAt: timestamp('When to look at it again.', { optional: true }),
    areas: textList('What it concerns.', { max: 64, maxItems: 20 }),
    isAccepted: flag('Nothing is done about it.', { default: false }),
    acceptedAt: timestamp('Since when nothing is done about it.', { optional: true }),
    figures: json('What was reckoned.', { maxBytes: 4_096, optional: true }),
    ownerId: member('Who looks after it.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      creator: true,
      reverse: 'ownRisks',
    }),
    taskId: reference('task', 'What is done about it.', { optional: true, onDelete: 'cascade' }),
  },
  displayId: 'RSK',
  tenancy: 'organization',
  productModules: ['risk_management'],
  policy: {
    view: [
      allow(system),
      allow(role('owner', 'super_admin')),
      allow(scope),
      deny(related('blocked')),
      allow(related('viewer', 'editor', 'owner')),
      allow(through('taskId')),
      deny(anyone),
    ],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope), allow(creators)],
    edit: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('editor', 'owner'))],
    remove: [allow(system), allow(role('owner', 'super_admin')), allow(scope), allow(related('owner'))],
  },
  expose: {
    title: 'read-write',
    severity: 'read-write',
    likelihood: 'read-write',
    reviewAt: 'read-write',
    areas: 'read-write',
    isAccepted: 'read-write',
    acceptedAt: 'read',
    figures: 'read-write',
    ownerId: 'read',
    taskId: 'read-write',
  },
  filter: ['title', 'severity', 'likelihood', 'reviewAt', 'areas', 'isAccepted', 'ownerId', 'taskId'],
  order: ['title', 'likelihood', 'createdAt'],
  search: ['title'],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  share: true,
  hooks: {
    derivedValues: ({ isAccepted }, { at }) => (isAccepted === undefined ? {} : { acceptedAt: isAccepted ? at : null }),
  },
  grants: [{ object: { kind: 'risk', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
`;

test('the recipe makes a kind of one file and its lines in the index; everything else is generated', async () => {
  const [migrateNew = '', migrate = '', derive = '', check = ''] = commands();
  expect([migrateNew, migrate, derive, check]).toEqual(commands());

  // By hand.
  writeFileSync(join(copy, 'entities/risk.ts'), entity);
  const index = readFileSync(join(copy, 'entities/index.ts'), 'utf8');
  const listed = index
    .replace("import { tag } from './tag.ts';", "import { risk } from './risk.ts';\n$&")
    .replace(/^ {2}tag,$/gm, '  risk,\n$&');
  writeFileSync(join(copy, 'entities/index.ts'), listed);
  expect(listed.split('\n').length - index.split('\n').length).toBe(3);
  const byHand = ['entities/index.ts', 'entities/risk.ts'];
  expect(changedFiles().toSorted()).toEqual(byHand);

  expect(await paste(migrateNew)).toMatch(/Wrote migrations\/migration-\d{4}-add-risks\.ts/);
  // What is new is told from what the database has; so it has to have all there was before.
  await expect(paste(migrateNew)).rejects.toMatchObject({
    stderr: expect.stringContaining('-add-risks; run them first'),
  });
  expect(await paste(migrate)).toMatch(/Ran \d{4}-add-risks\./);
  expect(await paste(migrateNew)).toContain('there is nothing to write');
  await paste(derive);
  // The whole check takes a minute, and the tests that go through all kinds take more; types and printed descriptions are what a
  // new kind can put out of order.
  expect(check).toBe('npm run check');
  writeFileSync(join(copy, 'tsconfig.kind.json'), '{ "extends": "./tsconfig.json", "include": ["entities/**/*.ts"] }');
  await paste('node_modules/.bin/tsc -p tsconfig.kind.json; rm tsconfig.kind.json; node_modules/.bin/oxfmt --check .');

  const generated = changedFiles().filter((file) => !byHand.includes(file));
  // Its own area, and those of the kinds that it refers to.
  const printed = generated.filter((file) => file.startsWith('api/graphql/schema/'));
  expect(printed).toContain('api/graphql/schema/common.graphql');
  expect(generated.filter((file) => !printed.includes(file)).toSorted()).toEqual([
    'docs/reference/events.md',
    'docs/reference/policy.md',
    'entities/authorization.fga',
    'migrations/index.ts',
    expect.stringMatching(/^migrations\/migration-\d{4}-add-risks\.ts$/),
    'migrations/schema.json',
  ]);
}, 180_000);

test('records of it are made, found, changed and deleted over GraphQL and REST', async () => {
  api = new ProductProcess({
    program: 'api/api-main.ts',
    root: copy,
    // Signing keys are those of this installation, so its tokens are accepted.
    environment: { ...world.environment, STACK_STATE_DIR: dirname(world.mailFolder) },
  });
  const { url } = await serving(api);
  const client = world.client();
  const { body } = await client.post('/v1/login', { username: person.user.email, password: testPassword });
  const headers = { authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' };
  const graphql = async (query: string, variables: object = {}) => {
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await answer.json()) as { data: Record<string, unknown>; errors?: unknown };
    expect(errors).toBeUndefined();
    return data;
  };

  const made = await graphql(`
    mutation {
      createRisk(
        input: { title: "fire in the archive", severity: HIGH, likelihood: 7, areas: ["paper"], figures: { cost: 5 } }
      ) {
        risk {
          id
          displayId
          severity
          isAccepted
          acceptedAt
          figures
          ownerId
          organizationId: organization {
            id
          }
        }
      }
    }
  `);
  const { risk } = made['createRisk'] as { risk: { id: string } };
  expect(risk).toMatchObject({
    displayId: expect.stringMatching(/^RSK-/),
    severity: 'HIGH',
    isAccepted: false,
    acceptedAt: null,
    figures: { cost: 5 },
    ownerId: person.user.id,
    organizationId: { id: person.organization.id },
  });
  await graphql('mutation { createRisk(input: { title: "flood" }) { risk { id } } }');

  const list = `query ($where: RiskWhere) { risks(where: $where, orderBy: [{ field: LIKELIHOOD, direction: DESC }]) {
    totalCount edges { node { title } } } }`;
  expect(await graphql(list)).toEqual({
    risks: { totalCount: 2, edges: [{ node: { title: 'flood' } }, { node: { title: 'fire in the archive' } }] },
  });
  const only = { risks: { totalCount: 1, edges: [{ node: { title: 'fire in the archive' } }] } };
  for (const where of [{ likelihood: { lt: 10 } }, { areas: { has: 'paper' } }, { title: { startsWith: 'fire' } }])
    expect(await graphql(list, { where })).toEqual(only);
  expect(
    await graphql('{ search(query: "archive", first: 5) { risks { totalCount edges { node { title } } } } }'),
  ).toEqual({
    search: only,
  });

  await graphql(
    `
      mutation ($id: ID!) {
        updateRisk(id: $id, input: { title: "fire", isAccepted: true }) {
          risk {
            title
          }
        }
      }
    `,
    { id: risk.id },
  );
  const looked = await fetch(`${url}/v1/risks/${risk.id}`, { headers });
  expect([looked.status, await looked.json()]).toMatchObject([
    200,
    { title: 'fire', likelihood: 7, accepted_at: expect.any(String) },
  ]);
  const deleted = await fetch(`${url}/v1/risks/${risk.id}`, { method: 'DELETE', headers });
  expect(deleted.status).toBe(204);
  expect((await fetch(`${url}/v1/risks/${risk.id}`, { headers })).status).toBe(404);
  expect(await graphql(list)).toMatchObject({ risks: { totalCount: 1 } });
}, 60_000);

test('it can change while there are records of it', async () => {
  const change = (from: string, to: string): void => {
    const file = join(copy, 'entities/risk.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  };
  const written = async (name: string): Promise<string> => {
    const [, file = ''] = /Wrote (\S+)\.\n/.exec(await paste(`npm run migrate:new -- ${name}`)) ?? [];
    expect(await paste('npm run migrate')).toContain(`-${name}.`);
    return readFileSync(join(copy, file), 'utf8');
  };

  change("search: ['title']", "search: ['title', 'remark']");
  const remark = "remark: text('What else there is to say.', { max: 500, default: 'nothing' }),";
  change('severity: choice', `${remark}\n    severity: choice`);
  const added = await written('risk-remarks');
  expect(added).toContain(`add "remark" text not null default 'nothing'`);
  expect(added).toMatch(/function search_risks[^]*drop index[^]*create index "risks_search_index"[^]*remark/);
  expect(await asOwner(world, 'select distinct remark from risks')).toEqual([{ remark: 'nothing' }]);

  change("search: ['title', 'remark']", "search: ['title']");
  expect(await written('risk-search')).not.toContain('select 1');
  expect(await paste('npm run migrate:new -- nothing')).toContain('there is nothing to write');

  change("max: 500, default: 'nothing' }", "max: 500, default: 'nothing' }),\n    cause: text('Why.', { max: 500 }");
  await expect(paste('npm run migrate:new -- risk-causes')).rejects.toMatchObject({
    stderr: expect.stringMatching(/Records of "risk" that are there have no "cause", which is required: .*\.\n$/),
  });
}, 60_000);
