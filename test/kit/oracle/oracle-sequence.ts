import { membership, organization, user } from '#entities/index.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { actorOf, systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../as-owner.ts';
import { transactAs } from '../as-person.ts';
import { callerNow } from '../caller-now.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import { differencesFromModel, nameRecords } from './oracle-comparison.ts';
import { OracleModel, type ChangedBy, type ManagedGroupIds, type OracleRole } from './oracle-model.ts';
import type { OracleOperation } from './oracle-operation.ts';
import { OracleOperations } from './oracle-operations.ts';
import { codeOf, OracleRules } from './oracle-rules.ts';

/** Roles of people at the beginning. East is part of Mills, so that roles in Mills count in East. */
const beginning: Readonly<
  Record<string, { readonly partOf?: string; readonly people: Readonly<Record<string, OracleRole>> }>
> = {
  Mills: { people: { Ada: 'owner', Ben: 'admin', Cleo: 'member', Dan: 'member', Eve: 'auditor' } },
  East: { partOf: 'Mills', people: { Finn: 'owner', Dan: 'admin', Eve: 'member', Gus: 'member' } },
  Ports: { people: { Gus: 'owner', Hal: 'super_admin', Cleo: 'member', Ben: 'auditor', Ivy: 'member' } },
};

/** Lines of an excerpt. */
const maxLines = 20;

export interface SequenceCount {
  readonly operations: number;
  /** Changes that were made, and operations that were refused. */
  readonly changed: number;
  readonly refused: number;
  readonly comparisons: number;
}

interface Done {
  readonly line: string;
  readonly isChange: boolean;
}

