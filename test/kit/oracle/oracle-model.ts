/**
 * A small model of what an installation holds: organizations with their people, groups, tasks and what hangs on them. It knows
 * what follows from a change (cascades, managed groups, history, tuples). It is written from the rules and calls nothing of the product.
 */

export const oracleRoles = ['owner', 'super_admin', 'admin', 'member', 'auditor'] as const;
export type OracleRole = (typeof oracleRoles)[number];

/** Roles that manage an organization. */
export function isManagerRole(role: unknown): boolean {
  return role === 'owner' || role === 'super_admin' || role === 'admin';
}

export type OracleValue = string | number | boolean | null | readonly string[];
export type OracleValues = Readonly<Record<string, OracleValue>>;

/** Fields of each kind with the values of a record that is created without any. */
const blank = {
  organization: {
    name: '',
    displayName: null,
    description: null,
    parentId: null,
    founderId: null,
    isPersonal: false,
    isArchived: false,
  },
  membership: { userId: null, role: 'member' },
  group: { displayId: null, name: '', displayName: null, description: null, managedAs: null, managerId: null },
  groupSetting: { groupId: null, visibility: 'public', joinPolicy: 'apply' },
  groupMembership: { groupId: null, userId: null, role: 'member' },
  task: {
    displayId: null,
    title: '',
    details: null,
    status: 'open',
    priority: 0,
    dueAt: null,
    completedAt: null,
    tags: [],
    assigneeId: null,
    assignerId: null,
    parentId: null,
    typeId: null,
    environmentId: null,
    scopeId: null,
    externalId: null,
    externalUrls: [],
    metadata: null,
  },
  note: {
    displayId: null,
    title: null,
    text: '',
    isEdited: false,
    ownerId: null,
    taskId: null,
    discussionId: null,
  },
  taskShare: { taskId: null, groupId: null, relation: '' },
  creatorGrant: { groupId: null, relation: '' },
  tag: { name: '', aliases: [], description: null, color: '#888888' },
} as const satisfies Readonly<Record<string, OracleValues>>;

export type OracleKind = keyof typeof blank;
export const oracleKinds = Object.keys(blank) as readonly OracleKind[];

/** Prefixes of the display ids of kinds that have them: what follows is up to the server. */
export const displayIdPrefixes: Partial<Record<OracleKind, string>> = { task: 'TSK', note: 'NTE', group: 'GRP' };

/** Actor, request and time (RFC 3339) of a change. */
export interface ChangedBy {
  readonly actor: string;
  readonly requestId: string;
  readonly at: string;
}

export interface OracleEntry extends Pick<ChangedBy, 'actor' | 'requestId'> {
  readonly operation: 'created' | 'updated' | 'deleted';
  /** In the order of their names. */
  readonly changed: readonly string[];
}

export interface OracleRecord {
  readonly kind: OracleKind;
  /** Empty until it is known: the server chooses the ids of what it adds. */
  id: string;
  readonly organizationId: string;
  values: OracleValues;
  isLive: boolean;
  /** The history; its length is the version. */
  readonly entries: OracleEntry[];
}

export interface NewOracleRecord {
  readonly kind: OracleKind;
  readonly id: string;
  readonly organizationId: string;
  readonly values: OracleValues;
}

/** Ids that the server chose for a managed group and its settings. */
export interface ManagedGroupIds {
  readonly managedAs: string;
  readonly name: string;
  readonly description: string;
  readonly id: string;
  readonly settingId: string;
}

export class OracleModel {
  readonly #records: OracleRecord[] = [];
  readonly #byKind = new Map<OracleKind, OracleRecord[]>();
  readonly #byId = new Map<string, OracleRecord>();

  get records(): readonly OracleRecord[] {
    return this.#records;
  }

  /** A live record. */
  find(id: unknown): OracleRecord | undefined {
    const record = typeof id === 'string' ? this.#byId.get(id) : undefined;
    return record?.isLive ? record : undefined;
  }

  /** A record, also a deleted one. */
  known(id: string): OracleRecord | undefined {
    return this.#byId.get(id);
  }

