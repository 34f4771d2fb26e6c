import type { ScratchCopy } from '../../kit/processes/scratch-copy.ts';
import { codeBlocks } from '../../kit/records/reader-shell.ts';

/** A recipe of CONTRIBUTING.md other than that of a kind, as somebody may follow it. */
export interface Recipe {
  readonly title: string;
  /** Files that are written by hand. */
  readonly files: readonly string[];
  readonly follow: (copy: ScratchCopy) => void;
}

const coffeeRoute = `import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../http/route.ts';

export const coffee = defineRoute({
  method: 'GET',
  url: '/coffee',
  operationId: 'coffee',
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
`;

const steepTea = `import { Type } from 'typebox';
import { defineAction } from '../kit/define-action.ts';

export const steepTea = defineAction({
  name: 'steepTea',
  url: '/v1/teas/steep',
  tag: 'Service',
  summary: 'Steep tea',
  description: 'Steeps tea for \`steepingMinutes\`.',
  acceptsTokens: true,
  input: { steepingMinutes: Type.Integer({ minimum: 1, maximum: 10, description: 'Minutes.' }) },
  answer: { cupCount: Type.Integer({ description: 'Cups.' }) },
  errors: [],
  run: (_asking, { steepingMinutes }) => Promise.resolve({ cupCount: 2 * steepingMinutes }),
});
`;

const kettleReceiver = `import { Type } from 'typebox';
import { configuredSender } from '../webhooks/configured-sender.ts';
import { defineReceiver, filledText } from '../webhooks/define-receiver.ts';
import { hasStandardSignature } from '../webhooks/standard-signature.ts';

export const kettleReceiver = defineReceiver({
  url: '/v1/kettle/webhook',
  operationId: 'receiveKettleEvents',
  summary: 'Events of the kettle',
  description: 'For the kettle, which reports that water boils.',
  senders: configuredSender('kettle', ({ integrations }) => integrations.codehostapp.webhooksecret),
  verify: hasStandardSignature,
  payload: Type.Object({ id: filledText }),
  read: ({ id }) => ({ externalId: id, type: 'boiled', occurredAt: new Date(), values: {} }),
});
`;

const nameTag = `import { on } from '#entities/kit/model/events.ts';
import { tag } from '#entities/work/tag.ts';
import { defineListener } from '../listener.ts';

export const nameTag = defineListener('name-tag', [on(tag, 'created')], async ({ event, unit }) => {
  const found = await unit.data.findOne(tag, { id: { eq: event.entityId } });
  if (found?.name === 'fire') await unit.data.update(tag, found.id, { name: 'Fire' });
});
`;

const memberJoined = `import { on } from '#entities/kit/model/events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

export const memberJoinedMail = defineMail('member-joined', {
  follows: [on(membership, 'created')],
  audience: peopleInCharge,
  priority: 3,
  about: membership,
  values: async ({ record, unit }) => {
    const name = await organizationName(record, unit);
    return name === undefined ? undefined : { name, role: record.role };
  },
  text: ({ name, role }) => ({
    subject: 'Somebody has joined',
    paragraphs: [\`\${name} has a new member with the role \${role}.\`],
  }),
  sample: { name: sample.organization, role: 'member' },
  unsubscribesFrom: 'people who have joined',
});
`;

const tagCreated = `import { tag } from '#entities/work/tag.ts';
import { owners } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

export const tagCreated = defineNotification(tag, 'created', {
  listener: 'notify-tag-created',
  description: 'the owners of the organization: somebody created a tag',
  audience: owners,
  text: {
    title: '{{actor}} created the tag {{name}}',
    body: [],
    many: '{{count}} tags were created',
  },
  values:
    ({ record: { name }, actorName }) =>
    () => ({ actor: actorName, name }),
  sample: { actor: 'Ann Example', name: 'fire' },
  link: () => '/tags',
  unsubscribesFrom: 'new tags',
});
`;

const brewTeaContract = `import type { ActivityQueue } from '../kit/activity-queue.ts';
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
`;

const brewTea = `import { proxyActivities } from '@temporalio/workflow';
import type { TeaActivities } from '#activities/work/tea-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { BrewTeaInput } from './brew-tea.contract.ts';

export async function brewTea({ cups, queue }: BrewTeaInput): Promise<number> {
  const { boilWater } = proxyActivities<TeaActivities>({
    ...activityOptions(queue),
    scheduleToCloseTimeout: '1 minute',
  });
  return boilWater({ cups });
}
`;

