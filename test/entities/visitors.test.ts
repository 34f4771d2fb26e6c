import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerKinds, callerOf, visitorKinds, type Caller, type VisitorKind } from '#entities/kit/model/caller.ts';
import { reachable } from '#entities/kit/model/behaviours/reachable.ts';
import { defineEntityModule, type EntityModule } from '#entities/kit/model/define.ts';
import { text } from '#entities/kit/model/fields.ts';
import { allow, anyone, scope } from '#entities/kit/model/policy.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { isWithinLimits, limitsOfDelegates, limitsOfVisitors } from '#entities/kit/model/scopes.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import { asSystem, transactAs } from '../kit/as-person.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { openWorld, type World } from '../kit/world.ts';

/** A kind of test records that everybody may view and create, as far as visitors go. */
const everybodys = (kind: string, openTo?: readonly VisitorKind[]) =>
  defineEntityModule({
    kind,
    table: `${kind}s`.toLowerCase(),
    description: 'Test record.',
    fields: { title: text('Title.', { max: 100, exposed: 'read' }) },
    tenancy: 'organization',
    policy: { view: [allow(anyone)], create: [allow(anyone)], edit: [allow(scope)], remove: [allow(scope)] },
    events: [],
    behaviours: openTo ? [reachable({ openTo })] : [],
  });
const questionnaire = everybodys('questionnaire', ['assessment']);
const notice = everybodys('notice');

const derived = new Set([
  'creatorGrant',
  ...registry.modules.flatMap(({ kind, share, files, sides, automation }) => [
    ...(sides ? [kind] : []),
    ...(share ? [`${kind}Share`] : []),
    ...(files ? [`${kind}File`] : []),
    ...(automation ? [`${kind}Proposal`] : []),
  ]),
]);
const withExamples = createRegistry([
  ...registry.modules.filter(({ kind }) => !derived.has(kind)),
  questionnaire,
  notice,
]);

let world: World;
let owner: Person;
let fixtures: AuthorizationFixtures;

beforeAll(async () => {
  world = await openWorld({ registry: withExamples });
  owner = await buildPerson(world);
  fixtures = new AuthorizationFixtures(world, owner);
  await asSystem(world, owner.organization.id, async (data) => {
    await data.create(questionnaire, { title: 'of the organization' });
    await data.create(notice, { title: 'of the organization' });
  });
});
afterAll(() => world.close());

function visitorOf(kind: VisitorKind): Caller {
  const { id: organizationId } = owner.organization;
  const limits = limitsOfVisitors(withExamples, kind);
  return callerOf({ kind, subjectId: newId(), organizationId, productModules, limits });
}

/** What a caller sees and does with records of a kind: how many they see, and the code of each refusal. */
async function attempts(caller: Caller, module: EntityModule, id: string): Promise<readonly unknown[]> {
  const work = (act: Parameters<typeof transactAs<unknown>>[2]) =>
    transactAs(world.runtime, caller, act).catch((error: { code?: string }) => error.code ?? error);
  return [
    await work(async ({ data }) => (await data.find(module, { limit: 10 })).length),
    await work(({ data }) => data.create(module, {})),
    await work(({ data }) => data.update(module, id, {})),
    await work(({ data }) => data.remove(module, id)),
  ];
}

describe.each(visitorKinds)('a visitor of kind %s', (kind) => {
  test.each(triedKinds(registry.modules).map((module) => [module.kind, module] as const))(
    'reaches no %s, whatever its rules say',
    async (_name, module) => {
      const { id } = await fixtures.record(module.kind, 'any');
      const [seen, ...changes] = await attempts(visitorOf(kind), module, id);
      expect(seen).toBe(0);
      for (const code of changes) expect(['permission_denied', 'not_found', 'invalid_input']).toContain(code);
    },
  );

  test('reaches a kind that is open to it, and no other with the same rules', async () => {
    const see = (module: EntityModule) =>
      transactAs(world.runtime, visitorOf(kind), async ({ data }) => (await data.find(module, { limit: 10 })).length);
    expect(await see(questionnaire)).toBe(kind === 'assessment' ? 1 : 0);
    expect(await see(notice)).toBe(0);
  });
});

test('a caller of a kind that needs limits reaches nothing without them', async () => {
  for (const [kind, { needsLimits }] of Object.entries(callerKinds)) {
    const caller = callerOf({ kind: kind as Caller['kind'], subjectId: newId() });
    expect(isWithinLimits(caller, { kind: 'notice', operation: 'view' }), kind).toBe(!needsLimits);
  }
});

test('whoever acts as somebody else reaches neither accounts nor credentials, and only views who may do what', () => {
  const limits = limitsOfDelegates(registry);
  const reached = (verb: string) =>
    registry.modules.filter(({ topic }) => limits.includes(`can_${verb}_${topic}`)).map(({ kind }) => kind);
  const onlyViewed = reached('view').filter((kind) => !reached('edit').includes(kind));
  expect(onlyViewed.toSorted()).toEqual([
    'creatorGrant',
    'export',
    'fileShare',
    'groupMembership',
    'groupSetting',
    'identityProvider',
    'import',
    'integrationWebhook',
    'membership',
    // What is the member's own.
    'notification',
    'notificationPreference',
    'organization',
    'organizationSetting',
    'savedView',
    'taskShare',
    'user',
    'webhookEndpoint',
    'workflowAssignment',
    'workflowDryRun',
  ]);
  const hidden = registry.modules.map(({ kind }) => kind).filter((kind) => !reached('view').includes(kind));
  expect(hidden.toSorted()).toEqual([
    'accountEmail',
    'accountEmailSuppression',
    'apiToken',
    'backfillRun',
    'delegation',
    'emailChange',
    'emailVerification',
    'externalIdentity',
    'invite',
    'onboarding',
    'organizationRemoval',
    'passkey',
    'passwordReset',
    'personalAccessToken',
    'secondFactor',
    'secret',
    'session',
    'supportConsent',
    'userSetting',
    'webhookEvent',
  ]);
  expect(reached('edit').filter((kind) => !reached('delete').includes(kind))).toEqual(['group']);
});
