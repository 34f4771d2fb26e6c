import { isManagerRole, oracleRoles, type OracleModel, type OracleRecord, type OracleRole } from './oracle-model.ts';

/** A person who acts in an organization; null: the server. */
export interface Acting {
  readonly userId: string | null;
  readonly organizationId: string;
}

type Right = 'view' | 'edit' | 'remove';

/** Rights to see, change and delete records, by the rules alone. */
export class OracleRights {
  protected readonly model: OracleModel;

  constructor(model: OracleModel) {
    this.model = model;
  }

  /** The strongest role of a person in the organization or one that it is part of. */
  roleOf({ userId, organizationId }: Acting): OracleRole | undefined {
    const held = new Set<unknown>();
    for (let at = this.model.find(organizationId); at; at = this.model.find(at.values['parentId']))
      for (const { values } of this.model.live('membership', { organizationId: at.id, userId }))
        held.add(values['role']);
    return oracleRoles.find((role) => held.has(role));
  }

  /** Whether a record is there for a person, and what they may do with it. */
  may(acting: Acting, right: Right, record: OracleRecord): boolean {
    const { userId, organizationId } = acting;
    if (!record.isLive) return false;
    if (userId === null) return true;
    const role = this.roleOf(acting);
    const isHere = record.organizationId === organizationId && role !== undefined;
    const isOwner = role === 'owner' || role === 'super_admin';
    switch (record.kind) {
      case 'organization':
        // Its members see it, from wherever they act; its managers change it while they act in it.
        if (right === 'view') return this.isMember(userId, record.id);
        return isHere && isManagerRole(role) && this.isMember(userId, record.id);
      case 'membership':
        // People see and end their own memberships, from wherever they act.
        if (right !== 'edit' && record.values['userId'] === userId) return true;
        return isHere && (right === 'view' || (right === 'edit' ? isOwner : isManagerRole(role)));
      case 'tag':
        return isHere && (right === 'view' || isManagerRole(role));
      case 'creatorGrant':
        return isHere && (isOwner || (right === 'view' && (role === 'admin' || role === 'auditor')));
      case 'group':
      case 'groupSetting':
      case 'groupMembership':
      case 'task':
      case 'note':
      case 'taskShare':
      default:
        return isHere && this.#mayByRelation(acting, { role, isOwner }, right, record);
    }
  }

  /** Of kinds whose records have rights of their own. Auditors change nothing, whatever they are to a record. */
  #mayByRelation(
    acting: Acting,
    { role, isOwner }: { readonly role: OracleRole; readonly isOwner: boolean },
    right: Right,
    record: OracleRecord,
  ): boolean {
    const { userId } = acting;
    const { id, kind, values } = record;
    const above = (name: string, needed: Right) => {
      const parent = this.model.find(values[name]);
      return parent !== undefined && this.may(acting, needed, parent);
    };
    if (role === 'auditor' && right !== 'view') return false;
    const rightAbove = right === 'view' ? 'view' : 'edit';
    switch (kind) {
      case 'groupSetting':
        return right !== 'remove' && above('groupId', rightAbove);
      case 'groupMembership':
        // Members may leave.
        return above('groupId', rightAbove) || (right === 'remove' && values['userId'] === userId);
      case 'taskShare':
        if (right === 'remove' && values['relation'] === 'blocked' && !above('taskId', 'remove')) return false;
        return right !== 'edit' && above('taskId', rightAbove);
      case 'group': {
        if (isOwner) return true;
        const [held] = this.model.live('groupMembership', { groupId: id, userId });
        if (values['managerId'] === userId) return true;
        if (right !== 'view') return held?.values['role'] === 'admin';
        return held !== undefined || this.model.live('groupSetting', { groupId: id, visibility: 'public' }).length > 0;
      }
      case 'note':
        return isOwner || values['ownerId'] === userId || (right === 'view' && above('taskId', 'view'));
      case 'task': {
        if (isOwner || values['assignerId'] === userId) return true;
        const shares = this.#sharesWith(acting, id);
        // A caller who may delete the record cannot be blocked from it.
        if (shares.has('blocked')) return false;
        if (right === 'view' && shares.has('viewer')) return true;
        if (right !== 'remove' && (values['assigneeId'] === userId || shares.has('editor'))) return true;
        return above('parentId', rightAbove);
      }
      case 'organization':
      case 'membership':
      case 'tag':
      case 'creatorGrant':
      default:
        throw new Error(`records of ${kind} have no rights of their own`);
    }
  }

  /** Whether a person is a member of the organization itself, and not only of one that it is part of. */
  isMember(userId: string | null, organizationId: string): boolean {
    return this.model.live('membership', { organizationId, userId }).length > 0;
  }

  /** Ids of the groups of a person. */
  groupsOf({ userId, organizationId }: Acting): Set<unknown> {
    return new Set(
      this.model.live('groupMembership', { organizationId, userId }).map(({ values }) => values['groupId']),
    );
  }

  /** Relations that a person has to a task through groups. */
  #sharesWith(acting: Acting, taskId: string): Set<unknown> {
    const groups = this.groupsOf(acting);
    const shares = this.model.live('taskShare', { taskId }).filter(({ values }) => groups.has(values['groupId']));
    return new Set(shares.map(({ values }) => values['relation']));
  }
}
