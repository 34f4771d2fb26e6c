import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { creationOf, printed, withBelow, type Created } from './oracle-creations.ts';
import { OracleInputs, sharedNames, taskStatuses } from './oracle-inputs.ts';
import {
  differing,
  oracleRoles,
  type ChangedBy,
  type NewOracleRecord,
  type OracleKind,
  type OracleRecord,
  type OracleValues,
} from './oracle-model.ts';
import { ofMany } from './oracle-many.ts';
import type { OracleOperation, OracleWorld } from './oracle-operation.ts';
import { listOf, readingOf } from './oracle-readings.ts';
import type { Acting } from './oracle-rights.ts';

/** How often records of which kinds are created, changed, … */
const created = weighted({
  task: 5,
  taskShare: 4,
  groupMembership: 3,
  note: 3,
  group: 2,
  tag: 2,
  groupSetting: 1,
  creatorGrant: 1,
  membership: 1,
});
const updated = weighted({
  task: 6,
  note: 2,
  membership: 2,
  group: 1,
  groupSetting: 1,
  groupMembership: 1,
  tag: 1,
  organization: 1,
});
const removed = weighted({
  taskShare: 4,
  task: 2,
  note: 2,
  group: 2,
  groupMembership: 2,
  membership: 2,
  tag: 2,
  creatorGrant: 2,
  groupSetting: 1,
});
const changedTogether = weighted({ task: 2, note: 1, group: 1, tag: 1 });
const removedTogether = weighted({ task: 1, note: 1, taskShare: 1, groupMembership: 1, tag: 1 });
const read = weighted({
  task: 2,
  note: 1,
  group: 1,
  groupSetting: 1,
  groupMembership: 1,
  taskShare: 1,
  membership: 1,
  tag: 1,
});

/** Random operations of many people, of which the model knows what has to come of them. */
export class OracleOperations {
  readonly #world: OracleWorld;
  /** Names of people and records, by id. */
  readonly #names = new Map<string, string>();
  readonly #inputs: OracleInputs;
  /** How often there was an outcome. */
  readonly #seen = new Map<string, number>();

  constructor(world: OracleWorld, given: ReadonlyMap<string, string>) {
    this.#world = world;
    this.#inputs = new OracleInputs(world);
    for (const [id, name] of given) this.#names.set(id, name);
  }

  /** An operation: often of a sort or with an outcome that there was least of; of the others, most are refused, so those that are not are preferred. */
  next(): OracleOperation {
    const { random } = this.#world;
    const candidates = Array.from({ length: 8 }, () => this.#any());
    const rarest = candidates.toSorted((a, b) => this.#seenOf(a) - this.#seenOf(b))[0];
    const allowed = candidates.find(({ problems }) => problems.length === 0);
    const chosen = (random.chance(0.4) ? rarest : random.chance(0.8) ? allowed : undefined) ?? this.#any();
    this.#seen.set(outcomeOf(chosen), this.#seenOf(chosen) + 1);
    return chosen;
  }

  #seenOf(operation: OracleOperation): number {
    return this.#seen.get(outcomeOf(operation)) ?? 0;
  }

  /** A text with names in the place of ids. */
  named(text: string): string {
    return text.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, (id) => this.#names.get(id) ?? this.#nameOf(id));
  }

  #nameOf(id: string): string {
    const record = this.#world.model.known(id);
    if (!record) return id;
    const name = `${record.kind}-${this.#names.size}`;
    this.#names.set(id, name);
    return name;
  }