/** Random operations of several people in three organizations, on two API processes, each compared with the model. */
export class OracleSequence {
  readonly #world: World;
  readonly #random: Random;
  readonly #model = new OracleModel();
  readonly #rules = new OracleRules(this.#model);
  readonly #names = new Map<string, string>();
  readonly #done: Done[] = [];

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = new Random(seed);
  }

  /** @param every operations between two comparisons of all that is stored @throws Error with what led to a difference */
  async run(operations: number, every: number): Promise<SequenceCount> {
    await this.#found();
    const runtimes = [this.#world.runtime, (await this.#world.openInstance()).runtime];
    const ids = (list: readonly string[]) =>
      [...this.#names].flatMap(([id, name]) => (list.includes(name) ? [id] : []));
    const random = new OracleOperations(
      {
        model: this.#model,
        rules: this.#rules,
        random: this.#random,
        organizations: ids(Object.keys(beginning)),
        people: ids(Object.values(beginning).flatMap(({ people }) => Object.keys(people))),
      },
      this.#names,
    );
    await this.#compare(random);
    let refused = 0;
    let comparisons = 1;
    for (let count = 1; count <= operations; count++) {
      const operation = random.next();
      if (operation.problems.length > 0) refused++;
      await this.#step(operation, this.#random.pick(runtimes), random);
      if (count % every !== 0 && count !== operations) continue;
      await this.#compare(random);
      comparisons++;
    }
    return { operations, changed: this.#done.filter(({ isChange }) => isChange).length, refused, comparisons };
  }

  async #step(operation: OracleOperation, runtime: World['runtime'], random: OracleOperations): Promise<void> {
    const { acting, problems, says } = operation;
    const { clock } = this.#world;
    clock.advance(1_000);
    const { userId, organizationId } = acting;
    const caller =
      userId === null ? systemCaller('oracle', organizationId) : await callerNow(runtime, userId, organizationId);
    const requestId = `request-${this.#done.length + 1}`;
    const outcome = await transactAs(runtime, caller, ({ data }) => operation.run(data), requestId).then(
      (answer) => ({ answer, code: undefined }),
      (error: unknown) => {
        if (!isAppError(error)) throw this.#failure(random, says, `it failed: ${String(error)}`, error);
        return { answer: undefined, code: error.code };
      },
    );
    const { code, answer } = outcome;
    this.#done.push({
      line: `${requestId} ${says} → ${code ?? 'done'}`,
      isChange: code === undefined && operation.apply !== undefined,
    });
    const isRight = code === undefined ? problems.length === 0 : problems.map(codeOf).includes(code);
    const wrong = isRight
      ? code === undefined && operation.disagreement?.(answer)
      : `the answer is ${code ?? 'success'} instead of ${problems.join(' or ') || 'success'}`;
    if (wrong) throw this.#failure(random, says, wrong);
    if (code !== undefined) return;
    operation.apply?.(byOf(caller, requestId, clock.now()));
    const missing = await nameRecords(this.#world, this.#model);
    if (missing.length > 0) throw this.#failure(random, says, random.named(missing.join('\n')));
  }

  async #compare(random: OracleOperations): Promise<void> {
    const lines = (await differencesFromModel(this.#world, this.#model)).map((line) => random.named(line));
    if (lines.length === 0) return;
    const more = lines.length > maxLines ? [`… and ${lines.length - maxLines} more`] : [];
    const shown = [...lines.slice(0, maxLines), ...more].join('\n');
    throw this.#failure(random, shown, 'what is stored differs from the model');
  }

  /** An error with the changes that concern what it is about. */
  #failure(random: OracleOperations, about: string, problem: string, cause?: unknown): Error {
    const records = (text: string) =>
      text.match(/\b[a-z]+[A-Za-z]*-\d+\b/g)?.filter((name) => !name.startsWith('request-')) ?? [];
    const concerned = new Set(records(`${about} ${problem}`));
    const lines = this.#done
      .filter(({ line, isChange }) => isChange && records(line).some((name) => concerned.has(name)))
      .map(({ line }) => random.named(line));
    const left = lines.length - maxLines;
    const excerpt = [...(left > 0 ? [`… ${left} earlier changes`] : []), ...lines.slice(-maxLines)];
    return new Error(
      `${problem}:\n${about}\n\nafter ${this.#done.length} operations. Changes of the records that it names:\n${excerpt.join('\n')}`,
      { cause },
    );
  }

  async #found(): Promise<void> {
    const { clock } = this.#world;
    const by = byOf(founder, 'founding', clock.now());
    const people = new Map<string, string>();
    const places = new Map<string, string>();
    for (const [name, { partOf, people: roles }] of Object.entries(beginning)) {
      const values = { name, parentId: partOf === undefined ? null : (places.get(partOf) ?? null) };
      const { id } = await this.#asFounder((data) => data.create(organization, values));
      places.set(name, id);
      this.#model.found(id, values, await this.#managedGroups(id), by);
      for (const [person, role] of Object.entries(roles)) {
        const userId = people.get(person) ?? (await this.#person(person));
        people.set(person, userId);
        const held = await this.#asFounder((data) => data.create(membership, { organizationId: id, userId, role }));
        this.#model.create({ kind: 'membership', id: held.id, organizationId: id, values: { userId, role } }, by);
      }
    }
    for (const [name, id] of [...people, ...places]) this.#names.set(id, name);
    await nameRecords(this.#world, this.#model);
  }

  async #person(displayName: string): Promise<string> {
    const email = `${newId().toLowerCase()}@example.com`;
    return (await this.#asFounder((data) => data.create(user, { email, displayName }))).id;
  }

  /** The ids of what came with an organization; all else about it is up to the model. */
  #managedGroups(organizationId: string): Promise<ManagedGroupIds[]> {
    return asOwner<ManagedGroupIds & Record<string, string>>(
      this.#world,
      `select g.id, g.managed_as as "managedAs", g.name, g.description, s.id as "settingId" from groups g
       join group_settings s on s.group_id = g.id where g.organization_id = $1 order by g.id`,
      [organizationId],
    );
  }

  #asFounder<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
    return transactAs(this.#world.runtime, founder, ({ data }) => work(data), 'founding');
  }
}

const founder = systemCaller('founding');

function byOf(caller: Caller, requestId: string, at: Date): ChangedBy {
  return { actor: actorOf(caller), requestId, at: at.toISOString() };
}
