import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { organization, organizationModule, registry as productRegistry, user } from '#entities/index.ts';
import { Viewer } from '#entities/kit/read/viewer.ts';
import { callerOf, systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { reachable } from '#entities/kit/model/behaviours/reachable.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { member, reference, text } from '#entities/kit/model/fields.ts';
import { historyOf } from '#entities/kit/model/derived/history-kind.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { allow, anyone, deny, related, role, system, through } from '#entities/kit/model/policy.ts';
import type { ProductModule } from '#entities/kit/model/product-modules.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import { visibleRows } from '#entities/kit/read/from-clause.ts';
import { compileSql } from '#entities/kit/storage/sql.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { shareOf } from '#entities/kit/model/derived/share.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { transactAs } from '../kit/as-person.ts';
import { callerNow } from '../kit/caller-now.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { untilAvailable } from '../kit/until-available.ts';
import { openWorld, type World } from '../kit/world.ts';

const forOwners = [allow(system), allow(role('owner'))];
const surface = { mutate: ['create', 'update', 'delete'], events: ['created'] } as const;

/** Part of two product modules: one of them is enough. */
const control = defineEntityModule({
  kind: 'testControl',
  table: 'test_controls',
  description: 'A kind that not every organization has.',
  fields: {
    name: text('Name.', { max: 40, exposed: 'read-write', lists: ['filter'] }),
    keeperId: member('Keeps it.', { optional: true, onLeave: 'keep' }),
  },
  tenancy: 'organization',
  productModules: ['compliance', 'risk_management'],
  policy: {
    view: [...forOwners, allow(related('keeper')), deny(anyone)],
    create: forOwners,
    edit: [...forOwners, allow(related('keeper'))],
    remove: forOwners,
  },
  grants: [
    { object: { kind: 'testControl', id: 'id' }, relation: 'keeper', subject: { kind: 'user', id: 'keeperId' } },
  ],
  ...surface,
});

/** Of the base, and refers to one. */
const remark = defineEntityModule({
  kind: 'testRemark',
  table: 'test_remarks',
  description: 'A kind that every organization has.',
  fields: {
    controlId: reference('testControl', 'What it is about.', {
      optional: true,
      onDelete: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
  },
  tenancy: 'organization',
  policy: { view: [...forOwners, deny(anyone)], create: forOwners, edit: forOwners, remove: forOwners },
  ...surface,
});

/** Of the base, seen by everybody, and changed by whoever may change the control. */
const finding = defineEntityModule({
  kind: 'testFinding',
  table: 'test_findings',
  description: 'A kind whose rights come from one that not every organization has.',
  fields: {
    name: text('Name.', { max: 40, exposed: 'read-write' }),
    controlId: reference('testControl', 'What it is about.', {
      optional: true,
      immutable: true,
      onDelete: 'cascade',
      exposed: 'read-write',
      lists: ['filter'],
    }),
  },
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(role('owner')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(through('controlId'))],
    remove: [allow(system), allow(through('controlId'))],
  },
  ...surface,
});

const registry = createRegistry([user, organization, organizationModule, control, remark, finding]);

let world: World;
let owner: Person;
let runtime: CoreRuntime;
let controlId: string;
let findingId: string;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_ORMCONFIG_MODULES_ENABLED: 'true' } });
  owner = await buildPerson(world);
  const common = `id text primary key, created_at timestamptz not null, updated_at timestamptz not null, created_by text not null,
    updated_by text not null, record_version integer not null, deleted_at timestamptz, deleted_by text, organization_id text not null`;
  await asOwner(
    world,
    `create table test_controls (${common}, name text not null, keeper_id text);
     create table test_remarks (${common}, control_id text references test_controls);
     create table test_findings (${common}, name text not null, control_id text references test_controls);
     grant select, insert, update on test_controls, test_remarks, test_findings to core_app, core_system`,
  );
  runtime = await openRuntime({
    config: world.config,
    temporalEnvironment: {},
    stateFolder: 'unused',
    logger: pino({ level: 'silent' }),
    process: 'core api',
    registry,
  });
  controlId = await asServer(async (data) => {
    const { id } = await data.create(control, { name: 'held' });
    await data.create(remark, { controlId: id });
    findingId = (await data.create(finding, { name: 'held', controlId: id })).id;
    return id;
  });
});
afterAll(async () => {
  await runtime.close();
  await world.close();
});

function asServer<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = systemCaller('test', owner.organization.id);
  return runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}

/** The owner's work as a request would do it: with the product modules that the organization has now. */
async function asOwnerOf<T>(organizationId: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  const caller = await callerNow(runtime, owner.user.id, organizationId);
  return transactAs(runtime, caller, work);
}

async function have(...modules: readonly ProductModule[]): Promise<void> {
  await asServer(async (data) => {
    for (const { id } of await data.find(organizationModule, { limit: 100 })) await data.remove(organizationModule, id);
  });
  await asServer(async (data) => {
    for (const module of modules) await data.create(organizationModule, { module, source: 'granted' });
  });
}

const page = (module: PageSelection['module']): PageSelection => ({
  module,
  orderBy: [],
  size: 10,
  from: 'first',
  parts: [{ is: 'records', as: 'data', record: { module, parts: [{ is: 'value', as: 'id', field: 'id' }] } }],
});

type Door = (unit: UnitOfWork) => Promise<unknown>;

