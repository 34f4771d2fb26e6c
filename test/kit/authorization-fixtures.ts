import {
  creatorGrant,
  emailVerification,
  group,
  groupMembership,
  groupSetting,
  membership,
  organizationModule,
  organizationSetting,
} from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { creatorRelation, passingFields } from '#entities/kit/model/policy.ts';
import { shareRelations } from '#entities/kit/model/share.ts';
import type { Field } from '#entities/kit/model/fields.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Person } from './people.ts';
import { sampleValue } from './sample-field-value.ts';
import type { World } from './world.ts';

/** A record to try rights on, what would change it, and what would create another like it. */
export interface FixtureRecord {
  readonly id: string;
  readonly change: Readonly<Record<string, unknown>>;
  readonly creation?: Readonly<Record<string, unknown>>;
}

/** Creates records towards which a person is in a situation: `assignee`, `blocked above viewer`, … (rights-files.ts). */
export class AuthorizationFixtures {
  readonly #world: World;
  readonly #owner: Person;

  constructor(world: World, owner: Person) {
    this.#world = world;
    this.#owner = owner;
  }

  /** @param userId the person in the situation; nobody in particular when left out */
  record(kind: string, situation: string, userId?: string): Promise<FixtureRecord> {
    return this.asSystem((data) => this.#record(data, kind, situation, userId ?? this.#owner.user.id));
  }

  asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
    const caller = systemCaller('test', this.#owner.organization.id);
    return this.#world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
  }

  async #record(data: DataClient, kind: string, situation: string, userId: string): Promise<FixtureRecord> {
    const organizationId = this.#owner.organization.id;
    const unique = newId();
    switch (kind) {
      case 'user':
        return { id: situation === 'themselves' ? userId : this.#owner.user.id, change: { firstName: unique } };
      case 'organization':
        return { id: organizationId, change: { description: unique } };
      case 'organizationModule': {
        const made =
          (await data.findOne(organizationModule, { module: { eq: 'registry' } })) ??
          (await data.create(organizationModule, { module: 'registry' }));
        return { id: made.id, change: {}, creation: { module: 'compliance' } };
      }
      case 'organizationSetting': {
        const made =
          (await data.findOne(organizationSetting, { organizationId: { eq: organizationId } })) ??
          (await data.create(organizationSetting, {}));
        return { id: made.id, change: { timezone: unique } };
      }
      case 'membership': {
        const of = situation === 'themselves' ? userId : this.#owner.user.id;
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
      case 'groupSetting': {
        // Settings of a public group would show it to everybody.
        const made = await this.#plain(data, this.#kind(kind), situation.split(' '), userId, { visibility: 'private' });
        return { ...made, change: { joinPolicy: 'open' } };
      }
      case 'creatorGrant': {
        const { id: groupId } = await this.#group(data, 'public', userId);
        const { id } = await data.create(creatorGrant, { groupId, relation: 'task_creator' });
        return { id, change: {}, creation: { groupId, relation: 'file_creator' } };
      }
      case 'emailVerification': {
        const request = { email: 'a@example.com', expiresAt: this.#world.clock.now() };
        const { id } = await data.create(emailVerification, request);
        return { id, change: { usedAt: this.#world.clock.now() }, creation: request };
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
    given: Readonly<Record<string, unknown>> = {},
  ): Promise<FixtureRecord> {
    const position = words.indexOf('above');
    const own = (position < 0 ? words : words.slice(0, position)).filter((word) => word !== 'any');
    const [passing] = passingFields(module.policy);
    const above = async (): Promise<Record<string, unknown>> => {
      const target = passing === undefined ? undefined : module.fields[passing]?.target;
      if (position < 0 || passing === undefined || target === undefined) return {};
      return { [passing]: (await this.#record(data, target, words.slice(position + 1).join(' '), userId)).id };
    };
    const input = { ...(await this.#required(data, module)), ...(await above()), ...given };
    for (const word of own) Object.assign(input, await this.#grant(data, module, word, userId));
    const levels = passing !== undefined && own.includes('far') ? 2 : 0;
    for (let level = 0; level < levels; level++) input[passing as string] = (await data.create(module, input)).id;
    const { id } = await data.create(module, input);
    for (const relation of own.filter((word) => isShareRelation(word))) {
      const { id: groupId } = await this.#group(data, 'member', userId);
      await data.create(this.#kind(`${module.kind}Share`), { [`${module.kind}Id`]: id, groupId, relation });
    }
    const changed = Object.entries(module.fields)
      .filter(([, { immutable, generated }]) => !immutable && !generated)
      .map(([name, field]) => [name, sampleValue(field, this.#world.clock.now())] as const)
      .find(([, value]) => value !== undefined);
    // Unique keys may allow one record above another; the second one has a record above of its own, in the same situation.
    const creation = { ...(await this.#required(data, module)), ...(await above()) };
    return { id, change: Object.fromEntries(changed ? [changed] : []), creation };
  }

  /** The values of a record that give a person a relation to it, or what else gives them a right to it. */
  async #grant(data: DataClient, module: EntityModule, word: string, userId: string): Promise<Record<string, unknown>> {
    if (word === 'far' || (module.share && isShareRelation(word))) return {};
    if (word === 'creators') {
      const { id: groupId } = await this.#group(data, 'member', userId);
      await data.create(creatorGrant, { groupId, relation: creatorRelation(module.kind) });
      return {};
    }
    const held = module.grants?.find(({ relation, subject }) => relation === word && subject.kind === 'user');
    if (!held) throw byHand(`a ${module.kind} is made towards which somebody is "${word}"`);
    return { [held.subject.id]: userId };
  }

  #kind(kind: string): EntityModule {
    return this.#world.runtime.database.options.registry.byKind(kind);
  }

  /** Values for what a creation cannot leave out; other records are made for it. */
  async #required(data: DataClient, module: EntityModule): Promise<Record<string, unknown>> {
    const input: Record<string, unknown> = module.tenancy === 'user' ? { userId: this.#owner.user.id } : {};
    for (const [name, field] of Object.entries(module.fields)) {
      if (field.optional || field.generated || field.default !== undefined) continue;
      const { restricted } = module;
      // Expected rights are those of records that need no further right.
      input[name] =
        name === restricted?.field
          ? field.values?.find((value) => value !== restricted.is)
          : await this.#value(data, field, passingFields(module.policy).includes(name));
      if (input[name] === undefined) throw byHand(`"${name}" of a ${module.kind} is filled`);
    }
    return input;
  }

  async #value(data: DataClient, field: Field, passesRights: boolean): Promise<unknown> {
    if (field.target === 'user') return this.#owner.user.id;
    // Whoever refers to a record has to see it; what passes rights on is seen by nobody in particular.
    const situation = field.target === 'group' && !passesRights ? 'public' : 'any';
    if (field.target) return (await this.#record(data, field.target, situation, this.#owner.user.id)).id;
    return sampleValue(field, this.#world.clock.now());
  }

  async #group(data: DataClient, situation: string, userId: string): Promise<{ id: string }> {
    const made = await data.create(group, { name: `group ${newId()}` });
    if (situation === 'public') await data.create(groupSetting, { groupId: made.id, visibility: 'public' });
    if (situation === 'member') await data.create(groupMembership, { groupId: made.id, userId });
    if (situation === 'admin') await data.create(groupMembership, { groupId: made.id, userId, role: 'admin' });
    return made;
  }
}

function isShareRelation(word: string): boolean {
  return shareRelations.some((relation) => relation === word);
}

function byHand(what: string): Error {
  return new Error(`say in test/kit/authorization-fixtures.ts how ${what}`);
}
