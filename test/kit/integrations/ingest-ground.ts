import { Type } from 'typebox';
import {
  defineIntegration,
  type Envelope,
  type IntegrationDefinition,
  type Page,
} from '#activities/clients/integrations/definition.ts';
import { advanceRun } from '#activities/integrations/runs/advance-run.ts';
import type { Advance } from '#activities/integrations/runs/run-work.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import type { LoopDependencies } from '#activities/integrations/loops/advance-round.ts';
import type { Run } from '#entities/integrations/runs/end-run.ts';
import {
  directoryAccount,
  directoryGroup,
  directoryMembership,
  directorySyncRun,
  integration,
  integrationRun,
} from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asSystem, transactAs } from '../as-person.ts';
import { buildPerson, type Person } from '../people.ts';
import type { World } from '../world.ts';

/** Answer of the provider to a request for the page at a position. */
export type Answer = (cursor: string | undefined) => Page | Promise<Page>;

/** A directory of which the test says what it answers, connected to an organization. */
export interface IngestGround {
  readonly owner: Person;
  readonly integrationId: string;
  readonly dependencies: LoopDependencies;
  /** Cursors of the pages that were read. */
  readonly read: (string | undefined)[];
  answer: Answer;
  /** Requests a run of the only operation. */
  request(): Promise<Run>;
  advance(runId: string, budgetMs?: number): Promise<Advance>;
  /** Requests a run and advances it until it has ended or waits. */
  pass(): Promise<Run>;
  run(runId: string): Promise<Run>;
  accounts(): Promise<Record<string, unknown>[]>;
  groups(): Promise<Record<string, unknown>[]>;
  memberships(): Promise<Record<string, unknown>[]>;
  syncRuns(): Promise<Record<string, unknown>[]>;
}

export const accountOf = (id: number | string, more: Readonly<Record<string, unknown>> = {}): Envelope => ({
  kind: 'directoryAccount',
  payload: { id, email: `P${id}@Example.com`, name: `Person ${id}`, active: true, ...more },
});

export const groupOf = (id: string, name = `Group ${id}`): Envelope => ({
  kind: 'directoryGroup',
  payload: { id, name },
});

export const memberOf = (user: number | string, group: string, role?: string): Envelope => ({
  kind: 'directoryMembership',
  payload: { user: String(user), group, ...(role === undefined ? {} : { role }) },
});

/** Pages one after the other; the cursor is the number of the next one. */
export function pagesOf(...pages: readonly (readonly Envelope[])[]): Answer {
  return (cursor) => {
    const index = Number(cursor ?? 0);
    return { records: pages[index] ?? [], ...(index + 1 < pages.length ? { next: String(index + 1) } : {}) };
  };
}

const mapExpr = `{
  'externalId': string(payload.id), 'email': has(payload.email) ? payload.email : null,
  'displayName': has(payload.name) ? payload.name : null, 'isActive': has(payload.active) ? payload.active : dyn(true),
  'attributes': has(payload.attributes) ? payload.attributes : null
}`;

function definitionOver(answer: Answer, isPartial: boolean): IntegrationDefinition {
  return defineIntegration({
    id: 'testdirectory',
    version: '1',
    name: 'Test directory',
    description: 'Directory of a test.',
    family: 'directory',
    logo: '<svg/>',
    isOffered: () => true,
    userInput: Type.Object({}),
    connections: [
      {
        credentialRef: 'none',
        name: 'None',
        description: 'Needs none.',
        check: async () => ({ id: 'test', name: null }),
      },
    ],
    operations: [
      {
        name: 'syncDirectory',
        description: 'Brings in the directory.',
        policy: 'run',
        isLooped: true,
        ...(isPartial ? { isPartial } : {}),
        input: Type.Object({}),
        ingests: ['directoryAccount', 'directoryGroup', 'directoryMembership'],
        readPage: async (_context, _input, cursor) => answer(cursor),
      },
    ],
    mappings: [
      { kind: 'directoryAccount', filterExpr: `!has(payload.robot)`, mapExpr },
      { kind: 'directoryGroup', mapExpr: `{'externalId': payload.id, 'displayName': payload.name}` },
      {
        kind: 'directoryMembership',
        mapExpr: `{'account': payload.user, 'group': payload.group, 'role': has(payload.role) ? payload.role : null}`,
      },
    ],
    webhooks: [],
  });
}

/**
 * @param userInput settings of the organization
 * @param isPartial whether the provider lists only some of its records
 */
export async function ingestGround(
  world: World,
  userInput: Readonly<Record<string, unknown>> = {},
  { isPartial = false }: { readonly isPartial?: boolean } = {},
): Promise<IngestGround> {
  const owner = await buildPerson(world);
  const organizationId = owner.organization.id;
  const row = await asSystem(world, organizationId, (data) =>
    data.create(integration, {
      name: `directory ${newId()}`,
      definitionId: 'testdirectory',
      status: 'connected',
      userInput,
    }),
  );
  const system = systemCaller('test', organizationId);
  const { database, expressions } = world.runtime;
  const dependencies: LoopDependencies = {
    definitionOf: () => definition,
    database,
    expressions,
    integrations: {
      use: async (integrationId, work) => {
        const current = await asSystem(world, organizationId, (data) => data.get(integration, integrationId));
        // The test's definition needs nothing of the context.
        return work({} as never, current, definition);
      },
    },
  };
  const list = (
    kind: typeof directoryAccount | typeof directoryGroup | typeof directoryMembership | typeof directorySyncRun,
  ) =>
    asSystem(world, organizationId, (data) =>
      data.find(kind as typeof directoryAccount, {
        where: { integrationId: { eq: row.id } },
        orderBy: [{ field: 'id', direction: 'asc' }],
        limit: 10_000,
      }),
    ) as Promise<unknown[]> as Promise<Record<string, unknown>[]>;
  const ground: IngestGround = {
    owner,
    integrationId: row.id,
    dependencies,
    read: [],
    answer: pagesOf([]),
    request: () => {
      // Records are created after the beginning of their pass.
      world.clock.advance(1_000);
      return transactAs(world.runtime, system, async (unit) => ({
        ...(await requestRun(unit, { integration: row, operation: 'syncDirectory', trigger: 'person' })),
      }));
    },
    advance: (runId, budgetMs = 60_000) => {
      world.clock.advance(1_000);
      return advanceRun(dependencies, runId, { budgetMs });
    },
    async pass() {
      const { id } = await ground.request();
      while (!(await ground.advance(id)).isDone);
      return ground.run(id);
    },
    run: (runId) => asSystem(world, organizationId, (data) => data.get(integrationRun, runId)),
    accounts: () => list(directoryAccount),
    groups: () => list(directoryGroup),
    memberships: () => list(directoryMembership),
    syncRuns: () => list(directorySyncRun),
  };
  const definition = definitionOver((cursor) => {
    ground.read.push(cursor);
    return ground.answer(cursor);
  }, isPartial);
  return ground;
}
