import { followsOf } from '#entities/kit/write/change-behaviour.ts';
import { backfillRun, membership, organizationRemoval, registry } from '#entities/index.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../as-owner.ts';
import { transactAs } from '../as-person.ts';
import { AuthorizationFixtures } from './authorization-fixtures.ts';
import { buildPart, buildPerson, type Person } from '../people.ts';
import type { Random } from '../random.ts';
import { sampleValue } from './sample-field-value.ts';
import type { World } from '../world.ts';

type Values = Readonly<Record<string, unknown>>;
type Sort = 'create' | 'update' | 'update twice' | 'update many' | 'remove' | 'remove many';

/** Concurrent changes of a round. */
const maxConcurrent = 4;
/** Records of a change of many. */
const maxTogether = 5;

const sorts: readonly Sort[] = ['update', 'update', 'update', 'update twice', 'update many', 'remove', 'remove many'];

/** All kinds but those whose records say how far work of the server is. */
const changed = registry.modules.filter(({ kind }) => ![organizationRemoval.kind, backfillRun.kind].includes(kind));

/** Creates, changes and deletes records of all kinds as the server, which every rule lets. */
export class RandomWorkload {
  readonly #world: World;
  readonly #random: Random;
  readonly #owner: Person;
  /** Without these there is nobody for whom records are made. */
  readonly #kept: readonly string[];
  /** Kinds that are created next: each before one comes again. */
  #deck: EntityModule[] = [];
  /** Changes that were made, by kind and sort. */
  readonly made = new Map<string, number>();

  private constructor(world: World, random: Random, owner: Person, kept: readonly string[]) {
    this.#world = world;
    this.#random = random;
    this.#owner = owner;
    this.#kept = kept;
  }

  static async begin(world: World, random: Random): Promise<RandomWorkload> {
    const owner = await buildPerson(world);
    const held = await asOwner<{ id: string }>(world, `select id from ${membership.table} where user_id = $1`, [
      owner.user.id,
    ]);
    return new RandomWorkload(world, random, owner, [
      owner.user.id,
      owner.organization.id,
      ...held.map(({ id }) => id),
    ]);
  }

  /** One creation, and then some changes and deletions at the same time. */
  async round(): Promise<void> {
    await this.#create();
    const changes = Array.from({ length: 1 + this.#random.below(maxConcurrent) }, () => this.#change());
    for (const settled of await Promise.allSettled(changes)) if (settled.status === 'rejected') throw settled.reason;
  }

  async #create(): Promise<void> {
    if (this.#deck.length === 0) this.#deck = this.#random.shuffled(registry.modules);
    const { kind } = this.#deck.pop() as EntityModule;
    if (kind === 'organization') await buildPart(this.#world, this.#random.pick([null, this.#owner.organization.id]));
    // New fixtures each time: those made before may refer to what is deleted by now, which nobody checks for the server.
    else await new AuthorizationFixtures(this.#world, this.#owner).record(kind, 'any');
    this.#count(kind, 'create');
  }

  async #change(): Promise<void> {
    const module = this.#random.pick(changed);
    const sort = this.#random.pick(sorts);
    const [values, others] = [this.#values(module), this.#values(module)];
    const isRemoval = sort === 'remove' || sort === 'remove many';
    // Not all kinds have fields that can change.
    if (!isRemoval && (Object.keys(values).length === 0 || Object.keys(others).length === 0)) return;
    // Records that follow other records are changed with them.
    const following = followsOf(module);
    const followed = following ? `and not (${following.which})` : '';
    const place = this.#random.next();
    const rows = await asOwner<{ id: string }>(
      this.#world,
      `select id from ${module.table} as row where deleted_at is null and id <> all($1) ${followed} order by id`,
      [this.#kept],
    );
    const first = Math.floor(place * rows.length);
    const ids = rows.slice(first, first + maxTogether).map(({ id }) => id);
    const [id] = ids;
    if (id === undefined) return;
    const work = async (data: DataClient): Promise<void> => {
      switch (sort) {
        case 'update many':
          await data.updateAll(module, ids, values);
          break;
        case 'remove':
          return data.remove(module, id);
        case 'remove many':
          await data.removeAll(module, ids);
          break;
        case 'create':
          throw new Error('creations have a turn of their own');
        case 'update':
        case 'update twice':
        default:
          await data.update(module as never, id, values as never);
          if (sort === 'update twice') await data.update(module as never, id, others as never);
      }
    };
    try {
      await transactAs(this.#world.runtime, systemCaller('workload'), ({ data }) => work(data), `workload-${newId()}`);
      this.#count(module.kind, sort);
    } catch (error) {
      // Some values do not go together, and some records are kept. Then nothing has changed.
      if (!isAppError(error)) throw error;
    }
  }

  #count(kind: string, sort: Sort): void {
    const key = `${kind} ${sort}`;
    this.made.set(key, (this.made.get(key) ?? 0) + 1);
  }

  /** New values for one or two fields that can change. */
  #values({ fields }: EntityModule): Values {
    const changeable = Object.entries(fields).filter(
      ([, { immutable, generated, secret, type, target, optional }]) =>
        !immutable &&
        !generated &&
        !secret &&
        type !== 'file' &&
        (target === undefined || target === 'user' || optional),
    );
    const chosen = this.#random.shuffled(changeable).slice(0, 1 + this.#random.below(2));
    const values = chosen.map(([name, field]): [string, unknown] => [name, this.#value(field)]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  #value(field: Field): unknown {
    const { type, target, optional, values } = field;
    if (optional && (this.#random.chance(0.3) || (type === 'reference' && target !== 'user'))) return null;
    if (target === 'user') return this.#owner.user.id;
    if (type === 'choice') return this.#random.pick(values ?? []);
    if (type === 'boolean') return this.#random.chance(0.5);
    return sampleValue(field, this.#world.clock.now());
  }
}
