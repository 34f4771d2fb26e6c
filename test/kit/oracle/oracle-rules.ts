import {
  differing,
  isManagerRole,
  oracleRoles,
  type NewOracleRecord,
  type OracleKind,
  type OracleRecord,
  type OracleRole,
  type OracleValues,
} from './oracle-model.ts';
import { OracleRights, type Acting } from './oracle-rights.ts';

/** The most levels of tasks below each other. */
const maxLevels = 20;

/** Fields whose values two live records of an organization may not share. */
const uniqueKeys: Partial<Record<OracleKind, readonly string[]>> = {
  membership: ['userId'],
  group: ['name'],
  groupSetting: ['groupId'],
  groupMembership: ['groupId', 'userId'],
  taskShare: ['taskId', 'groupId', 'relation'],
  creatorGrant: ['groupId', 'relation'],
  tag: ['name'],
};

/** The code of the error that is a problem (`code` or `code: reason`). */
export function codeOf(problem: string): string {
  return problem.replace(/:.*/, '');
}

/** Problems of operations, by the rules alone. The code of any problem may be the answer, and none means that it is allowed. */
export class OracleRules extends OracleRights {
  /** Problems that prevent the creation of these records, all or none. */
  creationProblems(acting: Acting, made: readonly NewOracleRecord[]): string[] {
    const role = this.roleOf(acting);
    const isServer = acting.userId === null;
    if (!isServer && role === undefined) return ['no_current_organization', 'permission_denied: not a member'];
    const problems = made.flatMap((one, place) => [
      ...(isServer ? [] : this.#refusedCreation(acting, role, one, made)),
      ...this.#conflicts(one, made.slice(0, place)),
    ]);
    return isServer || !this.#isArchived(acting.organizationId) ? problems : [...problems, 'organization_archived'];
  }

  #refusedCreation(
    acting: Acting,
    role: OracleRole | undefined,
    one: NewOracleRecord,
    made: readonly NewOracleRecord[],
  ): string[] {
    const { kind, values } = one;
    const isOwner = role === 'owner' || role === 'super_admin';
    const denied = (isAllowed: boolean) => (isAllowed ? [] : ['permission_denied']);
    const references = this.#wrongReferences(acting, kind, values, made);
    switch (kind) {
      case 'task': {
        const isOwn = values['assignerId'] === acting.userId;
        return [...denied(role !== 'auditor' && (isOwner || isOwn)), ...references, ...this.#tooDeep(one, made)];
      }
      case 'note':
      case 'tag':
        return [...denied(role !== 'auditor'), ...references];
      case 'group': {
        const isAllowed = isManagerRole(role) || (role !== 'auditor' && this.#isCreator(acting, 'group_creator'));
        return denied(isAllowed);
      }
      case 'creatorGrant':
        return [...denied(isOwner), ...references, ...this.#withoutEffect(acting, kind, values)];
      case 'groupSetting':
      case 'groupMembership':
        return [
          ...references,
          ...denied(role !== 'auditor'),
          ...this.#managed(values['groupId']),
          ...this.#withoutEffect(acting, kind, values),
        ];
      case 'taskShare':
        return [
          ...references,
          ...denied(role !== 'auditor'),
          ...this.#refusedBlock(acting, values),
          ...this.#withoutEffect(acting, kind, values),
        ];
      case 'membership':
      case 'organization':
      default:
        // Memberships are made by invitations, and organizations by the server.
        return ['permission_denied'];
    }
  }

  /** Problems that prevent a change of a record. @param expected the version on which the change is based */
  updateProblems(acting: Acting, record: OracleRecord, changes: OracleValues, expected?: number): string[] {
    if (!this.may(acting, 'view', record)) return [...this.nowhere(acting, record.kind), 'not_found'];
    if (!this.may(acting, 'edit', record)) return ['permission_denied'];
    const { kind, id, values, entries, organizationId } = record;
    const changed = differing(record, changes);
    const problems: string[] = [];
    if (kind === 'membership') problems.push(...this.#refusedRoles(acting, [values['role'], changes['role']]));
    if (expected !== undefined && expected !== entries.length) problems.push('stale_record');
    if (changed.length === 0) return problems;
    const given = Object.fromEntries(changed.map((name) => [name, changes[name] ?? null]));
    // A move removes a task from its previous place, so it needs the right to remove it.
    if (changed.includes('parentId') && !this.may(acting, 'remove', record)) problems.push('permission_denied: a move');
    if (kind === 'group') problems.push(...this.#managed(id));
    if (kind === 'groupMembership' || kind === 'groupSetting') problems.push(...this.#managed(values['groupId']));
    problems.push(...this.#wrongReferences(acting, kind, given, []));
    if (given['role'] === 'admin') problems.push(...this.#withoutEffect(acting, kind, { ...values, ...given }));
    if (typeof given['parentId'] === 'string') problems.push(...this.#wrongPlace(id, given['parentId']));
    if ((uniqueKeys[kind] ?? []).some((name) => changed.includes(name)))
      problems.push(...this.#conflicts({ kind, id, organizationId, values: { ...values, ...changes } }, []));
    if (changed.includes('role')) problems.push(...this.#lastOwner(record));
    if (kind !== 'organization' && this.#isArchived(organizationId)) problems.push('organization_archived');
    return problems;
  }

  /** Problems of a caller without a current organization, unless records of the kind can belong to a person anywhere. */
  nowhere(acting: Acting, kind: OracleKind): string[] {
    const isAnywhere = kind === 'membership' || kind === 'organization';
    const actsNowhere = acting.userId !== null && this.roleOf(acting) === undefined;
    return actsNowhere && !isAnywhere ? ['no_current_organization'] : [];
  }

  /** Problems that prevent the deletion of a record. */
  removalProblems(acting: Acting, record: OracleRecord): string[] {
    if (!this.may(acting, 'view', record)) return [...this.nowhere(acting, record.kind), 'not_found'];
    if (!this.may(acting, 'remove', record)) return ['permission_denied'];
    const { kind, id, values, organizationId } = record;
    if (kind === 'membership') {
      // People may always give up a role of their own; and also leave what is archived.
      const isOwn = values['userId'] === acting.userId;
      return [...(isOwn ? [] : this.#refusedRoles(acting, [values['role']])), ...this.#lastOwner(record)];
    }
    return [
      ...(kind === 'group' ? this.#managed(id) : []),
      ...(kind === 'groupMembership' ? this.#managed(values['groupId']) : []),
      ...(this.#isArchived(organizationId) ? ['organization_archived'] : []),
    ];
  }

  #isArchived(organizationId: string): boolean {
    return this.model.find(organizationId)?.values['isArchived'] === true;
  }

  /** Refuses operations that would give rights only to auditors, who only read. */
  #withoutEffect(
    { organizationId }: Acting,
    kind: OracleKind,
    { groupId, userId, relation, role }: OracleValues,
  ): string[] {
    const isAuditor = (id: OracleValues[string] | undefined) =>
      this.model.live('membership', { organizationId, userId: id ?? null, role: 'auditor' }).length > 0 &&
      this.roleOf({ userId: String(id), organizationId }) === 'auditor';
    const members = this.model.live('groupMembership', { groupId: groupId ?? null });
    const isOfAuditors = members.length > 0 && members.every(({ values }) => isAuditor(values['userId']));
    const isRefused =
      (kind === 'creatorGrant' && isOfAuditors) ||
      (kind === 'taskShare' && relation === 'editor' && isOfAuditors) ||
      (kind === 'groupMembership' && role === 'admin' && isAuditor(userId));
    return isRefused ? ['rule_violated: it would have no effect'] : [];
  }

  #isCreator(acting: Acting, relation: string): boolean {
    const groups = this.groupsOf(acting);
    return this.model.live('creatorGrant', { relation }).some(({ values }) => groups.has(values['groupId']));
  }

  /** The server alone changes a managed group. */
  #managed(groupId: unknown): string[] {
    return (this.model.find(groupId)?.values['managedAs'] ?? null) === null
      ? []
      : ['permission_denied: a managed group'];
  }

  /** Nobody gives or takes a role above their own; members and auditors are equal. */
  #refusedRoles(acting: Acting, given: readonly unknown[]): string[] {
    const rank = (role: unknown) =>
      Math.min(
        oracleRoles.findIndex((name) => name === role),
        3,
      );
    const own = rank(this.roleOf(acting));
    return given.some((role) => role !== undefined && rank(role) < own)
      ? ['permission_denied: a role above their own']
      : [];
  }

  /** An organization keeps an owner of its own. */
  #lastOwner({ organizationId, values }: OracleRecord): string[] {
    if (values['role'] !== 'owner') return [];
    return this.model.live('membership', { organizationId, role: 'owner' }).length > 1 ? [] : ['last_owner'];
  }

  /** References need the right to see what they refer to, some of them the right to edit it, and people have to be members. */
  #wrongReferences(acting: Acting, kind: OracleKind, values: OracleValues, made: readonly NewOracleRecord[]): string[] {
    const editable = { task: 'parentId', taskShare: 'taskId', groupMembership: 'groupId', groupSetting: 'groupId' };
    const needsEdit: Partial<Record<OracleKind, string>> = editable;
    return Object.entries(values).flatMap(([name, id]): string[] => {
      if (!name.endsWith('Id') || typeof id !== 'string' || made.some((one) => one.id === id)) return [];
      if (['assigneeId', 'assignerId', 'ownerId', 'userId'].includes(name)) {
        const isSelf = id === acting.userId && name !== 'userId';
        return isSelf || this.isMember(id, acting.organizationId) ? [] : [`not_found: ${name}`];
      }
      const target = this.model.find(id);
      if (!target || target.organizationId !== acting.organizationId || !this.may(acting, 'view', target))
        return [`not_found: ${name}`];
      return needsEdit[kind] === name && !this.may(acting, 'edit', target) ? [`permission_denied: ${name}`] : [];
    });
  }

  #conflicts({ kind, id, organizationId, values }: NewOracleRecord, before: readonly NewOracleRecord[]): string[] {
    const key = uniqueKeys[kind];
    if (!key) return [];
    const isEqual = (other: { readonly id: string; readonly values: OracleValues }) =>
      other.id !== id && key.every((name) => other.values[name] === values[name]);
    const others = [...this.model.live(kind, { organizationId }), ...before.filter((one) => one.kind === kind)];
    return others.some(isEqual) ? ['already_exists'] : [];
  }

  /** Ids of a task and of those above it. */
  #chain(id: unknown): string[] {
    const chain: string[] = [];
    for (let at = this.model.find(id); at; at = this.model.find(at.values['parentId'])) chain.push(at.id);
    return chain;
  }

  #levelsBelow(id: string): number {
    return 1 + Math.max(0, ...this.model.live('task', { parentId: id }).map((task) => this.#levelsBelow(task.id)));
  }

  #wrongPlace(id: string, parentId: string): string[] {
    const above = this.#chain(parentId);
    return above.includes(id) || above.length + this.#levelsBelow(id) > maxLevels ? ['invalid_input: its place'] : [];
  }

  #tooDeep({ values }: NewOracleRecord, made: readonly NewOracleRecord[]): string[] {
    let levels = 1;
    let parentId = values['parentId'];
    for (let above = made.find(({ id }) => id === parentId); above; above = made.find(({ id }) => id === parentId)) {
      levels++;
      parentId = above.values['parentId'];
    }
    return levels + this.#chain(parentId).length > maxLevels ? ['invalid_input: its place'] : [];
  }

  /**
   * A caller who may delete a task may block groups from it, but no group with a member from whom the caller has that right: somebody who
   * shared the task, or a task above it, with a group of the caller, or who may delete a task above it.
   */
  #refusedBlock(acting: Acting, { taskId, groupId, relation }: OracleValues): string[] {
    const task = this.model.find(taskId);
    if (relation !== 'blocked' || !task) return [];
    if (!this.may(acting, 'remove', task)) return ['permission_denied: a block'];
    const groups = this.groupsOf(acting);
    const granters = new Set<unknown>();
    for (const [place, id] of this.#chain(taskId).entries()) {
      for (const { values, entries } of this.model.live('taskShare', { taskId: id }))
        if (values['relation'] !== 'blocked' && groups.has(values['groupId'])) granters.add(entries[0]?.actor);
      if (place > 0) granters.add(`user:${String(this.model.find(id)?.values['assignerId'])}`);
    }
    granters.delete(`user:${acting.userId}`);
    const members = this.model.live('groupMembership', { groupId: groupId ?? null });
    return members.some(({ values }) => granters.has(`user:${String(values['userId'])}`))
      ? ['permission_denied: a block of somebody from whom they have their right']
      : [];
  }
}