  /** Live records of a kind with these values. */
  live(kind: OracleKind, values: OracleValues & { readonly organizationId?: string } = {}): OracleRecord[] {
    const { organizationId, ...given } = values;
    return (this.#byKind.get(kind) ?? []).filter(
      (record) =>
        record.isLive &&
        (organizationId === undefined || record.organizationId === organizationId) &&
        Object.entries(given).every(([name, value]) => record.values[name] === value),
    );
  }

  /** Live records whose ids are not known yet. */
  get nameless(): readonly OracleRecord[] {
    return this.#records.filter(({ id, isLive }) => id === '' && isLive);
  }

  giveId(record: OracleRecord, id: string): void {
    record.id = id;
    this.#byId.set(id, record);
  }

  /** An organization, with the three managed groups that come with it. */
  found(id: string, values: OracleValues, groups: readonly ManagedGroupIds[], by: ChangedBy): void {
    this.create({ kind: 'organization', id, organizationId: id, values }, by);
    for (const { id: groupId, settingId, ...group } of groups) {
      this.create({ kind: 'group', id: groupId, organizationId: id, values: group }, by);
      const setting = { groupId, visibility: 'public', joinPolicy: 'invite_only' };
      this.create({ kind: 'groupSetting', id: settingId, organizationId: id, values: setting }, by);
    }
  }

  create({ kind, id, organizationId, values }: NewOracleRecord, by: ChangedBy): OracleRecord {
    const given: OracleValues = { ...blank[kind], ...values };
    const whole: OracleValues = { ...given, ...formsOf(kind, given) };
    const changed = [
      ...Object.keys(whole).filter((name) => whole[name] !== null),
      ...(displayIdPrefixes[kind] === undefined ? [] : ['displayId']),
      ...(kind === 'organization' ? [] : ['organizationId']),
    ];
    const record: OracleRecord = { kind, id: '', organizationId, values: whole, isLive: true, entries: [] };
    if (id !== '') this.giveId(record, id);
    this.#records.push(record);
    this.#byKind.set(kind, [...(this.#byKind.get(kind) ?? []), record]);
    addEntry(record, 'created', changed, by);
    if (kind === 'membership') this.#alignManagedGroups(record, by);
    return record;
  }

  /** Changes nothing, and records nothing, where the record has all of the values. */
  update(record: OracleRecord, changes: OracleValues, by: ChangedBy): void {
    const given = differing(record, changes);
    if (given.length === 0) return;
    const made = { ...changes, ...derivedValues(record.kind, changes, given, by) };
    const values = { ...made, ...formsOf(record.kind, { ...record.values, ...made }) };
    const changed = differing(record, values);
    record.values = { ...record.values, ...values };
    addEntry(record, 'updated', changed, by);
    if (record.kind === 'membership') this.#alignManagedGroups(record, by);
  }

  /** Deletes records, and then what hangs on them. */
  remove(records: readonly OracleRecord[], by: ChangedBy): void {
    for (const record of records) {
      record.isLive = false;
      addEntry(record, 'deleted', [], by);
    }
    for (const record of records) {
      const below = this.#dependentsOf(record);
      if (below.length > 0) this.remove(below, by);
      if (record.kind === 'membership') this.#endManagement(record, by);
    }
  }

  /** A person who managed a group with a role of an organization above, and has lost the role, no longer manages the group. */
  #endManagement({ values: { userId = null } }: OracleRecord, by: ChangedBy): void {
    for (const group of this.live('group', { managerId: userId }))
      if (!this.#hasRole(userId, group.organizationId)) this.update(group, { managerId: null }, by);
  }