/** Every way to name the kind. */
const doors: Readonly<Record<string, Door>> = {
  list: ({ data }) => data.answers.page(page(control)),
  record: ({ data }) =>
    data.answers.record({ module: control, parts: [{ is: 'value', as: 'id', field: 'id' }] }, controlId),
  history: ({ data }) => data.answers.page(page(historyOf(control))),
  create: ({ data }) => data.create(control, { name: 'new' }),
  update: ({ data }) => data.update(control, controlId, { name: newId() }),
  'update of many': ({ data }) => data.updateAll(control, [controlId], { name: newId() }),
};

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await untilAvailable(work);
    return 'answered';
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
}

describe('an organization without the product module', () => {
  beforeAll(() => have('registry'));

  test.each([...Object.entries(doors), ['delete', ({ data }) => data.remove(control, controlId)] as [string, Door]])(
    '%s is refused by name',
    async (_name, door) => {
      expect(await codeOf(() => asOwnerOf(owner.organization.id, door))).toBe('module_not_enabled');
    },
  );

  test('the refusal names the page of the plan while there is billing', async () => {
    const page = 'https://console.example.com/plan';
    const refused = () => asOwnerOf(owner.organization.id, doors['list'] as Door);
    await expect(refused()).rejects.toThrow(/which this organization does not have\.$/);
    await world.reconfigure({
      CORE_SUBSCRIPTION_ENABLED: 'true',
      CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: 'sk_test_key',
      CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: page,
      CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: page,
    });
    await expect(refused()).rejects.toThrow(page);
    await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: undefined });
  });

  test('where the kind is come by, it has no records', async () => {
    await asOwnerOf(owner.organization.id, async ({ data }) => {
      expect(await data.find(control, { limit: 100 })).toEqual([]);
      const parts = [{ is: 'value', as: 'id', field: 'id' }] as const;
      expect(await data.answers.nodes([{ module: control, parts }], [controlId])).toEqual([null]);
      // Records of the base stay, and nothing new comes to hang on what is not there.
      expect(await data.find(remark, { limit: 100 })).toMatchObject([{ controlId }]);
    });
    const create = ({ data }: UnitOfWork) => data.create(remark, { controlId });
    expect(await codeOf(() => asOwnerOf(owner.organization.id, create))).toBe('not_found');
  });

  test('what is shared of it, and what rights pass down from it, neither', async () => {
    expect(shareOf(control).productModules).toEqual(control.productModules);
    const inUnit = <T>(work: (data: UnitOfWork['data']) => Promise<T>) =>
      asOwnerOf(owner.organization.id, ({ data }) => work(data));
    // In units of work of their own: where the authorization store is busy, they are repeated as a whole.
    const { refused } = await inUnit((data) => data.updateAll(finding, [findingId], { name: newId() }));
    const codes = [
      await codeOf(() => inUnit((data) => data.update(finding, findingId, { name: newId() }))),
      await codeOf(() => inUnit((data) => data.remove(finding, findingId))),
      refused[0]?.code,
    ];
    expect(codes).toEqual(['permission_denied', 'permission_denied', 'permission_denied']);
  });

  test('no entry of its history is there, whichever way it is come by', () => {
    const caller = callerOf({ kind: 'user', subjectId: newId(), organizationId: newId(), role: 'owner' });
    expect(compileSql(visibleRows(historyOf(control), 'h', Viewer.of(registry, caller))).text).toBe('false');
  });

  test('everything answers all the same while ormconfig.modules.enabled is off', () =>
    everythingAnswersWith({ CORE_ORMCONFIG_MODULES_ENABLED: 'false' }));

  test('everything answers all the same while ormconfig.modules.devmode is on', () =>
    everythingAnswersWith({ CORE_ORMCONFIG_MODULES_DEVMODE: 'true' }));

  async function everythingAnswersWith(settings: Readonly<Record<string, string>>): Promise<void> {
    await world.reconfigure(settings);
    try {
      for (const door of Object.values(doors))
        expect(await codeOf(() => asOwnerOf(owner.organization.id, door))).toBe('answered');
    } finally {
      await world.reconfigure(Object.fromEntries(Object.keys(settings).map((name) => [name, undefined])));
    }
    expect(await codeOf(() => asOwnerOf(owner.organization.id, doors['list'] as Door))).toBe('module_not_enabled');
  }
});

describe('a kind with several product modules, in an organization with one of them', () => {
  beforeAll(() => have('risk_management'));

  test.each(Object.entries(doors))('%s is answered', async (_name, door) => {
    expect(await codeOf(() => asOwnerOf(owner.organization.id, door))).toBe('answered');
  });

  test('so it is in an organization that is part of it', async () => {
    const below = await asServer(async (data) =>
      data.privileged('test').create(organization, { name: `part ${newId()}`, parentId: owner.organization.id }),
    );
    expect(await codeOf(() => asOwnerOf(below.id, doors['list'] as Door))).toBe('answered');
  });

  test('until it is taken away: then the next request is refused', async () => {
    await have('risk_management');
    expect(await codeOf(() => asOwnerOf(owner.organization.id, doors['record'] as Door))).toBe('answered');
    await have();
    expect(await codeOf(() => asOwnerOf(owner.organization.id, doors['record'] as Door))).toBe('module_not_enabled');
  });
});

test('a kind cannot declare both productModules and rlsUsing', () => {
  const behaviours = [reachable({ rlsUsing: 'organization_id = $organization or true' })];
  expect(() => defineEntityModule({ ...control, behaviours })).toThrow(
    'productModules and rlsUsing exclude each other',
  );
});

test('descriptions say of which product module a kind is part', () => {
  expect(control.description).toContain('compliance or risk_management');
  expect(productRegistry.byKind('task').description).not.toContain('product module');
});
