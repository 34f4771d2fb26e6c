import { applyProposal, RefusedWhenWritten } from '#entities/automation/approvals/apply-proposal.ts';
import type { ApprovalWork, Proposal } from '#entities/automation/approvals/approval-work.ts';
import { askingActionsOf } from '#entities/automation/approvals/asking-action.ts';
import { endInstance } from '#entities/automation/approvals/end-instance.ts';
import { laterCaller } from '#entities/automation/approvals/caller-of-submitter.ts';
import { lockInstance } from '#entities/automation/approvals/lock-instance.ts';
import { stepApprovals } from '#entities/automation/approvals/step-approvals.ts';
import { beginInstance } from '#entities/automation/approvals/submit-proposal.ts';
import { proposalKey, proposedValues } from '#entities/automation/proposed-values.ts';
import type { Action, DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import {
  group,
  groupMembership,
  task,
  workflowAssignment,
  workflowDefinition,
  workflowInstance,
  workflowVersion,
} from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { LaterPrincipal } from '#entities/kit/access/later-caller.ts';
import { transactAs } from '../as-person.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** Ways to hold changes of tasks, and to let the workflow take its next step, as rows say it. */
export class ApprovalGround {
  readonly world: World;
  readonly owner: Person;

  constructor(world: World, owner: Person) {
    this.world = world;
    this.owner = owner;
  }

  get organizationId(): string {
    return this.owner.organization.id;
  }

  asServer<T>(work: (work: ApprovalWork) => Promise<T>): Promise<T> {
    const caller = systemCaller('test', this.organizationId);
    return transactAs(this.world.runtime, caller, (unit) => work({ unit, data: unit.data }));
  }

  /** A published definition about tasks, which the gate of the test is. @returns its version */
  publish(actions: readonly Action[], more: Partial<DefinitionDocument> = {}): Promise<RowOf<typeof workflowVersion>> {
    const document = {
      schemaType: 'task',
      triggers: [{ operation: 'UPDATE', fields: ['status'] }],
      actions,
      ...more,
    } satisfies DefinitionDocument;
    const isGate = document.approvalTiming !== 'POST_COMMIT';
    return this.asServer(async ({ data, unit }) => {
      const publishedAt = unit.clock.now();
      const { id: definitionId } = await data.create(workflowDefinition, {
        name: 'Completed tasks',
        recordKind: 'task',
        document,
        status: 'published',
        publishedVersion: 1,
        publishedAt,
      });
      return {
        ...(await data.create(workflowVersion, {
          definitionId,
          number: 1,
          recordKind: 'task',
          document,
          timing: isGate ? 'pre_commit' : 'post_commit',
          topics: [],
          gatedFields: isGate ? ['status'] : [],
          isGate: false,
          publishedAt,
          publisherId: this.owner.user.id,
        })),
      };
    });
  }

  /** A group of these people, to whom every record can be shown. */
  group(...people: Person[]): Promise<string> {
    return this.asServer(async ({ data }) => {
      const { id } = await data.create(group, { name: `group ${newId()}` });
      for (const { user } of people) await data.create(groupMembership, { groupId: id, userId: user.id });
      return id;
    });
  }

  async leaveGroup(groupId: string, { user }: Person): Promise<void> {
    await this.asServer(async ({ data }) => {
      const where = { groupId: { eq: groupId }, userId: { eq: user.id } };
      await data.remove(groupMembership, (await data.findOne(groupMembership, where))?.id ?? '');
    });
  }

  async joinGroup(groupId: string, { user }: Person): Promise<void> {
    await this.asServer(({ data }) => data.create(groupMembership, { groupId, userId: user.id }));
  }

  /** Shows a task to a group. */
  async show(taskId: string, groupId: string): Promise<void> {
    await this.asServer(async ({ data, unit }) => {
      const shares = unit.registry.byKind('taskShare');
      await data.create(shares, { taskId, groupId, relation: 'viewer' });
    });
  }

  task(values: { readonly title?: string; readonly assigneeId?: string } = {}): Promise<RowOf<typeof task>> {
    return this.asServer(async ({ data }) => ({ ...(await data.create(task, { title: 'Held', ...values })) }));
  }

  /** A change that is held, with the instance that decides. @returns the id of the instance */
  async hold(
    version: RowOf<typeof workflowVersion>,
    submitter: Person,
    held: RowOf<typeof task>,
    changes: Readonly<Record<string, unknown>>,
    status: 'draft' | 'submitted' = 'submitted',
  ): Promise<string> {
    const { proposalId, instanceId } = await this.asServer(async (work) => {
      const module = work.unit.registry.byKind('taskProposal');
      const row = (await work.data.create(module, {
        taskId: held.id,
        definitionId: version.definitionId,
        trigger: 'update',
        ...proposedValues({ ...held }, changes),
        submitterId: submitter.user.id,
        status,
        submittedAt: work.unit.clock.now(),
        openKey: proposalKey(version.definitionId, held.id),
      })) as unknown as Proposal;
      const instance = await beginInstance(work, {
        module: work.unit.registry.byKind('task'),
        proposal: row,
        version,
        record: { ...held },
      });
      return { proposalId: row.id, instanceId: instance.id };
    });
    if (proposalId === '') throw new Error('nothing is held');
    return instanceId;
  }

  /** The next step of a workflow of which all actions ask people. */
  async step(instanceId: string): Promise<void> {
    try {
      await this.asServer((work) => this.#step(work, instanceId));
    } catch (error) {
      if (!(error instanceof RefusedWhenWritten)) throw error;
      const { code, message: reason } = error;
      await this.asServer(async (work) => {
        const locked = await lockInstance(work, instanceId);
        if (locked) await endInstance(work, locked, { status: 'rejected', code, reason });
      });
    }
  }

  async #step(work: ApprovalWork, instanceId: string): Promise<void> {
    const locked = await lockInstance(work, instanceId);
    if (!locked || locked.instance.endedAt !== null) return;
    const version = await work.data.get(workflowVersion, locked.instance.versionId);
    const document = version.document as DefinitionDocument;
    const keys = document.actions.map(({ key }) => key);
    const step = await stepApprovals(work, locked, askingActionsOf(document, keys), !locked.held);
    if (step.is === 'waiting') {
      await work.data.update(workflowInstance, instanceId, {
        status: 'waiting',
        waitingUntil: step.wakeAt,
        reason: step.reason,
      });
      return;
    }
    if (step.is === 'gone')
      return endInstance(work, locked, { status: 'cancelled', reason: 'The record was deleted.', code: 'deleted' });
    if (step.is === 'rejected')
      return endInstance(work, locked, { status: 'rejected', reason: step.reason, code: step.code });
    const { config, contextOfCallers } = this.world.runtime;
    const settings = { contextOfCallers, tokenSettings: () => config.current.auth.token.apitokens };
    const callerOf = (principal: LaterPrincipal) => laterCaller(work.unit, principal, settings);
    const applied = locked.held ? await applyProposal(work, locked, { callerOf }) : ({ is: 'applied' } as const);
    if (applied.is === 'applied') return endInstance(work, locked, { status: 'completed', reason: null });
    return endInstance(work, locked, { status: 'rejected', reason: applied.reason, code: applied.code });
  }

  instance(id: string): Promise<RowOf<typeof workflowInstance>> {
    return this.asServer(async ({ data }) => ({ ...(await data.get(workflowInstance, id)) }));
  }

  assignments(instanceId: string): Promise<RowOf<typeof workflowAssignment>[]> {
    return this.asServer(async ({ data }) => {
      const found = await data.find(workflowAssignment, {
        where: { instanceId: { eq: instanceId } },
        orderBy: [{ field: 'id', direction: 'asc' }],
        limit: 1_000,
      });
      return found.map((row) => ({ ...row }));
    });
  }

  /** The assignment of a person that waits for a decision. */
  async openAssignment(instanceId: string, person: Person): Promise<string> {
    const found = (await this.assignments(instanceId)).find(
      ({ userId, status }) => userId === person.user.id && status === 'pending',
    );
    if (!found) throw new Error(`${person.user.displayName} is not asked`);
    return found.id;
  }

  async statusOf(taskId: string): Promise<string> {
    const found = await this.asServer(({ data }) => data.get(task, taskId));
    return found.status;
  }
}
