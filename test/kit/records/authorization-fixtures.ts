import { isInKey } from './bulk-fixtures.ts';
import {
  creatorGrant,
  file,
  fileVerdict,
  group,
  groupMembership,
  groupSetting,
  membership,
  user,
  workflowAssignment,
} from '#entities/index.ts';
import { callerOf, systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { isRequired } from '#entities/kit/model/exposure.ts';
import { creatorRelation, hasObjectRights, operationAbove, passingFields } from '#entities/kit/model/policy.ts';
import { shareRelations } from '#entities/kit/model/derived/share.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Person } from '../people.ts';
import { noSampleValue, sampleValue } from './sample-field-value.ts';
import { uploadFor } from '../files/uploaded-file.ts';
import type { World } from '../world.ts';

type Values = Readonly<Record<string, unknown>>;

/** A record to try rights on, what would change it, and what would create another like it. */
export interface FixtureRecord {
  readonly id: string;
  readonly change: Values;
  readonly creation?: Values;
  /** The record to delete before the creation: the unique keys of the kind leave no room for another. */
  readonly inTheWay?: string;
}

/**
 * Creates records towards which a person is in a situation: `assignee`, `blocked above viewer`, … (rights-files.ts). The values and
 * the referenced records that a record requires follow from the definition of its kind.
 */
export class AuthorizationFixtures {
  readonly #world: World;
  readonly #owner: Person;
  /** Ids of records that others refer to, by kind, situation and person. */
  readonly #targets = new Map<string, string>();

  constructor(world: World, owner: Person) {
    this.#world = world;
    this.#owner = owner;
  }

  /** @param userId the person in the situation; nobody in particular when left out */
  async record(kind: string, situation: string, userId?: string): Promise<FixtureRecord> {
    try {
      return await this.asSystem((data) => this.#record(data, kind, situation, userId ?? this.#owner.user.id));
    } catch (error) {
      // They were rolled back.
      this.#targets.clear();
      throw error;
    }
  }

  /** Values with which the owner creates a record of a kind; there is room for it. */
  async creation(kind: string): Promise<Values> {
    const { creation = {}, inTheWay } = await this.record(kind, 'any');
    if (inTheWay !== undefined) await this.asSystem((data) => this.#remove(data, this.#kind(kind), inTheWay));
    return creation;
  }

  asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
    const caller = systemCaller('test', this.#owner.organization.id);
    return this.#world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
  }

  /** Kinds without a case of their own follow from their definition. */
  async #record(data: DataClient, kind: string, situation: string, userId: string): Promise<FixtureRecord> {
    const unique = newId();
    switch (kind) {
      case 'user':
        return { id: situation === 'themselves' ? userId : this.#owner.user.id, change: { firstName: unique } };
      case 'organization':
        return { id: this.#owner.organization.id, change: { description: unique } };
      case 'membership': {
        // Rights to the membership of an owner are those of owners alone (`givesRole`).
        const of = situation === 'themselves' ? userId : await this.#member(data);
        const held = await data.findOne(membership, { userId: { eq: of } });
        return { id: held?.id ?? newId(), change: { role: 'auditor' } };
      }
      case 'group': {
        if (situation === 'creators') {
          const { id: groupId } = await this.#group(data, 'member', userId);
          await data.create(creatorGrant, { groupId, relation: 'group_creator' });
        }
        const { id } = await this.#group(data, situation, userId);
        return { id, change: { description: unique }, creation: { name: `another ${unique}` } };
      }
      case 'fileVerdict': {
        const words = situation.split(' ');
        const { id: fileId } = await this.#record(
          data,
          'file',
          words[0] === 'above' ? words.slice(1).join(' ') : 'any',
          userId,
        );
        const { content: objectId } = await data.get(file, fileId);
        const verdict = { objectId: objectId ?? '', verdict: 'clean', scanner: 'a scanner' } as const;
        return { id: (await data.create(fileVerdict, verdict)).id, change: {}, creation: verdict };
      }
      case 'savedView': {
        const words = situation.split(' ').filter((word) => word !== 'public');
        const visibility = situation === 'public' ? 'organization' : 'private';
        return this.#plain(data, this.#kind(kind), words, userId, { visibility });
      }
      case 'groupSetting': {
        // Settings of a public group show it to everybody.
        const visibility = situation === 'above public' ? 'public' : 'private';
        const made = await this.#plain(data, this.#kind(kind), situation.split(' '), userId, { visibility });
        return { ...made, change: { joinPolicy: 'open' } };
      }
      case 'workflowInstance': {
        // An assignment grants the relation.
        const words = situation.split(' ').filter((word) => word !== 'asked');
        const made = await this.#plain(data, this.#kind(kind), words, userId);
        if (situation.includes('asked'))
          await data.create(workflowAssignment, { instanceId: made.id, actionKey: 'approve', userId });
        return made;
      }
      default:
        return this.#plain(data, this.#kind(kind), situation.split(' '), userId);
    }
  }

  /**
   * Of a kind about which nothing is special: required values are made up, and a situation consists of relations that the kind
   * grants or is shared by, and of what the caller is towards the record above.
   */
  async #plain(
    data: DataClient,
    module: EntityModule,
    words: readonly string[],
    userId: string,
    given: Values = {},
  ): Promise<FixtureRecord> {
    const position = words.indexOf('above');
    const own = (position < 0 ? words : words.slice(0, position)).filter((word) => word !== 'any');
    const [passing] = passingFields(module.policy);
    const above = async (): Promise<Values> => {
      const target = passing === undefined ? undefined : module.fields[passing]?.target;
      if (position < 0 || passing === undefined || target === undefined) return {};
      return { [passing]: (await this.#record(data, target, words.slice(position + 1).join(' '), userId)).id };
    };
    const required = () => this.#required(data, module, userId);
    const situation: Record<string, unknown> = { ...(await above()), ...given };
    for (const word of own) Object.assign(situation, await this.#grant(data, module, word, userId));
    const levels = passing !== undefined && own.includes('far') ? 2 : 0;
    for (let level = 0; level < levels; level++)
      situation[passing as string] = await this.#made(data, module, await required(), situation);
    const id = await this.#made(data, module, await required(), situation);
    for (const relation of own.filter((word) => isShareRelation(word))) {
      const { id: groupId } = await this.#group(data, 'member', userId);
      await data.create(this.#kind(`${module.kind}Share`), { [`${module.kind}Id`]: id, groupId, relation });
    }
    // Unique keys may allow one record above another; the second one has a record above of its own, in the same situation.
    const creation = await this.#beside(data, module, await this.#required(data, module, userId, true), {
      ...(await above()),
      // The server fills in who creates it.
      ...(own.includes('themselves') && module.fields['userId']?.creator ? { userId } : {}),
    });
    return {
      id,
      change: this.#change(module),
      creation: creation.values,
      ...(creation.taken === undefined ? {} : { inTheWay: creation.taken }),
    };
  }

  /** A field that can be changed, with another value; preferably one that no unique key contains. */
  #change(module: EntityModule): Values {
    const changes = Object.entries(module.fields)
      .filter(([, { immutable, generated, secret }]) => !immutable && !generated && !secret)
      .map(([name, field]) => [name, sampleValue(field, this.#world.clock.now())] as const)
      .filter(([, value]) => value !== undefined);
    const changed = changes.find(([name]) => !isInKey(module, name)) ?? changes[0];
    return Object.fromEntries(changed ? [changed] : []);
  }

  /** The values of a record that give a person a relation to it, or what else gives them a right to it. */
  async #grant(data: DataClient, module: EntityModule, word: string, userId: string): Promise<Values> {
    if (word === 'themselves' && module.tenancy === 'user') return { userId };
    const [own] = (module.policy?.view ?? []).flatMap(({ when }) => (when.is === 'self' ? [when.field] : []));
    if (word === 'themselves' && own !== undefined) return { [own]: userId };
    if (word === 'far' || (module.share && isShareRelation(word))) return {};
    if (word === 'creators') {
      const { id: groupId } = await this.#group(data, 'member', userId);
      await data.create(creatorGrant, { groupId, relation: creatorRelation(module.kind) });
      return {};
    }
    const held = module.grants?.find(({ relation, subject }) => relation === word && subject.kind === 'user');
    if (!held) throw byHand(module, `the situation "${word}" follows from no grant of the kind`);
    return { [held.subject.id]: userId };
  }

  get #ownerAsCaller(): Caller {
    const { user: own, organization } = this.#owner;
    return callerOf({ kind: 'user', subjectId: own.id, organizationId: organization.id });
  }

  #kind(kind: string): EntityModule {
    return this.#world.runtime.database.options.registry.byKind(kind);
  }

  /**
   * Values for what a creation cannot leave out; other records are made for it.
   * @param isByCaller the person creates the record: the server fills in who did, and they must have a right to what it refers to
   */
  async #required(data: DataClient, module: EntityModule, userId: string, isByCaller = false): Promise<Values> {
    const input: Record<string, unknown> = module.tenancy === 'user' ? { userId: this.#owner.user.id } : {};
    // Nobody in particular has a right to what passes its rights on.
    const passing = isByCaller ? passingAtCreation(module) : passingFields(module.policy);
    for (const [name, field] of Object.entries(module.fields)) {
      // A text that identifies a record always gets its own value, because only one record can have the default.
      const isLeftOut = isByCaller ? !isRequired(field) : field.default !== undefined;
      const tellsApart = field.type === 'text' && field.default !== undefined && isInKey(module, name);
      if (field.optional || field.generated || (isLeftOut && !tellsApart)) continue;
      if (field.isFilled) continue;
      if (field.type === 'file') {
        input[name] = await uploadFor(this.#world, isByCaller ? this.#ownerAsCaller : data.caller, field);
        continue;
      }
      input[name] =
        isByCaller && field.target === 'user' && isInKey(module, name)
          ? await this.#member(data)
          : await this.#value(data, module, name, passing.includes(name) ? undefined : userId);
      if (input[name] === undefined) throw noSampleValue(module.kind, name);
    }
    return input;
  }

  /**
   * A value of a field. References are to a new record where they are part of a unique key, else all to the same.
   * @param userId who has to have a right to the record that is referred to; nobody in particular when left out
   */
  async #value(data: DataClient, module: EntityModule, name: string, userId: string | undefined): Promise<unknown> {
    const field = module.fields[name] as Field;
    const { target, requires = 'view', values } = field;
    const { restricted } = module;
    // Expected rights are those of records that need no further right.
    if (name === restricted?.field) return values?.find((value) => value !== restricted.is);
    if (target === undefined) return sampleValue(field, this.#world.clock.now());
    const situation = userId === undefined ? 'any' : this.#situationWith(requires, target);
    const key = `${target} ${situation} ${userId}`;
    const known = isInKey(module, name) ? undefined : this.#targets.get(key);
    if (known !== undefined) return known;
    const { id } = await this.#record(data, target, situation, userId ?? this.#owner.user.id);
    if (!isInKey(module, name)) this.#targets.set(key, id);
    return id;
  }

  /** A situation that gives people a right to a record: a grant of its kind, a share, or a right to the record above. */
  #situationWith(right: 'view' | 'edit', kind: string): string {
    if (kind === 'group') return right === 'view' ? 'public' : 'admin';
    const { policy, grants = [], share, fields } = this.#kind(kind);
    if (!hasObjectRights(policy)) return 'any';
    const allowing = (policy?.[right] ?? []).filter(({ effect }) => effect === 'allow').map(({ when }) => when);
    const relations = allowing.flatMap((when) => (when.is === 'related' ? when.relations : []));
    const held = relations.find((name) =>
      grants.some(
        ({ object, relation, subject }) => object.id === 'id' && relation === name && subject.kind === 'user',
      ),
    );
    if (held !== undefined) return held;
    if (share) return right === 'view' ? 'viewer' : 'editor';
    const above = allowing.flatMap((when) => (when.is === 'through' ? (fields[when.field]?.target ?? []) : []))[0];
    return above === undefined ? 'any' : `above ${this.#situationWith(operationAbove(right), above)}`;
  }

  /** A record with the values of a situation. Where unique keys leave no room, it takes the place of the one that is there. */
  async #made(data: DataClient, module: EntityModule, required: Values, situation: Values): Promise<string> {
    const { values, taken } = await this.#beside(data, module, required, situation);
    // One towards which nobody can be in a situation is as good as a new one.
    if (taken !== undefined && !hasObjectRights(module.policy)) return taken;
    try {
      for (let id = taken; id !== undefined; id = (await this.#taken(data, module, values))?.id)
        await this.#remove(data, module, id);
      return (await data.create(module, values)).id;
    } catch (error) {
      if (!isAppError(error) || !['invalid_input', 'already_exists', 'not_found'].includes(error.code)) throw error;
      throw byHand(module, `a record made of its definition is refused (${error.message})`);
    }
  }

  async #remove(data: DataClient, module: EntityModule, id: string): Promise<void> {
    await data.remove(module, id);
    // It may be one of them, or delete one of them with it.
    this.#targets.clear();
  }

  /**
   * Values of a record that differs from those there are in the unique keys of its kind.
   * @param fixed values that stay as they are
   * @returns with the id of the record that has the same key, if each change of a choice or a person was in vain
   */
  async #beside(
    data: DataClient,
    module: EntityModule,
    required: Values,
    fixed: Values,
  ): Promise<{ readonly values: Values; readonly taken?: string }> {
    const values = { ...required, ...fixed };
    const taken = await this.#taken(data, module, values);
    if (!taken) return { values };
    for (const name of taken.fields.filter((each) => !Object.hasOwn(fixed, each))) {
      const field = module.fields[name];
      const choices = (field?.values ?? []).filter((value) => value !== module.restricted?.is);
      for (const value of field?.target === 'user' ? [await this.#member(data)] : choices) {
        const other = { ...values, [name]: value };
        if (!(await this.#taken(data, module, other))) return { values: other };
      }
    }
    return { values, taken: taken.id };
  }

  /** The record that has the values of a unique key, and the fields of the key. */
  async #taken(
    data: DataClient,
    module: EntityModule,
    values: Values,
  ): Promise<{ readonly id: string; readonly fields: readonly string[] } | undefined> {
    for (const { fields } of module.unique ?? []) {
      const known: Values = { organizationId: this.#owner.organization.id, ...values };
      const key = fields.map((name): [string, unknown] => [name, known[name] ?? module.fields[name]?.default]);
      if (key.some(([, value]) => value === undefined || value === null)) continue;
      const where = Object.fromEntries(key.map(([name, value]) => [name, { eq: value }]));
      const found = await data.findOne(module, where);
      if (found) return { id: found.id, fields };
    }
    return undefined;
  }

  /** Another member of the organization. */
  async #member(data: DataClient): Promise<string> {
    const email = `${newId().toLowerCase()}@example.com`;
    const { id } = await data.create(user, { email, displayName: 'Another member' });
    await data.create(membership, { userId: id });
    return id;
  }

  async #group(data: DataClient, situation: string, userId: string): Promise<{ id: string }> {
    const managerId = situation === 'manager' ? userId : null;
    const made = await data.create(group, { name: `group ${newId()}`, managerId });
    if (situation === 'public') await data.create(groupSetting, { groupId: made.id, visibility: 'public' });
    if (situation === 'member') await data.create(groupMembership, { groupId: made.id, userId });
    if (situation === 'admin') await data.create(groupMembership, { groupId: made.id, userId, role: 'admin' });
    return made;
  }
}

/** References by which the right to create a record follows from another record. */
export function passingAtCreation({ policy }: EntityModule): readonly string[] {
  return (policy?.create ?? []).flatMap(({ when }) => (when.is === 'through' ? [when.field] : []));
}

function isShareRelation(word: string): boolean {
  return shareRelations.some((relation) => relation === word);
}

function byHand({ kind }: EntityModule, why: string): Error {
  return new Error(`Add a case for "${kind}" to #record in test/kit/records/authorization-fixtures.ts: ${why}.`);
}
