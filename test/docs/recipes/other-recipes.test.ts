import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { ScratchCopy } from '../../kit/scratch-copy.ts';

let copy: ScratchCopy;
beforeAll(() => {
  copy = new ScratchCopy(join(inject('stack').folder, `recipes-${newId()}`));
});

/** What `npm run derive` writes after a recipe's files were written by hand. The next recipe builds on it. */
async function generated(byHand: readonly string[]): Promise<string[]> {
  expect(copy.changedFiles()).toEqual(byHand);
  await copy.shell('npm run derive');
  const files = copy.changedFiles().filter((file) => !byHand.includes(file));
  copy.commit('a recipe');
  return files;
}

/** Runs a test file in the copy. */
async function passes(...files: string[]): Promise<void> {
  const printed = await copy
    .shell(`npm test -- ${files.join(' ')} 2>&1`)
    .catch((error: { stdout: string }) => error.stdout);
  expect(printed, printed.slice(-4_000)).toMatch(/^[1-9]\d* passed, 0 failed, 0 skipped/m);
}

test('a REST route is two files, an error code is one', async () => {
  copy.change(
    'entities/kit/base/errors.ts',
    '  not_found: entry(',
    "  teapot: entry('conflict', 'The pot holds tea.'),\n  not_found: entry(",
  );
  copy.write(
    'api/rest/service/coffee.ts',
    `import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../http/route.ts';

export const coffee = defineRoute({
  method: 'GET',
  url: '/coffee',
  tag: 'Service',
  summary: 'Coffee',
  description: 'There is none.',
  access: 'anonymous',
  answers: { 200: Type.Object({}) },
  errors: ['teapot'],
  handle: () => {
    throw new AppError('teapot', 'This pot holds tea.');
  },
});
`,
  );
  copy.change(
    'api/rest/routes.ts',
    'import { jwks }',
    "import { coffee } from './service/coffee.ts';\nimport { jwks }",
  );
  copy.change('api/rest/routes.ts', '\n  jwks,\n', '\n  coffee,\n  jwks,\n');
  expect(await generated(['api/rest/routes.ts', 'api/rest/service/coffee.ts', 'entities/kit/base/errors.ts'])).toEqual([
    'docs/reference/errors.md',
  ]);
  copy.write(
    'test/api/coffee.test.ts',
    `import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('there is no coffee', async () => {
  const answer = await world.client().get('/coffee');
  expect([answer.status, answer.body.code]).toEqual([409, 'teapot']);
});
`,
  );
  copy.commit('a test');
});

test('a listener is two files', async () => {
  copy.write(
    'activities/listeners/greet-member.ts',
    `import { membership } from '#entities/organizations/membership.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { defineListener, on } from './listener.ts';

export const greetMember = defineListener('greet-member', [on(membership, 'created')], ({ event, key, start }) => {
  start(sendEmailContract, { key, template: 'welcome', userId: event.entityId });
});
`,
  );
  copy.change(
    'activities/listeners/index.ts',
    'import { mailRepeatedRegistration }',
    "import { greetMember } from './greet-member.ts';\nimport { mailRepeatedRegistration }",
  );
  copy.change('activities/listeners/index.ts', '  mailVerification,\n', '  greetMember,\n  mailVerification,\n');
  expect(await generated(['activities/listeners/greet-member.ts', 'activities/listeners/index.ts'])).toEqual([
    'docs/reference/events.md',
  ]);
});

test('a workflow is three files', async () => {
  copy.write(
    'workflows/tea/brew-tea.contract.ts',
    `import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface BrewTeaInput {
  readonly cups: number;
  readonly queue: ActivityQueue;
}

export const brewTeaContract = defineContract<BrewTeaInput>({
  name: 'brewTea',
  queue: 'maintenance',
  workflowId: ({ cups }) => \`brew-tea-\${cups}\`,
});
`,
  );
  copy.write(
    'workflows/tea/brew-tea.ts',
    `import { proxyActivities } from '@temporalio/workflow';
import type { TeaActivities } from '#activities/tea/tea-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { BrewTeaInput } from './brew-tea.contract.ts';

export async function brewTea({ cups, queue }: BrewTeaInput): Promise<number> {
  const { boilWater } = proxyActivities<TeaActivities>({ ...activityOptions(queue), scheduleToCloseTimeout: '1 minute' });
  return boilWater({ cups });
}
`,
  );
  copy.write(
    'activities/tea/tea-activities.ts',
    `import { defineActivities } from '../kit/activity-dependencies.ts';

export type TeaActivities = ReturnType<typeof createTeaActivities>;

export const createTeaActivities = defineActivities(() => ({
  boilWater: ({ cups }: { readonly cups: number }): Promise<number> => Promise.resolve(cups * 250),
}));
`,
  );
  await copy.shell('node_modules/.bin/oxfmt workflows/tea activities/tea');
  const byHand = [
    'activities/tea/tea-activities.ts',
    'workflows/tea/brew-tea.contract.ts',
    'workflows/tea/brew-tea.ts',
  ];
  expect(await generated(byHand)).toEqual([]);
});

test('a configuration leaf is two files', async () => {
  copy.change(
    'config/objects/db.ts',
    '  drivername: text({',
    "  charset: text({ description: 'Character set of texts.', default: 'utf-8' }),\n  drivername: text({",
  );
  copy.change(
    'test/config/effects.ts',
    "  'db.drivername'",
    "  'db.charset': inConfig('test/config/domain.test.ts > fills exactly the fields that inherit it'),\n  'db.drivername'",
  );
  const printed = await generated(['config/objects/db.ts', 'test/config/effects.ts']);
  expect(printed).toEqual([
    'config/config.example.yaml',
    'config/config.schema.json',
    'docs/reference/configuration.md',
  ]);
});

test('with all of them, types and format are right and their tests pass', async () => {
  await copy.checkTypesAndDescriptions();
  await passes(
    'test/api/coffee.test.ts',
    'test/config/effects.test.ts',
    'test/worker/release.test.ts',
    'test/workflows/typed-events.test.ts',
  );
});
