import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { file, group, groupMembership, groupSetting, membership, note, registry, task } from '#entities/index.ts';
import { Viewer } from '#entities/kit/read/viewer.ts';
import { checkRequestFor } from '#entities/kit/access/check-request.ts';
import { callerOfDelegation } from '#entities/kit/access/principal-state.ts';
import { readAuthorizationState } from '#entities/kit/access/authorization-state.ts';
import { roles, systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { column } from '#entities/kit/storage/column.ts';
import { compileSql } from '#entities/kit/storage/sql.ts';
import { permitted } from '#entities/kit/read/visibility.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { StoreAuthorizer } from '#relay/authorization/store-authorizer.ts';
import { callerNow } from '../kit/caller-now.ts';
import { seedOf, timesOf } from '../kit/depth.ts';
import { OpenfgaProxy } from '../kit/fakes/openfga-proxy.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { Random } from '../kit/random.ts';
import { untilAvailable } from '../kit/until-available.ts';
import { recordTried } from '../kit/tried.ts';
import { uploadFor } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Questions, all workers together. */
const questions = timesOf({ sample: 800, prove: 10_000 });
const workers = 10;
/** Questions after each change. */
const questionsPerChange = 4;
const maxDelayMs = 8;

let fga: OpenfgaProxy;
let world: World;
let owner: Person;

beforeAll(async () => {
  fga = await OpenfgaProxy.start(inject('stack').openfgaUrl);
  world = await openWorld({ environment: { CORE_AUTHZ_HOSTURL: fga.url } });
  owner = await buildPerson(world);
});
afterAll(async () => {
  await world.close();
  await fga.close();
});

const taskShare = registry.byKind('taskShare');
const taskFile = registry.byKind('taskFile');
const fileShare = registry.byKind('fileShare');
const operations = ['view', 'edit', 'remove'] as const;
type Held = { id: string };

interface Question {
  readonly module: EntityModule;
  readonly id: string;
  readonly operation: (typeof operations)[number];
}

/**
 * Each worker changes and asks about people, groups and records of its own, so that it knows that nothing else changes between
 * its steps; all are in one organization, so their changes and the relay of tuples run into each other.
 */
class Worker {
  readonly #random: Random;
  readonly #people: Person[] = [];
  readonly #groups: Held[] = [];
  readonly #records: { module: EntityModule; id: string }[] = [];
  #tasks: Held[] = [];
  /** What is asked next: every record and operation comes before one comes again. */
  #deck: Question[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  async prepare(): Promise<void> {
    const { organization } = owner;
    for (const role of ['admin', 'member', 'member', 'auditor'] as const)
      this.#people.push(await buildPerson(world, { organization, role }));
    await asSystem(async (data) => {
      for (let count = 0; count < 3; count++) {
        const made = await data.create(group, { name: `group ${newId()}` });
        await data.create(groupSetting, { groupId: made.id, visibility: this.#random.pick(['public', 'private']) });
        this.#groups.push(made);
      }
      for (let count = 0; count < 6; count++) {
        const { user } = this.#random.pick(this.#people);
        const parent = this.#random.chance(0.6) ? this.#tasks.at(-1)?.id : undefined;
        const made = await data.create(task, {
          title: 'task',
          assignerId: user.id,
          ...(parent ? { parentId: parent } : {}),
        });
        this.#tasks.push(made);
      }
    });
    this.#tasks = this.#random.shuffled(this.#tasks);
    await asSystem(async (data) => {
      for (const { id: taskId } of this.#tasks.slice(0, 3)) {
        const ownerId = this.#random.pick(this.#people).user.id;
        const content = await uploadFor(world, data.caller, file.fields.content);
        this.#records.push({ module: taskFile, id: (await data.create(taskFile, { taskId, content })).id });
        this.#records.push({ module: note, id: (await data.create(note, { text: 'note', ownerId, taskId })).id });
        this.#records.push({
          module: file,
          id: (await data.create(file, { content: await uploadFor(world, data.caller, file.fields.content), ownerId }))
            .id,
        });
      }
    });
    for (const { id } of this.#tasks) this.#records.push({ module: task, id });
    for (const { id } of this.#groups) this.#records.push({ module: group, id });
  }

  /** One random change of rights, committed when it returns. */
  async change(): Promise<void> {
    const random = this.#random;
    const person = random.pick(this.#people).user.id;
    const { id: groupId } = random.pick(this.#groups);
    const { id: taskId } = random.pick(this.#tasks);
    await asSystem(async (data) => {
      switch (random.pick(['role', 'leave', 'group', 'group', 'share', 'share', 'assign', 'parent', 'setting'])) {
        case 'role': {
          const held = await data.findOne(membership, { userId: { eq: person } });
          if (held) await data.update(membership, held.id, { role: random.pick(roles) });
          else await data.create(membership, { userId: person, role: random.pick(roles) });
          break;
        }
        case 'leave': {
          const held = await data.findOne(membership, { userId: { eq: person } });
          if (held && random.chance(0.4)) await data.remove(membership, held.id);
          break;
        }
        case 'group': {
          const held = await data.findOne(groupMembership, { groupId: { eq: groupId }, userId: { eq: person } });
          if (!held) {
            // Whoever left the organization comes back before.
            const isIn = await data.findOne(membership, { userId: { eq: person } });
            if (!isIn) await data.create(membership, { userId: person });
            await data.create(groupMembership, { groupId, userId: person, role: random.pick(['admin', 'member']) });
          } else if (random.chance(0.5)) await data.remove(groupMembership, held.id);
          else await data.update(groupMembership, held.id, { role: random.pick(['admin', 'member']) });
          break;
        }
        case 'share': {
          const { module, id } = random.pick(this.#records.filter(({ module }) => module === task || module === file));
          const [share, field] = module === task ? [taskShare, 'taskId'] : [fileShare, 'fileId'];
          const relation = random.pick(['viewer', 'editor', 'blocked']);
          const held = await data.findOne(share, {
            [field]: { eq: id },
            groupId: { eq: groupId },
            relation: { eq: relation },
          });
          if (held) await data.remove(share, held.id);
          else await data.create(share, { [field]: id, groupId, relation });
          break;
        }
        case 'assign':
          await data.update(task, taskId, { assigneeId: random.chance(0.3) ? null : person });
          break;
        case 'parent': {
          const place = this.#tasks.findIndex(({ id }) => id === taskId);
          // Only ever below one before it, so that nothing hangs on itself.
          const parent = place > 0 && random.chance(0.7) ? this.#tasks[random.below(place)] : undefined;
          await data.update(task, taskId, { parentId: parent?.id ?? null });
          break;
        }
        case 'setting': {
          const held = await data.findOne(groupSetting, { groupId: { eq: groupId } });
          await data.update(groupSetting, held?.id ?? '', { visibility: random.pick(['public', 'private']) });
        }
      }
    });
  }

  /** @returns what each evaluator answers to a random question */
  async ask(): Promise<Answers> {
    if (this.#deck.length === 0)
      this.#deck = this.#random.shuffled(
        this.#records.flatMap((record) => operations.map((operation) => ({ ...record, operation }))),
      );
    const { module, id, operation } = this.#deck.pop() as Question;
    const person = this.#random.pick(this.#people);
    // While the store cannot follow the rows, a decision is refused, and asked for again.
    const isSupport = this.#random.chance(0.1);
    return untilAvailable(async () => {
      const caller = isSupport ? await supportCaller() : await callerFor(person);
      return answersTo(module, id, operation, caller, person);
    });
  }
}

interface Answers {
  readonly question: string;
  /** Kind and operation. */
  readonly about: string;
  readonly rows: boolean;
  readonly remembered: boolean;
  readonly anew: boolean;
}

async function answersTo(
  module: EntityModule,
  id: string,
  operation: (typeof operations)[number],
  caller: Caller,
  person: Person,
): Promise<Answers> {
  const about = `${module.kind} ${operation}`;
  const question = `${caller.kind} ${caller.role ?? 'nobody'} ${caller.subjectId ?? person.user.id} ${operation} ${module.kind} ${id}`;
  const { organizationId } = caller;
  if (organizationId === null) return { question, about, rows: false, remembered: false, anew: false };
  return inUnit(caller, async (unit) => {
    const rows = await byRows(unit, module, id, operation, caller);
    // Auditors only read; the store is not asked about their changes.
    if (caller.role === 'auditor' && operation !== 'view')
      return { question, about, rows, remembered: false, anew: false };
    const session = await unit.readAs('app');
    const [row] = (await session.query<Record<string, unknown>>(rowOf(module), [id])).rows;
    const readState = () => readAuthorizationState(session, organizationId);
    const { organizations } = await readState();
    const asked = await checkRequestFor(
      session,
      registry,
      { module, row: row ?? { id }, operation },
      caller,
      organizations,
    );
    const { authorizer } = world.runtime.database.options;
    const remembered = await authorizer?.decide(asked, readState);
    const isAllowed = remembered?.isAllowed ?? false;
    // What was not remembered was asked anew already.
    const asksAgain = remembered?.by !== 'store';
    return { question, about, rows, remembered: isAllowed, anew: asksAgain ? await anew(asked, readState) : isAllowed };
  });
}

function anew(...[question, readState]: Parameters<StoreAuthorizer['decide']>): Promise<boolean> {
  const { store, tuples } = world.runtime;
  if (!store || !tuples) throw new Error('the test needs the authorization store');
  const allows = { has: () => Promise.resolve(false), add: () => Promise.resolve() };
  return new StoreAuthorizer({ store, tuples, allows }).decide(question, readState).then(({ isAllowed }) => isAllowed);
}

/** Columns by the names of their fields, for contextual tuples; row-level security does not hide what the rules hide. */
function rowOf(module: EntityModule): string {
  const fields = ['parentId', 'taskId', 'groupId'].filter((name) => Object.hasOwn(module.fields, name));
  const columns = fields.map((name) => `${name.replace('Id', '_id')} as "${name}"`);
  return `select ${['id', ...columns].join(', ')} from ${module.table} where id = $1`;
}

async function byRows(
  unit: UnitOfWork,
  module: EntityModule,
  id: string,
  operation: (typeof operations)[number],
  caller: Caller,
): Promise<boolean> {
  const session = await unit.readAs('app');
  const { text, values } =
    compileSql(sql`select ${permitted(module, 'r', Viewer.of(registry, caller), operation)} as allowed
    from ${sql.table(module.table)} as r where ${column('r', 'id')} = ${id}`);
  return (await session.query<{ allowed: boolean | null }>(text, values)).rows[0]?.allowed === true;
}

function callerFor({ user }: Person): Promise<Caller> {
  return callerNow(world.runtime, user.id, owner.organization.id);
}

/** Support access, of whose role the store knows by the question alone. */
async function supportCaller(): Promise<Caller> {
  const { id: organizationId } = owner.organization;
  const expiresAt = '2099-01-01T00:00:00Z';
  const held = { id: newId(), type: 'support', actorId: support, actorName: 'Support', expiresAt } as const;
  const state = {
    isSignedIn: true,
    isActive: true,
    lacksSecondFactor: false,
    role: null,
    groupIds: [],
    relations: [],
    gates: [],
    heldModules: [],
    delegation: { ...held, subjectId: support, organizationId },
  };
  return callerOfDelegation(registry, state, await world.runtime.contextOfCallers());
}

const support = newId();

function inUnit<T>(caller: Caller, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return world.runtime.database.transact({ caller, requestId: newId(), deadline: Date.now() + 300_000 }, work);
}

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  return inUnit(systemCaller('test', owner.organization.id), ({ data }) => work(data));
}

test('with rights that change all the time, rows, remembered decisions and the store agree about every question', async () => {
  const seed = seedOf('differential authorization');
  const all = Array.from({ length: workers }, (_none, place) => new Worker(seed + place));
  for (const worker of all) await worker.prepare();
  const delays = new Random(seed - 1);
  fga.beforeWrite = async () => {
    await setTimeout(delays.below(maxDelayMs));
  };
  const answers = { allowed: 0, refused: 0 };
  const asked = new Set<string>();
  let changes = 0;
  const rounds = Math.ceil(questions / workers / questionsPerChange);
  await Promise.all(
    all.map(async (worker) => {
      for (let round = 0; round < rounds; round++) {
        await worker.change();
        changes++;
        for (let count = 0; count < questionsPerChange; count++) {
          const { question, about, rows, ...others } = await worker.ask();
          expect({ question, ...others }).toEqual({ question, remembered: rows, anew: rows });
          asked.add(about);
          answers[rows ? 'allowed' : 'refused']++;
        }
      }
    }),
  );
  recordTried('authorization questions', answers.allowed + answers.refused);
  recordTried('changes of rights', changes);
  expect(asked.size).toBe(5 * operations.length);
  // Both answers were common, or nothing was compared.
  expect(Math.min(answers.allowed, answers.refused)).toBeGreaterThan(questions / 10);
});