const teaActivities = `import { defineActivities } from '../kit/activity-dependencies.ts';

export type TeaActivities = ReturnType<typeof createTeaActivities>;

export const createTeaActivities = defineActivities(() => ({
  boilWater: ({ cups }: { readonly cups: number }): Promise<number> => Promise.resolve(cups * 250),
}));
`;

const teaBreaks = `import { organizationOrNone } from '../kit/due-work/due-rows.ts';
import { defineDueWork } from '../kit/due-work/define-due-work.ts';

/** Whoever uploads is due for a cup of tea. */
export const teaBreaksDue = defineDueWork({
  name: 'other/tea-breaks',
  rows: {
    table: 'uploads',
    key: 'id',
    owner: organizationOrNone,
    dueAt: 'check_due_at',
    waits: \`state = 'arrived'\`,
  },
  leaseMs: 60_000,
  workflow: 'brewTea',
  input: () => ({ cups: 1 }),
});
`;

const closeOldTasks = `import { firstIdAt } from '#entities/kit/base/ids.ts';
import { task } from '#entities/work/task.ts';
import { maintenanceQueue } from '#workflows/kit/maintenance-queue.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));
const yearMs = 365 * 86_400_000;

export const closeOldTasksSweep = defineSweep({
  name: 'closeOldTasks',
  description: 'Closes tasks that nobody has touched for a year.',
  queue: maintenanceQueue,
  every: 86_400_000,
  find: ({ data }, { limit, after: [after = firstId] = [], only }) =>
    data.find(task, {
      where: { status: { eq: 'open' }, id: only === undefined ? { gt: after } : { eq: only } },
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(task, id),
  decide: ({ updatedAt }, { now }) =>
    now.getTime() - updatedAt.getTime() > yearMs
      ? { action: 'close', reason: 'untouched for a year' }
      : { action: null, reason: 'touched within a year' },
  act: async ({ data }, { id }) => {
    await data.update(task, id, { status: 'wont_do' });
  },
});
`;

const describedTags = `import { tag } from '#entities/work/tag.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

export const describedTagsBackfill = defineBackfill({
  name: 'described-tags',
  version: 1,
  description: 'Describes tags that have no description by their names.',
  isWanted: () => true,
  find: async ({ data }, { after, limit }) => {
    const rows = await data.find(tag, { where: { id: { gt: after } }, limit });
    return rows.map(({ id }) => id);
  },
  apply: async (unit, ids) => {
    const where = { id: { in: await lockRecords(unit, tag, ids) } };
    const rows = await unit.data.find(tag, { where, limit: ids.length });
    const lacking = rows.filter(({ description }) => description === null);
    for (const { id, name } of lacking) await unit.data.update(tag, id, { description: name });
    return lacking.length;
  },
});
`;

export const describedTagsTest = `import { afterAll, beforeAll, expect, test } from 'vitest';
import { doPage } from '#activities/backfills/backfill-page.ts';
import { describedTagsBackfill } from '#activities/backfills/described-tags.backfill.ts';
import { releaseBackfills } from '#activities/backfills/release-backfills.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('tags are described by their names, once', async () => {
  expect(releaseBackfills).toContain(describedTagsBackfill);
  const client = await signedIn(world, await buildPerson(world));
  const { id } = (await client.post('/v1/tags', { name: 'fire' })).body;
  const { database } = world.runtime;
  expect(await doPage(database, describedTagsBackfill, 10)).toMatchObject({ status: 'running', changedRecords: 1 });
  expect(await doPage(database, describedTagsBackfill, 10)).toMatchObject({ status: 'completed', changedRecords: 1 });
  expect((await client.get('/v1/tags/' + id)).body.description).toBe('fire');
});
`;

