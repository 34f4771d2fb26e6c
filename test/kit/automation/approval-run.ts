import { expect } from 'vitest';
import { decide } from '#entities/automation/approvals/decide.ts';
import { delegate, reassign } from '#entities/automation/approvals/hand-over.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import { resubmit } from '#entities/automation/approvals/submit-proposal.ts';
import { proposedValues } from '#entities/automation/proposed-values.ts';
import type { ApprovalWork } from '#entities/automation/approvals/approval-work.ts';
import type { Action } from '#entities/automation/document/definition-document.ts';
import { user, type workflowAssignment } from '#entities/index.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { callerOf } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { transactAs } from '../as-person.ts';
import { buildPerson, type Person } from '../people.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import { ApprovalGround } from './approval-ground.ts';
import { ApprovalModel, type Facts, type ModelAction, type Verb } from './approval-model.ts';

const names = ['ann', 'ben', 'cy', 'dan', 'sam', 'admin', 'owner'] as const;
type Name = (typeof names)[number];

const dayMs = 86_400_000;

/** Random steps of several people about held changes; after each, rows and records are those of the model. */
export class ApprovalRun {
  readonly #world: World;
  readonly #random: Random;
  readonly #ground: ApprovalGround;
  readonly #people: Readonly<Record<Name, Person>>;
  readonly #team: string;
  readonly #viewersGroup: string;
  readonly #facts: Facts & {
    readonly team: Set<string>;
    readonly viewers: Set<string>;
    readonly inactive: Set<string>;
  };
  readonly ended = { completed: 0, rejected: 0 };
  readonly answers = new Map<string, number>();
  #held!: {
    taskId: string;
    instanceId: string;
    model: ApprovalModel;
    actions: readonly ModelAction[];
    proposed: string;
  };

  private constructor(
    world: World,
    random: Random,
    ground: ApprovalGround,
    people: Readonly<Record<Name, Person>>,
    groups: readonly [string, string],
  ) {
    this.#world = world;
    this.#random = random;
    this.#ground = ground;
    this.#people = people;
    [this.#team, this.#viewersGroup] = groups;
    this.#facts = {
      author: 'sam',
      managers: ['owner', 'admin'],
      team: new Set(['ann', 'ben', 'cy', 'sam']),
      viewers: new Set(['ann', 'ben', 'cy', 'dan', 'sam', 'admin']),
      inactive: new Set(),
    };
  }

  static async open(world: World, seed: number): Promise<ApprovalRun> {
    const owner = await buildPerson(world);
    const ground = new ApprovalGround(world, owner);
    const member = (role: 'member' | 'admin') => buildPerson(world, { organization: owner.organization, role });
    const people = { owner, admin: await member('admin') } as Record<Name, Person>;
    for (const name of ['ann', 'ben', 'cy', 'dan', 'sam'] as const) people[name] = await member('member');
    const { ann, ben, cy, dan, sam, admin } = people;
    const groups = [await ground.group(ann, ben, cy, sam), await ground.group(ann, ben, cy, dan, sam, admin)] as const;
    const run = new ApprovalRun(world, new Random(seed), ground, people, groups);
    await run.#begin();
    await run.#compare('beginning');
    return run;
  }

  async run(steps: number): Promise<void> {
    for (let n = 0; n < steps; n++) {
      const done = await this.#one();
      await this.#compare(`step ${n}: ${done}`);
      // Too few people can end it at once.
      while (this.#held.model.end !== null) {
        await this.#begin();
        await this.#compare(`beginning after step ${n}`);
      }
    }
  }

  /** Another change is held, under a random definition. */
  async #begin(): Promise<void> {
    const actions = this.#definition();
    const version = await this.#ground.publish(actions.map((action) => this.#actionOf(action)));
    const held = await this.#ground.task({ assigneeId: this.#people.sam.user.id });
    await this.#ground.show(held.id, this.#viewersGroup);
    const instanceId = await this.#ground.hold(version, this.#people.sam, held, { status: 'completed' });
    const model = new ApprovalModel(actions);
    this.#held = { taskId: held.id, instanceId, model, actions, proposed: 'completed' };
    await this.#step();
  }

  #definition(): ModelAction[] {
    const random = this.#random;
    const isRequired = random.chance(0.8);
    return (random.chance(0.3) ? ['a', 'b'] : ['a']).map((key) => ({
      key,
      count: isRequired ? random.pick([0, 1, 2]) : 0,
      isRequired,
      dueMs: random.chance(0.5) ? 5 * dayMs : null,
      onDue: random.chance(0.8) ? 'ESCALATE' : 'REJECT',
      targets: ['ann', 'ben', 'cy', 'sam'],
      escalateTo: random.chance(0.5) ? ['dan'] : null,
    }));
  }

  #actionOf({ key, count, isRequired, dueMs, onDue, escalateTo }: ModelAction): Action {
    const people = escalateTo?.map((name) => ({ type: 'USER' as const, id: this.#people[name as Name].user.id }));
    return {
      key,
      type: 'REQUEST_APPROVAL',
      params: {
        targets: [{ type: 'GROUP', id: this.#team }],
        fields: [key === 'a' ? 'status' : 'priority'],
        required: isRequired,
        required_count: count,
        ...(dueMs === null ? {} : { due_in: '5d', on_due: onDue }),
        ...(people ? { escalate_to: people } : {}),
      },
    };
  }

  /** @returns what was done, for messages */
  async #one(): Promise<string> {
    const draw = this.#random.next();
    if (draw < 0.3) return this.#step();
    if (draw < 0.66) return this.#decide();
    if (draw < 0.75) return this.#handOver();
    if (draw < 0.78) return this.#edit();
    if (draw < 0.86) {
      this.#world.clock.advance(dayMs);
      return 'a day passes';
    }
    return this.#changePeople();
  }

  async #step(): Promise<string> {
    const { instanceId, model } = this.#held;
    await this.#ground.step(instanceId);
    model.step(this.#facts, this.#now);
    return 'the workflow steps';
  }

  get #now(): number {
    return this.#world.clock.now().getTime();
  }

  async #decide(): Promise<string> {
    const { model } = this.#held;
    const [key, name] = this.#decider();
    const draw = this.#random.next();
    const verb: Verb = draw < 0.85 ? 'approved' : draw < 0.94 ? 'rejected' : 'changes_requested';
    const assignmentId = await this.#assignmentOf(key, name);
    const expected = model.decide(key, name, verb, this.#facts, this.#now);
    const answer = await this.#answer(name, (work, userId) =>
      decide(work, { assignmentId, userId, decision: verb, note: null }),
    );
    const done = `${name} says ${verb} to ${key}`;
    expect(answer, done).toBe(expected);
    return `${done}: ${answer}`;
  }

  /** A person and an action: mostly somebody who is asked. */
  #decider(): readonly [string, Name] {
    const open = this.#held.model.open().filter((one) => one.endsWith('/pending'));
    if (open.length === 0 || this.#random.chance(0.3)) {
      const { key } = this.#random.pick(this.#held.actions);
      return [key, this.#random.pick(names)];
    }
    const [key, name] = this.#random.pick(open).split('/');
    return [key as string, name as Name];
  }

  async #handOver(): Promise<string> {
    const { model } = this.#held;
    const key = this.#random.pick(this.#held.actions).key;
    const [name, to] = [this.#random.pick(names), this.#random.pick(names)];
    const how = this.#random.pick(['delegated', 'reassigned'] as const);
    const assignmentId = await this.#assignmentOf(key, name);
    const expected = model.handOver(key, name, to, how, this.#facts, this.#now);
    const given = (userId: string) => ({ assignmentId, userId, toUserId: this.#people[to].user.id });
    const answer = await this.#answer(name, (work, userId) =>
      how === 'delegated' ? delegate(work, given(userId)) : reassign(work, given(userId)),
    );
    const done = `${name} has ${how} ${key} to ${to}`;
    expect(answer, done).toBe(expected);
    return `${done}: ${answer}`;
  }

  async #edit(): Promise<string> {
    const proposed = this.#random.pick(['completed', 'in_review', 'wont_do']);
    await this.#ground.asServer(async (work) => {
      const locked = await lockInstance(work, this.#held.instanceId);
      if (locked) await resubmit(work, locked, proposedValues({ status: 'open' }, { status: proposed }));
    });
    this.#held.proposed = proposed;
    this.#held.model.newRound();
    // Until the workflow has seen it, nobody is asked about the new values.
    return `sam proposes ${proposed}; ${await this.#step()}`;
  }

  async #changePeople(): Promise<string> {
    const { team, viewers, inactive } = this.#facts;
    const name = this.#random.pick(['ann', 'ben', 'cy', 'dan', 'admin'] as const);
    const person = this.#people[name];
    const what = this.#random.pick(['team', 'viewers', 'inactive'] as const);
    // Most people are there most of the time.
    const isThere = what === 'inactive' ? !inactive.has(name) : this.#facts[what].has(name);
    if (isThere && this.#random.chance(0.5)) return `${name} stays`;
    if (what === 'team' && (name === 'dan' || name === 'admin')) return `${name} stays out of the team`;
    if (what === 'inactive') {
      const status = inactive.has(name) ? 'active' : 'deactivated';
      await this.#ground.asServer(({ data }) => data.update(user, person.user.id, { status }));
    } else {
      const groupId = what === 'team' ? this.#team : this.#viewersGroup;
      if (this.#facts[what].has(name)) await this.#ground.leaveGroup(groupId, person);
      else await this.#ground.joinGroup(groupId, person);
    }
    const set = { team, viewers, inactive }[what];
    if (!set.delete(name)) set.add(name);
    return `${name} changes in ${what}`;
  }

  /** The newest assignment of a person in this round, or an id of none. */
  async #assignmentOf(key: string, name: Name): Promise<string> {
    const found = (await this.#current()).findLast(
      ({ actionKey, userId }) => actionKey === key && userId === this.#people[name].user.id,
    );
    return found?.id ?? this.#held.instanceId;
  }

  async #current(): Promise<RowOf<typeof workflowAssignment>[]> {
    const { round } = await this.#ground.instance(this.#held.instanceId);
    return (await this.#ground.assignments(this.#held.instanceId)).filter((one) => one.round === round);
  }

  async #answer(name: Name, work: (work: ApprovalWork, userId: string) => Promise<unknown>): Promise<string> {
    const { user: person, organization } = this.#people[name];
    const caller = callerOf({ kind: 'user', subjectId: person.id, organizationId: organization.id });
    const code = await transactAs(this.#world.runtime, caller, async (unit) => {
      await work({ unit, data: unit.data.privileged('test') }, person.id);
      return 'taken';
    }).catch((error: unknown) => {
      if (!isAppError(error)) throw error;
      return error.code;
    });
    this.answers.set(code, (this.answers.get(code) ?? 0) + 1);
    return code;
  }

  async #compare(done: string): Promise<void> {
    const { instanceId, taskId, model, proposed } = this.#held;
    const nameOf = (id: string) => names.find((name) => this.#people[name].user.id === id);
    const rows = (await this.#current()).filter(({ status, isVoid }) => status !== 'cancelled' && !isVoid);
    const open = rows.map(({ actionKey, userId, status }) => `${actionKey}/${nameOf(userId)}/${status}`);
    expect(open.toSorted(), done).toEqual(model.open().toSorted());
    const { status, endedAt } = await this.#ground.instance(instanceId);
    expect(endedAt === null ? null : status, done).toBe(model.end);
    expect(await this.#ground.statusOf(taskId), done).toBe(model.end === 'completed' ? proposed : 'open');
    if (model.end !== null) this.ended[model.end]++;
  }
}
