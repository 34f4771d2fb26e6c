// Left to npm run prove; npm test has test/migrations/two-branches.test.ts.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, testPassword, type Person } from '../../kit/people.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { depth, sampleOf } from '../../kit/depth.ts';
import { ScratchCopy } from '../../kit/processes/scratch-copy.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';
import {
  charsetTest,
  coffeeTest,
  kettlesTest,
  derivedByOthers,
  describedTagsTest,
  otherRecipes,
  teaTest,
  testsOfOthers,
} from './other-recipes.ts';

// All recipes are followed in one copy, one after the other: types are checked, and tests run in it, once.

let world: World;
let person: Person;
let copy: ScratchCopy;
let api: ProductProcess | undefined;

beforeAll(async () => {
  // The copy knows a kind that this process does not.
  world = await openWorld({ skipVerify: true });
  person = await buildPerson(world);
  copy = new ScratchCopy(join(dirname(world.mailFolder), 'copy'));
});
afterAll(async () => {
  await api?.kill();
  await world.close();
});

/** The commands of the recipe, one a line. */
function commands(): string[] {
  const contributing = readFileSync(fileURLToPath(new URL('../../../CONTRIBUTING.md', import.meta.url)), 'utf8');
  const [, recipe = ''] = contributing.split('**Add a kind.**');
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(recipe) ?? [];
  return block.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/** Runs a command of the recipe; what `npm start` would say of the database stands behind it. */
function paste(command: string): Promise<string> {
  const pointed = command.replace(/^npm run (migrate:new -- \S+)$/, `$& --url ${world.databaseUrl}`);
  return copy.shell(pointed.replace(/^npm run migrate$/, `$& -- --url ${world.databaseUrl}`));
}

/** The line that tells the address may come after the word that it is ready. */
async function serving(process: ProductProcess): Promise<ProductProcess> {
  await process.ready;
  await eventually(() => process.url !== '');
  return process;
}

const entity = `import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, integer, json, member, reference, text, textList, timestamp } from '../kit/model/fields.ts';
import { sharedRecord } from '../presets/shared-record.ts';

export const recipeSample = defineEntityModule({
  kind: 'recipeSample',
  table: 'recipe_samples',
  description: 'Sample of a kind that is added by the recipe.',
  fields: {
    title: text('Title.', { max: 500, exposed: 'read-write', lists: ['filter', 'order', 'search'] }),
    severity: choice('Severity of the consequences.', ['low', 'high'], {
      default: 'low',
      exposed: 'read-write',
      lists: ['filter'],
    }),
    likelihood: integer('Likelihood in percent.', {
      min: 0,
      max: 100,
      default: 50,
      exposed: 'read-write',
      lists: ['filter', 'order'],
    }),
    reviewAt: timestamp('Next review date.', { optional: true, exposed: 'read-write', lists: ['filter'] }),
    areas: textList('Affected areas.', { max: 64, maxItems: 20, exposed: 'read-write', lists: ['filter'] }),
    isAccepted: flag('Whether the sample is accepted.', { default: false, exposed: 'read-write', lists: ['filter'] }),
    acceptedAt: timestamp('When the sample was accepted.', { optional: true, exposed: 'read' }),
    figures: json('Figures of the assessment.', { maxBytes: 4_096, optional: true, exposed: 'read-write' }),
    code: text('Code.', { max: 12, pattern: /^[a-z]{3}-[0-9]{4,8}$/, exposed: 'read-write' }),
    ownerId: member('Owner.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      creator: true,
      reverse: 'ownRecipeSamples',
      exposed: 'read',
      lists: ['filter'],
    }),
    categoryId: reference('tag', 'Category.', {
      onDelete: 'cascade',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    reviewTaskId: reference('task', 'Task of the next review.', {
      immutable: true,
      reverse: 'reviewedRecipeSamples',
      exposed: 'read-write',
    }),
    groupId: reference('group', 'Responsible group.', { immutable: true, exposed: 'read-write', lists: ['filter'] }),
    taskId: reference('task', 'Task that the record is part of.', {
      optional: true,
      onDelete: 'cascade',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
  },
  displayId: 'RECIP',
  unique: [{ fields: ['organizationId', 'code'], message: 'This code is taken.' }],
  tenancy: 'organization',
  productModules: ['risk_management'],
  policy: sharedRecord({ parent: 'taskId' }),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  share: true,
  hooks: {
    derivedValues: ({ isAccepted }, { at }) => (isAccepted === undefined ? {} : { acceptedAt: isAccepted ? at : null }),
  },
  grants: [{ object: { kind: 'recipeSample', id: 'id' }, relation: 'owner', subject: { kind: 'user', id: 'ownerId' } }],
});
`;

const rights = `preset: shared-record
rights:
  above assignee: { member: view edit remove }
  above viewer: { member: view }
`;

/**
 * Tests that go through all kinds: each with all of them, or a sample of the tests with the new kind alone. Those of rights and of
 * tenants are in every sample, because they ask most of a kind.
 */
const overAllKinds = [
  'test/entities/expected-rights.test.ts',
  'test/security/tenant-isolation.test.ts',
  ...sampleOf(
    'tests over all kinds',
    [
      'test/entities/authorization-model.test.ts',
      'test/entities/descriptions.test.ts',
      'test/entities/lists-by-rights.test.ts',
      'test/entities/missing-caller.test.ts',
      'test/entities/moved-records.test.ts',
      'test/entities/orm-pitfalls.test.ts',
      'test/entities/row-level-security.test.ts',
      'test/security/deleted-records.test.ts',
      'test/security/hidden-fields.test.ts',
      'test/security/mass-assignment.test.ts',
    ],
    { by: [dirname], atLeast: 2 },
  ),
  // These take minutes.
  ...(depth === 'prove' ? ['test/entities/indexes.test.ts', 'test/migrations/migrations.test.ts'] : []),
];

test.each(otherRecipes)('$title', ({ files, follow }) => {
  follow(copy);
  expect(copy.changedFiles()).toEqual(files);
  copy.commit('a recipe');
});

test('everything else about them is generated', async () => {
  await copy.shell('npm run derive');
  expect(copy.changedFiles()).toEqual(derivedByOthers);
  copy.write('test/api/coffee.test.ts', coffeeTest);
  copy.write('test/api/integrations/kettles.test.ts', kettlesTest);
  copy.write('test/api/tea.test.ts', teaTest);
  copy.write('test/config/charset.test.ts', charsetTest);
  copy.write('test/workflows/maintenance/described-tags.test.ts', describedTagsTest);
  copy.commit('what is generated, and a test');
});

test('a kind is two files and one line by hand; everything else is generated', async () => {
  const [migrateNew = '', migrate = '', derive = '', check = ''] = commands();
  expect([migrateNew, migrate, derive, check]).toEqual(commands());

  // By hand.
  copy.write('entities/work/recipe-sample.ts', entity);
  copy.write('entities/work/recipe-sample.rights.yaml', rights);
  copy.change(
    'entities/work/index.ts',
    'export { tag }',
    "export { recipeSample } from './recipe-sample.ts';\nexport { tag }",
  );
  const byHand = [
    'entities/work/index.ts',
    'entities/work/recipe-sample.rights.yaml',
    'entities/work/recipe-sample.ts',
  ];
  expect(copy.changedFiles()).toEqual(byHand);
  expect(copy.addedLines('entities/work/index.ts')).toBe(1);

  expect(await paste(migrateNew)).toMatch(/Wrote migrations\/migration-\d{14}-add-risks\.ts/);
  // What is new is told from what the database has; so it has to have all there was before.
  await expect(paste(migrateNew)).rejects.toMatchObject({
    stderr: expect.stringContaining('-add-risks; run them first'),
  });
  expect(await paste(migrate)).toMatch(/Ran \d{14}-add-risks, function search_recipe_samples\./);
  expect(await paste(migrateNew)).toContain('there is nothing to write');
  await paste(derive);
  // The whole check takes a minute; types and format are what a recipe can put out of order.
  expect(check).toBe('npm run check');
  await copy.checkTypesAndFormat();

  const generated = copy.changedFiles().filter((file) => !byHand.includes(file));
  // Its own area, and those of the kinds that it refers to.
  const printed = generated.filter((file) => file.startsWith('api/graphql/schema/'));
  expect(printed).toContain('api/graphql/schema/common.graphql');
  expect(generated.filter((file) => !printed.includes(file))).toEqual([
    'docs/reference/events.md',
    'docs/reference/events.schema.json',
    'docs/reference/openapi.json',
    'docs/reference/policy.md',
    'docs/reference/tokens.md',
    'entities/authorization.fga',
    expect.stringMatching(/^migrations\/migration-\d{14}-add-risks\.ts$/),
  ]);
});

test('the tests over all kinds pass with it, those of the other recipes too, and only one was written for all of them', async () => {
  const files = [...overAllKinds, ...testsOfOthers];
  const kinds = depth === 'prove' ? '' : 'TEST_KINDS=recipeSample,recipeSampleShare ';
  const printed = await copy
    // One worker: it runs beside those of this run.
    .shell(`${kinds}npm test -- --maxWorkers=1 ${files.join(' ')} 2>&1`)
    .catch((error: { stdout: string }) => error.stdout);
  const [, passed = 0, failed, skipped] = /^(\d+) passed, (\d+) failed, (\d+) skipped/m.exec(printed) ?? [];
  expect([failed, skipped], printed.slice(-8_000)).toEqual(['0', '0']);
  const passedFiles = stripVTControlCharacters(printed).matchAll(/^ *✓ (test\/\S+\.ts) \(/gm);
  expect(new Set(Array.from(passedFiles, ([, file]) => file)), printed.slice(-8_000)).toEqual(new Set(files));
  recordTried('tests in a copy with a kind added by the recipe', Number(passed));
});

test('records of it are made, found, changed and deleted over GraphQL and REST', async () => {
  api = new ProductProcess({
    program: 'api/api-main.ts',
    root: copy.folder,
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

  const { createTag } = (await graphql('mutation { createTag(input: { name: "fire" }) { tag { id } } }')) as {
    createTag: { tag: { id: string } };
  };
  const { createGroup } = (await graphql('mutation { createGroup(input: { name: "archive" }) { group { id } } }')) as {
    createGroup: { group: { id: string } };
  };
  const { createTask } = (await graphql('mutation { createTask(input: { title: "review" }) { task { id } } }')) as {
    createTask: { task: { id: string } };
  };
  const references = {
    categoryId: createTag.tag.id,
    groupId: createGroup.group.id,
    reviewTaskId: createTask.task.id,
  };
  const made = await graphql(
    `
      mutation ($input: CreateRecipeSampleInput!) {
        createRecipeSample(input: $input) {
          recipeSample {
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
    `,
    {
      input: {
        title: 'fire in the archive',
        severity: 'HIGH',
        likelihood: 7,
        areas: ['paper'],
        figures: { cost: 5 },
        code: 'fir-0001',
        ...references,
      },
    },
  );
  const { recipeSample } = (made['createRecipeSample'] ?? {}) as { recipeSample: { id: string } };
  expect(recipeSample).toMatchObject({
    displayId: expect.stringMatching(/^RECIP-/),
    severity: 'HIGH',
    isAccepted: false,
    acceptedAt: null,
    figures: { cost: 5 },
    ownerId: person.user.id,
    organizationId: { id: person.organization.id },
  });
  await graphql(
    'mutation ($input: CreateRecipeSampleInput!) { createRecipeSample(input: $input) { recipeSample { id } } }',
    { input: { title: 'flood', code: 'flo-0001', ...references } },
  );

  const list = `query ($where: RecipeSampleWhere) { recipeSamples(where: $where, orderBy: [{ field: LIKELIHOOD, direction: DESC }]) {
    totalCount edges { node { title } } } }`;
  expect(await graphql(list)).toEqual({
    recipeSamples: { totalCount: 2, edges: [{ node: { title: 'flood' } }, { node: { title: 'fire in the archive' } }] },
  });
  const only = { recipeSamples: { totalCount: 1, edges: [{ node: { title: 'fire in the archive' } }] } };
  for (const where of [{ likelihood: { lt: 10 } }, { areas: { has: 'paper' } }, { title: { startsWith: 'fire' } }])
    expect(await graphql(list, { where })).toEqual(only);
  expect(
    await graphql('{ search(query: "archive", first: 5) { recipeSamples { totalCount edges { node { title } } } } }'),
  ).toEqual({
    search: only,
  });

  await graphql(
    `
      mutation ($id: ID!) {
        updateRecipeSample(id: $id, input: { title: "fire", isAccepted: true }) {
          recipeSample {
            title
          }
        }
      }
    `,
    { id: recipeSample.id },
  );
  const looked = await fetch(`${url}/v1/recipe-samples/${recipeSample.id}`, { headers });
  expect([looked.status, await looked.json()]).toMatchObject([
    200,
    { title: 'fire', likelihood: 7, accepted_at: expect.any(String) },
  ]);
  const deleted = await fetch(`${url}/v1/recipe-samples/${recipeSample.id}`, { method: 'DELETE', headers });
  expect(deleted.status).toBe(204);
  expect((await fetch(`${url}/v1/recipe-samples/${recipeSample.id}`, { headers })).status).toBe(404);
  expect(await graphql(list)).toMatchObject({ recipeSamples: { totalCount: 1 } });
});

test('a kind can change while there are records of it', async () => {
  const change = (from: string, to: string): void => copy.change('entities/work/recipe-sample.ts', from, to);
  const written = async (name: string): Promise<string> => {
    const [, file = ''] = /Wrote (\S+)\.\n/.exec(await copy.migrate('new', world.databaseUrl, name)) ?? [];
    expect(await copy.migrate('up', world.databaseUrl)).toMatch(
      new RegExp(`-${name}, function search_recipe_samples\\.`),
    );
    return copy.read(file);
  };

  // A field that is searched is exposed: a search could reveal its text.
  const options = "max: 500, default: 'nothing', exposed: 'read-write'";
  const searched = `${options}, lists: ['search']`;
  change('severity: choice', `remark: text('What else there is to say.', { ${searched} }),\n    severity: choice`);
  const added = await written('sample-remarks');
  expect(added).toContain(`add "remark" text not null default 'nothing'`);
  expect(added).toMatch(/drop index[^]*create index "recipe_samples_search_index"[^]*remark/);
  expect(await asOwner(world, 'select distinct remark from recipe_samples')).toEqual([{ remark: 'nothing' }]);

  change(searched, options);
  expect(await written('sample-search')).not.toContain('select 1');
  expect(await copy.migrate('new', world.databaseUrl, 'nothing')).toContain('there is nothing to write');

  change(options, `${options} }),\n    cause: text('Why.', { max: 500`);
  await expect(copy.migrate('new', world.databaseUrl, 'sample-causes')).rejects.toMatchObject({
    stderr: expect.stringMatching(
      /Records of "recipeSample" that are there have no "cause", which is required: .*\.\n$/,
    ),
  });
});