  #hasRole(userId: OracleValue, organizationId: string): boolean {
    for (let at = this.find(organizationId); at; at = this.find(at.values['parentId']))
      if (this.live('membership', { organizationId: at.id, userId }).length > 0) return true;
    return false;
  }

  /** Subtasks, notes and shares go with their task; members, settings, shares and rights with their group; members of groups with the membership of the organization. */
  #dependentsOf({ kind, id, organizationId, values }: OracleRecord): OracleRecord[] {
    if (kind === 'membership')
      return this.live('groupMembership', { organizationId, userId: values['userId'] ?? null });
    if (kind === 'task')
      return [
        ...this.live('task', { parentId: id }),
        ...this.live('note', { taskId: id }),
        ...this.live('taskShare', { taskId: id }),
      ];
    if (kind !== 'group') return [];
    const kinds = ['groupMembership', 'groupSetting', 'taskShare', 'creatorGrant'] as const;
    return kinds.flatMap((dependent) => this.live(dependent, { groupId: id }));
  }

  /** Everybody is in the group of all members, and in that of the managers or that of the others. */
  #alignManagedGroups({ organizationId, values: { userId = null, role } }: OracleRecord, by: ChangedBy): void {
    const wanted = new Set<OracleValue | undefined>(['all_members', isManagerRole(role) ? 'admins' : 'viewers']);
    const managed = this.live('group', { organizationId }).filter(({ values }) => values['managedAs'] !== null);
    for (const { id: groupId, values } of managed) {
      const held = this.live('groupMembership', { groupId, userId });
      const isWanted = wanted.has(values['managedAs']);
      if (!isWanted) this.remove(held, by);
      else if (held.length === 0)
        this.create({ kind: 'groupMembership', id: '', organizationId, values: { groupId, userId } }, by);
    }
  }

  /** The tuples that the live records stand for. */
  tuples(): string[] {
    return this.#records.filter(({ isLive }) => isLive).flatMap((record) => tuplesOf(record));
  }
}

/** The form in which unique names are compared; those of the model are in ASCII. */
function formsOf(kind: OracleKind, { name }: OracleValues): OracleValues {
  if (kind !== 'organization' && kind !== 'group' && kind !== 'tag') return {};
  return { nameForm: String(name).trim().replaceAll(/\s+/g, ' ').toLowerCase() };
}

function addEntry(
  { entries }: OracleRecord,
  operation: OracleEntry['operation'],
  changed: readonly string[],
  { actor, requestId }: ChangedBy,
): void {
  entries.push({ operation, changed: changed.toSorted(), actor, requestId });
}

/** Names of fields with a value that the record does not have. */
export function differing({ values }: OracleRecord, changes: OracleValues): string[] {
  return Object.keys(changes).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(changes[name]));
}

/** Values that the server adds to a change. */
function derivedValues(
  kind: OracleKind,
  changes: OracleValues,
  given: readonly string[],
  { at }: ChangedBy,
): OracleValues {
  if (kind === 'note') return { isEdited: true };
  if (kind === 'task' && given.includes('status'))
    return { completedAt: changes['status'] === 'completed' ? at : null };
  return {};
}

/** `object relation subject` */
function tuplesOf({ kind, id, organizationId, values }: OracleRecord): string[] {
  const value = (name: string) => String(values[name]);
  const people = (object: string, relations: Readonly<Record<string, string>>) =>
    Object.entries(relations).flatMap(([relation, field]) =>
      values[field] === null ? [] : [`${object}:${id} ${relation} user:${value(field)}`],
    );
  switch (kind) {
    case 'membership':
      return [`organization:${organizationId} ${value('role')} user:${value('userId')}`];
    case 'groupMembership': {
      const own = `user:${value('userId')}`;
      return [
        `group:${value('groupId')} member ${own}`,
        ...(values['role'] === 'admin' ? [`group:${value('groupId')} admin ${own}`] : []),
        `group_membership:${id} subject ${own}`,
      ];
    }
    case 'groupSetting':
      return values['visibility'] === 'public'
        ? [`group:${value('groupId')} viewer organization:${organizationId}#participant`]
        : [];
    case 'taskShare':
      return [`task:${value('taskId')} ${value('relation')} group:${value('groupId')}#member`];
    case 'creatorGrant':
      return [`organization:${organizationId} ${value('relation')} group:${value('groupId')}#member`];
    case 'task':
      return people('task', { assignee: 'assigneeId', assigner: 'assignerId' });
    case 'note':
      return people('note', { owner: 'ownerId' });
    case 'group':
      return people('group', { manager: 'managerId' });
    case 'organization':
    case 'tag':
    default:
      return [];
  }
}