const kettles = `import { Type } from 'typebox';
import { defineIntegration, type ProviderContext } from '../definition.ts';
import { directorySettings } from '../directory-settings.ts';
import { readAnswer } from '../provider-answer.ts';

const closed = { additionalProperties: false } as const;

const Key = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 100, description: 'Key of the kettle.' }) },
  closed,
);

async function ask({ http, credential, now, baseUrl }: ProviderContext, path: string) {
  const headers = { authorization: \`Bearer \${String(credential['key'])}\` };
  return readAnswer(await http.fetch(baseUrl('https://kettles.example.com') + path, { headers }), now());
}

export const kettlesIntegration = defineIntegration({
  id: 'kettles',
  version: '1.0.0',
  name: 'Kettles',
  description: 'Brings in the people who boil water.',
  family: 'directory',
  logo: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" role="img" aria-label="Kettles"/>',
  isOffered: () => true,
  userInput: Type.Object(directorySettings, closed),
  connections: [
    {
      credentialRef: 'key',
      name: 'Key',
      description: 'It stands on the bottom of the kettle.',
      credential: Key,
      check: async (context) => {
        const { id } = (await ask(context, '/kettle')) as { readonly id: string };
        return { id, name: null };
      },
    },
  ],
  operations: [
    {
      name: 'directorySync',
      description: 'Brings in the people.',
      policy: 'run',
      isLooped: true,
      input: Type.Object({}, closed),
      ingests: ['directoryAccount'],
      readPage: async (context) => {
        const people = (await ask(context, '/people')) as readonly unknown[];
        return { records: people.map((payload) => ({ kind: 'directoryAccount', payload })) };
      },
    },
  ],
  mappings: [{ kind: 'directoryAccount', mapExpr: '{"externalId": payload.id, "displayName": payload.name}' }],
  webhooks: [],
});
`;

export const kettlesTest = `import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('kettles are offered, and ask for their key', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { body } = await client.get('/v1/integration-definitions');
  expect(body.data).toContainEqual(expect.objectContaining({ id: 'kettles', family: 'directory' }));
  const refused = await client.post('/v1/integrations/kettles/config', { body: {} });
  expect([refused.status, refused.body.errors[0].path]).toEqual([400, '/body/key']);
});
`;

/** The example of CONTRIBUTING.md. */
const [holdsLinks = ''] = codeBlocks('CONTRIBUTING.md', 'ts', 'Recipes');

export const otherRecipes: readonly Recipe[] = [
  {
    title: 'an error code is one file',
    files: ['entities/kit/base/error-catalogue.ts'],
    follow: (copy) =>
      copy.change(
        'entities/kit/base/error-catalogue.ts',
        '  not_found: entry(',
        "  teapot: entry('conflict', 'The pot holds tea.', 'Coffee was asked for.', 'Ask for tea.'),\n  not_found: entry(",
      ),
  },
  {
    title: 'an action is one file',
    files: ['api/actions/work/steep-tea.ts'],
    follow: (copy) => copy.write('api/actions/work/steep-tea.ts', steepTea),
  },
  {
    title: 'a behaviour is one file, and a line of the kind that has it',
    files: ['entities/kit/behaviours/holds-links.ts', 'entities/work/tag.ts'],
    follow: (copy) => {
      copy.write('entities/kit/behaviours/holds-links.ts', holdsLinks);
      copy.change(
        'entities/work/tag.ts',
        'import { defineEntityModule }',
        "import { holdsLinks } from '../kit/behaviours/holds-links.ts';\nimport { defineEntityModule }",
      );
      copy.change(
        'entities/work/tag.ts',
        "  tenancy: 'organization',\n",
        "  tenancy: 'organization',\n  behaviours: [holdsLinks({ field: 'description' })],\n",
      );
    },
  },
  {
    title: 'a REST route is two files',
    files: ['api/rest/routes.ts', 'api/rest/service/coffee.ts'],
    follow: (copy) => {
      copy.write('api/rest/service/coffee.ts', coffeeRoute);
      const list = 'api/rest/routes.ts';
      copy.change(list, 'import { livez,', "import { coffee } from './service/coffee.ts';\nimport { livez,");
      copy.change(list, '\n  livez,\n', '\n  coffee,\n  livez,\n');
    },
  },
  {
    title: 'a receiver is one file',
    files: ['api/rest/work/kettle.receiver.ts'],
    follow: (copy) => copy.write('api/rest/work/kettle.receiver.ts', kettleReceiver),
  },
  {
    title: 'a listener is one file',
    files: ['activities/listeners/work/name-tag.listener.ts'],
    follow: (copy) => copy.write('activities/listeners/work/name-tag.listener.ts', nameTag),
  },
  {
    title: 'a mail is one file',
    files: ['activities/mails/organizations/member-joined.mail.ts'],
    follow: (copy) => copy.write('activities/mails/organizations/member-joined.mail.ts', memberJoined),
  },
  {
    title: 'a notification is one file',
    files: ['activities/mails/work/tag-created.mail.ts'],
    follow: (copy) => copy.write('activities/mails/work/tag-created.mail.ts', tagCreated),
  },
  {
    title: 'a workflow is three files',
    files: ['activities/work/tea-activities.ts', 'workflows/work/brew-tea.contract.ts', 'workflows/work/brew-tea.ts'],
    follow: (copy) => {
      copy.write('workflows/work/brew-tea.contract.ts', brewTeaContract);
      copy.write('workflows/work/brew-tea.ts', brewTea);
      copy.write('activities/work/tea-activities.ts', teaActivities);
    },
  },
  {
    title: 'due work is one file',
    files: ['entities/files/tea-breaks-due.ts'],
    follow: (copy) => copy.write('entities/files/tea-breaks-due.ts', teaBreaks),
  },
  {
    title: 'a sweep is one file',
    files: ['activities/sweeps/work/close-old-tasks.sweep.ts'],
    follow: (copy) => copy.write('activities/sweeps/work/close-old-tasks.sweep.ts', closeOldTasks),
  },
  {
    title: 'a backfill is one file',
    files: ['activities/backfills/described-tags.backfill.ts'],
    follow: (copy) => copy.write('activities/backfills/described-tags.backfill.ts', describedTags),
  },
  {
    title: 'an integration is one file',
    files: ['activities/clients/integrations/kettles/definition.ts'],
    follow: (copy) => copy.write('activities/clients/integrations/kettles/definition.ts', kettles),
  },
  {
    title: 'a configuration leaf is one file',
    files: ['config/objects/db.ts'],
    follow: (copy) => {
      copy.change(
        'config/objects/db.ts',
        '  drivername: text({',
        "  charset: text({ description: 'Character set of texts.', default: 'utf-8' }),\n  drivername: text({",
      );
    },
  },
];

