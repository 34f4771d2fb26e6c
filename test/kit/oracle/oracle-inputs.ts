import { newId } from '#entities/kit/base/ids.ts';
import { oracleRoles, type OracleKind, type OracleRecord, type OracleValues } from './oracle-model.ts';
import type { OracleWorld } from './oracle-operation.ts';
import type { Acting } from './oracle-rights.ts';

/** Few, so that several records want to have the same. */
export const sharedNames = ['red', 'blue', 'green', 'white', 'black', 'grey'] as const;
export const taskStatuses = ['open', 'in_progress', 'in_review', 'completed', 'wont_do'] as const;

/** Random records and values, most of which make sense where the caller acts. */
export class OracleInputs {
  readonly #world: OracleWorld;
  #made = 0;

  constructor(world: OracleWorld) {
    this.#world = world;
  }

  /** Mostly a live record where the caller acts, and often one that they see. */
  record(kind: OracleKind, acting: Acting): OracleRecord | undefined {
    const { random, model, rules } = this.#world;
    const all = model.records.filter((record) => record.kind === kind && record.id !== '');
    const live = all.filter(({ isLive }) => isLive);
    const here = live.filter((record) => record.organizationId === acting.organizationId);
    const chosen = random.chance(0.93) ? here : random.chance(0.6) ? live : all;
    if (chosen.length === 0) return undefined;
    const some = Array.from({ length: 6 }, () => random.pick(chosen));
    const seen = random.chance(0.6) ? some.find((record) => rules.may(acting, 'view', record)) : undefined;
    return seen ?? some[0];
  }

  #recordId(kind: OracleKind, acting: Acting): string | null {
    return this.record(kind, acting)?.id ?? null;
  }

  #somebodyElse({ organizationId }: Acting): string {
    const { random, model, people } = this.#world;
    const members = model.live('membership', { organizationId }).map(({ values }) => String(values['userId']));
    return random.pick(members.length > 0 && random.chance(0.9) ? members : people);
  }

  /** Values of a new record. */
  values(kind: OracleKind, acting: Acting): OracleValues {
    const { random } = this.#world;
    const number = ++this.#made;
    const missing = newId();
    switch (kind) {
      case 'task':
        return {
          title: `task ${number}`,
          assignerId: random.chance(0.1) ? this.#somebodyElse(acting) : acting.userId,
          ...(random.chance(0.4) ? { assigneeId: this.#somebodyElse(acting) } : {}),
          ...(random.chance(0.5) ? { parentId: this.#recordId('task', acting) } : {}),
          ...(random.chance(0.3) ? { priority: random.below(5) } : {}),
          ...(random.chance(0.2) ? { tags: ['word'] } : {}),
        };
      case 'note':
        return {
          text: `note ${number}`,
          ownerId: acting.userId,
          ...(random.chance(0.8) ? { taskId: this.#recordId('task', acting) } : {}),
        };
      case 'group':
        return { name: random.chance(0.5) ? `group ${number}` : `group ${random.pick(sharedNames)}` };
      case 'groupSetting':
        return { groupId: this.#recordId('group', acting) ?? missing, visibility: random.pick(['public', 'private']) };
      case 'groupMembership': {
        const userId = this.#somebodyElse(acting);
        return { groupId: this.#recordId('group', acting) ?? missing, userId, role: random.pick(['admin', 'member']) };
      }
      case 'taskShare': {
        const relation = random.pick(['viewer', 'editor', 'blocked']);
        const [taskId, groupId] = [this.#recordId('task', acting), this.#recordId('group', acting)];
        return { taskId: taskId ?? missing, groupId: groupId ?? missing, relation };
      }
      case 'creatorGrant':
        return {
          groupId: this.#recordId('group', acting) ?? missing,
          relation: random.pick(['group_creator', 'task_creator']),
        };
      case 'tag':
        return { name: random.pick(sharedNames) };
      case 'membership':
        return { userId: this.#somebodyElse(acting), role: random.pick(oracleRoles) };
      case 'organization':
      default:
        throw new Error(`nobody creates ${kind}`);
    }
  }

  /** Values that a record may or may not have already. */
  changes(kind: OracleKind, record: OracleRecord, acting: Acting): OracleValues {
    const { random } = this.#world;
    const number = ++this.#made;
    switch (kind) {
      case 'task': {
        const sort = random.below(10);
        if (sort < 3) return { parentId: random.chance(0.3) ? null : this.#recordId('task', acting) };
        if (sort < 6) return { assigneeId: random.chance(0.3) ? null : this.#somebodyElse(acting) };
        return { status: random.pick(taskStatuses), ...(random.chance(0.3) ? { title: `task ${number}` } : {}) };
      }
      case 'note':
        return { text: random.chance(0.9) ? `note ${number}` : (record.values['text'] ?? '') };
      case 'group':
        return random.chance(0.5)
          ? { description: random.pick(sharedNames) }
          : { name: random.chance(0.5) ? `group ${number}` : `group ${random.pick(sharedNames)}` };
      case 'groupSetting':
        return { visibility: random.pick(['public', 'private']) };
      case 'groupMembership':
        return { role: random.pick(['admin', 'member']) };
      case 'membership':
        return { role: random.pick(oracleRoles) };
      case 'organization':
        return random.chance(0.5) ? { isArchived: true } : { description: random.pick(sharedNames) };
      case 'tag':
        return { description: random.pick(sharedNames) };
      case 'taskShare':
      case 'creatorGrant':
      default:
        throw new Error(`nobody changes ${kind}`);
    }
  }
}
