import {
  creatorGrant,
  emailVerification,
  file,
  group,
  groupMembership,
  groupSetting,
  membership,
  note,
  organizationModule,
  organizationSetting,
  task,
} from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
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

/** Makes records towards which a person is in a situation: `assignee`, `blocked above viewer`, … (expected-rights.yaml). */
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
        const { id: groupId } = await this.#group(data, situation, userId);
        const { id } = await data.create(groupSetting, { groupId, visibility: 'private' });
        const { id: another } = await this.#group(data, situation, userId);
        return { id, change: { joinPolicy: 'open' }, creation: { groupId: another } };
      }
      case 'groupMembership': {
        const { id: groupId } = await this.#group(data, situation, userId);
        const person = await data.findOne(groupMembership, { groupId: { eq: groupId }, userId: { eq: userId } });
        const { id } =
          situation === 'themselves' && person
            ? person
            : await data.create(groupMembership, { groupId, userId: this.#owner.user.id });
        const { id: another } = await this.#group(data, situation, userId);
        return { id, change: { role: 'admin' }, creation: { groupId: another, userId: this.#owner.user.id } };
      }
      case 'task': {
        const id = await this.#task(data, situation.split(' '), userId);
        return { id, change: { title: unique }, creation: { title: unique } };
      }
      case 'note': {
        const words = situation.split(' ');
        const taskId = words[0] === 'above' ? await this.#task(data, words.slice(1), userId) : null;
        const ownerId = situation === 'themselves' ? userId : this.#owner.user.id;
        const { id } = await data.create(note, { text: unique, ownerId, taskId });
        return { id, change: { text: 'changed' }, creation: { text: 'another' } };
      }
      case 'file': {
        const id = await this.#file(data, situation.split(' '), userId);
        return { id, change: { name: unique }, creation: { name: unique } };
      }
      case 'taskShare':
      case 'fileShare': {
        const words = situation.replace(/^above /, '').split(' ');
        const isTask = kind === 'taskShare';
        const of = isTask
          ? await this.#task(data, words, userId)
          : await this.#file(data, situation.split(' '), userId);
        const { id: groupId } = await this.#group(data, 'public', userId);
        const field = isTask ? 'taskId' : 'fileId';
        const share = this.#world.runtime.database.options.registry.byKind(kind);
        const { id } = await data.create(share, { [field]: of, groupId, relation: 'viewer' });
        return { id, change: {}, creation: { [field]: of, groupId, relation: 'editor' } };
      }
      case 'creatorGrant': {
        const { id: groupId } = await this.#group(data, 'public', userId);
        const { id } = await data.create(creatorGrant, { groupId, relation: 'task_creator' });
        return { id, change: {}, creation: { groupId, relation: 'file_creator' } };
      }
      case 'emailVerification': {
        const at = this.#world.clock.now();
        const person = this.#owner.user.id;
        const held = await data.findOne(emailVerification, { userId: { eq: person } });
        const { id } =
          held ??
          (await data.create(emailVerification, { userId: person, email: 'a@example.com', sentAt: at, expiresAt: at }));
        return { id, change: { round: 2 }, creation: { email: 'a@example.com', sentAt: at, expiresAt: at } };
      }
      default:
        return this.#plain(data, this.#world.runtime.database.options.registry.byKind(kind), situation, userId);
    }
  }

  /** Of a kind about which nothing is special: what is required is made up, and situations are the relations that people are given. */
  async #plain(data: DataClient, module: EntityModule, situation: string, userId: string): Promise<FixtureRecord> {
    const held = module.grants?.find(({ relation, subject }) => relation === situation && subject.kind === 'user');
    if (situation !== 'any' && !held) throw byHand(`a ${module.kind} is made towards which somebody is "${situation}"`);
    const person = held ? { [held.subject.id]: userId } : {};
    const { id } = await data.create(module, { ...(await this.#required(data, module)), ...person });
    const changed = Object.entries(module.fields)
      .filter(([, { immutable, generated }]) => !immutable && !generated)
      .map(([name, field]) => [name, sampleValue(field, this.#world.clock.now())] as const)
      .find(([, value]) => value !== undefined);
    return { id, change: Object.fromEntries(changed ? [changed] : []), creation: await this.#required(data, module) };
  }

  /** Values for what a creation cannot leave out; other records are made for it. */
  async #required(data: DataClient, module: EntityModule): Promise<Record<string, unknown>> {
    const input: Record<string, unknown> = module.tenancy === 'user' ? { userId: this.#owner.user.id } : {};
    for (const [name, field] of Object.entries(module.fields)) {
      if (field.optional || field.generated || field.default !== undefined) continue;
      input[name] = await this.#value(data, field);
      if (input[name] === undefined) throw byHand(`"${name}" of a ${module.kind} is filled`);
    }
    return input;
  }

  async #value(data: DataClient, field: Field): Promise<unknown> {
    if (field.target === 'user') return this.#owner.user.id;
    if (field.target) return (await this.#record(data, field.target, 'any', this.#owner.user.id)).id;
    return sampleValue(field, this.#world.clock.now());
  }

  async #group(data: DataClient, situation: string, userId: string): Promise<{ id: string }> {
    const made = await data.create(group, { name: `group ${newId()}` });
    if (situation === 'public') await data.create(groupSetting, { groupId: made.id, visibility: 'public' });
    if (['member', 'themselves'].includes(situation)) await data.create(groupMembership, { groupId: made.id, userId });
    if (situation === 'admin') await data.create(groupMembership, { groupId: made.id, userId, role: 'admin' });
    return made;
  }

  /** `far above X`: three levels down from a task towards which the person is X. */
  async #task(data: DataClient, words: readonly string[], userId: string): Promise<string> {
    const place = words.indexOf('above');
    const own = place < 0 ? words : words.slice(0, place);
    let parentId = place < 0 ? null : await this.#task(data, words.slice(place + 1), userId);
    const titled = { title: 'task', assignerId: own.includes('assigner') ? userId : this.#owner.user.id };
    if (own.includes('far'))
      for (let level = 0; level < 2; level++) parentId = (await data.create(task, { ...titled, parentId })).id;
    const { id } = await data.create(task, {
      ...titled,
      parentId,
      ...(own.includes('assignee') ? { assigneeId: userId } : {}),
    });
    await this.#share(data, 'task', id, own, userId);
    return id;
  }

  async #file(data: DataClient, words: readonly string[], userId: string): Promise<string> {
    const isBelow = words[0] === 'above';
    const taskId = isBelow ? await this.#task(data, words.slice(1), userId) : null;
    const ownerId = words.includes('themselves') ? userId : this.#owner.user.id;
    const { id } = await data.create(file, { name: 'file', ownerId, taskId });
    if (!isBelow) await this.#share(data, 'file', id, words, userId);
    return id;
  }

  async #share(data: DataClient, kind: string, id: string, words: readonly string[], userId: string): Promise<void> {
    for (const relation of ['viewer', 'editor', 'blocked']) {
      if (!words.includes(relation)) continue;
      const { id: groupId } = await this.#group(data, 'member', userId);
      const share = this.#world.runtime.database.options.registry.byKind(`${kind}Share`);
      await data.create(share, { [`${kind}Id`]: id, groupId, relation });
    }
  }
}

function byHand(what: string): Error {
  return new Error(`say in test/kit/authorization-fixtures.ts how ${what}`);
}