  #any(): OracleOperation {
    const { random, model, organizations } = this.#world;
    const archived = organizations.find((id) => model.find(id)?.values['isArchived'] === true);
    if (archived !== undefined && random.chance(0.02)) return this.#unarchiving(archived);
    const acting = this.#somebody();
    const sort = random.below(100);
    if (sort < 30) return this.#creation(acting);
    if (sort < 36) return this.#admission();
    if (sort < 60) return this.#update(acting, random.pick(updated));
    if (sort < 65) return this.#updateOfMany(acting, random.pick(changedTogether));
    if (sort < 77) return this.#removal(acting, random.pick(removed));
    if (sort < 80) return this.#removalOfMany(acting, random.pick(removedTogether));
    if (sort < 92) return this.#reading(acting, random.pick(read));
    return this.#list(acting, random.pick(read));
  }

  /** Mostly where they have a role. */
  #somebody(): Acting {
    const { random, rules, people, organizations } = this.#world;
    const userId = random.pick(people);
    const places = organizations.map((organizationId) => ({ userId, organizationId }));
    const own = places.filter((acting) => rules.roleOf(acting));
    return random.pick(own.length > 0 && random.chance(0.9) ? own : places);
  }

  #operation(acting: Acting, does: string, more: Omit<OracleOperation, 'acting' | 'says'>): OracleOperation {
    const { organizationId, userId } = acting;
    const role = userId === null ? 'server' : (this.#world.rules.roleOf(acting) ?? 'nobody');
    const who = userId === null ? '' : ` ${userId}`;
    return { acting, says: this.named(`${role}${who} in ${organizationId}: ${does}`), ...more };
  }

  #creation(acting: Acting): OracleOperation {
    const { random, rules } = this.#world;
    const kind = random.pick(created);
    const count = random.chance(0.8) ? 1 : 2 + random.below(3);
    const roots = Array.from({ length: count }, () => this.#draft(kind, acting));
    const all = roots.flatMap((root) => withBelow(root));
    return this.#operation(acting, `creates ${printed(all)}`, {
      sort: `creates ${kind}`,
      problems: rules.creationProblems(acting, all),
      run: (data) => data.createAll(roots.map((root) => ({ ...creationOf(root), path: '' }))),
      apply: (by) => this.#create(acting, all, by),
    });
  }

  #create(acting: Acting, all: readonly NewOracleRecord[], by: ChangedBy): void {
    const { model, rules } = this.#world;
    const { userId, organizationId } = acting;
    const role = rules.roleOf(acting);
    const isMember = rules.isMember(userId, organizationId);
    for (const one of all) {
      // The creator of a group manages it, as its member if they are a member of the organization; owners manage all groups.
      const isManaged = one.kind === 'group' && role !== 'owner' && role !== 'super_admin';
      const values = isManaged && !isMember ? { ...one.values, managerId: userId } : one.values;
      const { id: groupId } = model.create({ ...one, values }, by);
      if (!isManaged || !isMember) continue;
      const held = { groupId, userId, role: 'admin' };
      model.create({ kind: 'groupMembership', id: '', organizationId, values: held }, by);
    }
  }

  #draft(kind: OracleKind, acting: Acting, parentId?: string): Created {
    const { random } = this.#world;
    const id = newId();
    this.#names.set(id, `${kind}-${this.#names.size}`);
    const values = { ...this.#inputs.values(kind, acting), ...(parentId === undefined ? {} : { parentId }) };
    const below = kind === 'task' && random.chance(0.15) ? [this.#draft(kind, acting, id)] : [];
    return { kind, id, organizationId: acting.organizationId, values, below };
  }

  /** The server lets somebody in, as an accepted invitation does. */
  #admission(): OracleOperation {
    const { random, people, organizations, rules, model } = this.#world;
    const acting: Acting = { userId: null, organizationId: random.pick(organizations) };
    const values = { userId: random.pick(people), role: random.pick(oracleRoles) };
    const made: NewOracleRecord = { kind: 'membership', id: newId(), organizationId: acting.organizationId, values };
    this.#names.set(made.id, `membership-${this.#names.size}`);
    return this.#operation(acting, `admits ${printed([made])}`, {
      sort: 'admits',
      problems: rules.creationProblems(acting, [made]),
      run: (data) => data.createAll([{ ...creationOf({ ...made, below: [] }), path: '' }]),
      apply: (by) => void model.create(made, by),
    });
  }

  #update(acting: Acting, kind: OracleKind): OracleOperation {
    const { random, rules, model } = this.#world;
    const record = this.#inputs.record(kind, acting);
    if (!record) return this.#creation(acting);
    const changes = this.#inputs.changes(kind, record, acting);
    const version = record.entries.length;
    const expected = random.chance(0.15) ? random.pick([version, Math.max(1, version - 1), version + 1]) : undefined;
    const at = expected === undefined ? '' : ` at version ${expected}`;
    return this.#operation(acting, `updates ${record.id}${at}: ${JSON.stringify(changes)}`, {
      sort: `updates ${kind}`,
      problems: rules.updateProblems(acting, record, changes, expected),
      run: (data) => data.update(registry.byKind(kind) as never, record.id, changes as never, expected),
      apply: (by) => model.update(record, changes, by),
    });
  }

  #unarchiving(organizationId: string): OracleOperation {
    const { random, rules, model } = this.#world;
    const managers = model.live('membership', { organizationId }).filter(({ values }) => values['role'] === 'owner');
    const acting = { userId: String(random.pick(managers).values['userId']), organizationId };
    const record = model.find(organizationId) as OracleRecord;
    const changes = { isArchived: false };
    return this.#operation(acting, `updates ${organizationId}: ${JSON.stringify(changes)}`, {
      sort: 'takes back that it is archived',
      problems: rules.updateProblems(acting, record, changes),
      run: (data) => data.update(registry.byKind('organization') as never, organizationId, changes as never),
      apply: (by) => model.update(record, changes, by),
    });
  }

  #removal(acting: Acting, kind: OracleKind): OracleOperation {
    const { rules, model } = this.#world;
    const record = this.#inputs.record(kind, acting);
    if (!record) return this.#creation(acting);
    return this.#operation(acting, `deletes ${record.id}`, {
      sort: `deletes ${kind}`,
      problems: rules.removalProblems(acting, record),
      run: (data) => data.remove(registry.byKind(kind), record.id),
      apply: (by) => model.remove([record], by),
    });
  }

  #reading(acting: Acting, kind: OracleKind): OracleOperation {
    const record = this.#inputs.record(kind, acting);
    if (!record) return this.#creation(acting);
    return this.#operation(acting, `reads ${record.id}`, readingOf(this.#world, acting, record));
  }

  #list(acting: Acting, kind: OracleKind): OracleOperation {
    const list = listOf(this.#world, acting, kind, (text) => this.named(text));
    return this.#operation(acting, `lists ${registry.byKind(kind).table}`, list);
  }

  /** Some records of a kind, each once. */
  #some(kind: OracleKind, acting: Acting): OracleRecord[] {
    const found = Array.from({ length: 5 }, () => this.#inputs.record(kind, acting)).filter(
      (record) => record !== undefined,
    );
    return [...new Set(found)];
  }

  #updateOfMany(acting: Acting, kind: OracleKind): OracleOperation {
    const { random, rules, model } = this.#world;
    const records = this.#some(kind, acting);
    if (records.length === 0) return this.#creation(acting);
    const changes: OracleValues =
      kind === 'task'
        ? { status: random.pick(taskStatuses), priority: random.below(5) }
        : kind === 'note'
          ? { text: `note ${newId()}` }
          : { description: random.pick(sharedNames) };
    const many = ofMany(records, {
      verb: 'updates',
      problemsOf: (record) => rules.updateProblems(acting, record, changes),
      named: (text) => this.named(text),
      isChange: (record) => differing(record, changes).length > 0,
      run: (data, ids) => data.updateAll(registry.byKind(kind), ids, changes),
      apply: (allowed, by) => {
        for (const record of allowed) model.update(record, changes, by);
      },
    });
    return this.#operation(acting, `updates ${printedIds(records)}: ${JSON.stringify(changes)}`, many);
  }

  #removalOfMany(acting: Acting, kind: OracleKind): OracleOperation {
    const { rules, model } = this.#world;
    const records = this.#some(kind, acting);
    if (records.length === 0) return this.#creation(acting);
    const many = ofMany(records, {
      verb: 'deletes',
      problemsOf: (record) => rules.removalProblems(acting, record),
      named: (text) => this.named(text),
      isChange: () => true,
      run: (data, ids) => data.removeAll(registry.byKind(kind), ids),
      apply: (allowed, by) => model.remove(allowed, by),
    });
    return this.#operation(acting, `deletes ${printedIds(records)}`, many);
  }
}

function weighted(weights: Partial<Record<OracleKind, number>>): OracleKind[] {
  return Object.entries(weights).flatMap(([kind, count]) => Array.from({ length: count }, () => kind as OracleKind));
}

function printedIds(records: readonly OracleRecord[]): string {
  return records.map(({ id }) => id).join(', ');
}

function outcomeOf({ sort, problems }: OracleOperation): string {
  return [sort, ...new Set(problems)].join();
}
