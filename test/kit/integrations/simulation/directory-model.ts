import type { Random } from '../../random.ts';

export interface ModelPerson {
  readonly id: string;
  email: string;
  name: string;
  isActive: boolean;
}

export interface ModelGroup {
  readonly id: string;
  name: string;
  /** Ids of people. */
  readonly members: Set<string>;
}

/** One change of a directory, for providers that push them. */
export type DirectoryChange =
  | { readonly sort: 'person added' | 'person changed'; readonly person: ModelPerson }
  | { readonly sort: 'group added' | 'group changed'; readonly group: ModelGroup }
  | { readonly sort: 'person removed' | 'group removed'; readonly id: string }
  | { readonly sort: 'joined' | 'left'; readonly groupId: string; readonly personId: string };

/** Changes that move later records to earlier pages. They happen between two passes, because pages of fakes are counted. */
const moving: ReadonlySet<string> = new Set(['remove', 'removeMany', 'removeGroup', 'leave']);

/** The truth at a provider: people, groups, and what was ever removed there. No id is given twice. */
export class DirectoryModel {
  readonly people = new Map<string, ModelPerson>();
  readonly groups = new Map<string, ModelGroup>();
  readonly removedPeople = new Set<string>();
  readonly removedGroups = new Set<string>();
  /** Pairs as `<person> <group>` that ended at some time. */
  readonly endedPairs = new Set<string>();
  readonly #random: Random;
  readonly #idOf: (number: number, sort: 'person' | 'group') => string;
  #count = 0;

  constructor(random: Random, idOf: (number: number, sort: 'person' | 'group') => string) {
    this.#random = random;
    this.#idOf = idOf;
  }

  addPerson(): DirectoryChange {
    const id = this.#idOf(++this.#count, 'person');
    const person = { id, email: `P.${id}@Example.com`, name: `Person ${id}`, isActive: true };
    this.people.set(id, person);
    return { sort: 'person added', person };
  }

  addGroup(): DirectoryChange {
    const id = this.#idOf(++this.#count, 'group');
    const members = new Set([...this.people.keys()].filter(() => this.#random.chance(0.4)));
    const group = { id, name: `Group ${id}`, members };
    this.groups.set(id, group);
    return { sort: 'group added', group };
  }

  /** Removes somebody. */
  removePerson(): void {
    const person = this.#any(this.people);
    if (person) this.#remove(person);
  }

  /** Changes something at random. @param isAtRest no pass is reading the directory */
  change(isAtRest: boolean): DirectoryChange[] {
    const sort = this.#random.pick([
      ...(['add', 'add', 'add', 'rename', 'rename', 'deactivate', 'remove', 'remove', 'removeMany'] as const),
      ...(['addGroup', 'renameGroup', 'removeGroup', 'join', 'join', 'leave', 'leave'] as const),
    ]);
    if (moving.has(sort) && !isAtRest) return [];
    const person = this.#any(this.people);
    const group = this.#any(this.groups);
    switch (sort) {
      case 'add':
        return [this.addPerson()];
      case 'addGroup':
        return [this.addGroup()];
      case 'rename':
        return this.#changePerson(person, (held) => ({ name: `Person ${held.id} ${++this.#count}` }));
      case 'deactivate':
        return this.#changePerson(person, ({ isActive }) => ({ isActive: !isActive }));
      case 'remove':
        return person ? [this.#remove(person)] : [];
      case 'removeMany':
        // More than half at once, which a person has to confirm.
        if (!this.#random.chance(0.2)) return [];
        return [...this.people.values()].filter(() => this.#random.chance(0.7)).map((one) => this.#remove(one));
      case 'renameGroup':
        if (!group) return [];
        group.name = `Group ${group.id} ${++this.#count}`;
        return [{ sort: 'group changed', group }];
      case 'removeGroup':
        return group && this.groups.size > 1 ? [this.#removeGroup(group)] : [];
      case 'join':
        return this.#join(person, group);
      case 'leave':
        return this.#leave(group);
      default:
        sort satisfies never;
        throw new TypeError('unknown change');
    }
  }

  #changePerson(
    person: ModelPerson | undefined,
    change: (person: ModelPerson) => Partial<Pick<ModelPerson, 'name' | 'isActive'>>,
  ): DirectoryChange[] {
    return person ? [{ sort: 'person changed', person: Object.assign(person, change(person)) }] : [];
  }

  #remove({ id }: ModelPerson): DirectoryChange {
    this.people.delete(id);
    this.removedPeople.add(id);
    for (const group of this.groups.values()) if (group.members.delete(id)) this.endedPairs.add(`${id} ${group.id}`);
    return { sort: 'person removed', id };
  }

  #removeGroup({ id, members }: ModelGroup): DirectoryChange {
    this.groups.delete(id);
    this.removedGroups.add(id);
    for (const member of members) this.endedPairs.add(`${member} ${id}`);
    return { sort: 'group removed', id };
  }

  #join(person: ModelPerson | undefined, group: ModelGroup | undefined): DirectoryChange[] {
    if (!person || !group || group.members.has(person.id)) return [];
    group.members.add(person.id);
    return [{ sort: 'joined', groupId: group.id, personId: person.id }];
  }

  #leave(group: ModelGroup | undefined): DirectoryChange[] {
    const [personId] = this.#random.shuffled([...(group?.members ?? [])]);
    if (!group || personId === undefined) return [];
    group.members.delete(personId);
    this.endedPairs.add(`${personId} ${group.id}`);
    return [{ sort: 'left', groupId: group.id, personId }];
  }

  #any<T>(held: ReadonlyMap<string, T>): T | undefined {
    return held.size > 0 ? this.#random.pick([...held.values()]) : undefined;
  }
}