/** What `npm run derive` changes after all of them. */
export const derivedByOthers = [
  'api/graphql/schema/common.graphql',
  'api/graphql/schema/work.graphql',
  'config/config.example.yaml',
  'config/config.schema.json',
  'docs/reference/configuration.md',
  'docs/reference/errors.md',
  'docs/reference/events.md',
  'docs/reference/notifications.md',
  'docs/reference/openapi.json',
  'docs/reference/policy.md',
  'entities/notifications/notification-topics.json',
];

/** Tests of what they added: one that is written for the route, one for the leaf, and those that go through all there is. */
export const testsOfOthers = [
  'test/api/coffee.test.ts',
  'test/api/tea.test.ts',
  'test/api/integrations/kettles.test.ts',
  'test/architecture/areas.test.ts',
  'test/architecture/twins.test.ts',
  'test/config/charset.test.ts',
  'test/config/effects.test.ts',
  'test/relay/due-work.test.ts',
  'test/worker/release.test.ts',
  'test/workflows/email/mail-layouts.test.ts',
  'test/workflows/events/typed-events.test.ts',
  'test/workflows/maintenance/described-tags.test.ts',
];

export const coffeeTest = `import { afterAll, beforeAll, expect, test } from 'vitest';
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
`;

export const teaTest = `import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('tea is steeped over REST and GraphQL', async () => {
  const client = await signedIn(world, await buildPerson(world));
  expect((await client.post('/v1/teas/steep', { steeping_minutes: 3 })).body).toEqual({ cup_count: 6 });
  expect((await client.post('/v1/teas/steep', { steeping_minutes: 11 })).status).toBe(400);
  const { data } = await client.graphql('mutation { steepTea(steepingMinutes: 3) { cupCount } }');
  expect(data.steepTea).toEqual({ cupCount: 6 });
});

test('a description with a link is held, and the color is written', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { id } = (await client.post('/v1/tags', { name: 'fire' })).body;
  const payload = { description: 'see https://example.com', color: '#ff0000' };
  const { body } = await client.mutate({ method: 'PATCH', url: '/v1/tags/' + id, payload });
  expect([body.description, body.color]).toEqual([null, '#ff0000']);
  expect(body.held).toEqual([{ field: 'description', message: 'A description with a link waits for an approval.' }]);
});
`;

export const charsetTest = `import { expect, test } from 'vitest';
import { leafByPath } from '#config/objects/leaf.ts';
import { showsWithinConfig } from '../kit/shows.ts';

test('charset has a default', () => {
  showsWithinConfig('db.charset');
  expect(leafByPath.get('db.charset')?.field).toMatchObject({ default: 'utf-8' });
});
`;
