import { expect } from 'vitest';
import type { Action, ApprovalAction, DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { task } from '#entities/index.ts';
import { eventually } from '../eventually.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';
import type { World } from '../world.ts';
import { ApprovalGround } from './approval-ground.ts';

/** A person with a client that is signed in as them. */
export interface Colleague extends Person {
  readonly client: TestClient;
}

type Row = TestAnswer['body'];
type Params = Partial<ApprovalAction['params']>;

interface Published {
  readonly definitionId: string;
}

const names = ['owner', 'ann', 'ben', 'cy', 'sam'] as const;

/**
 * An organization in which `ann` and `ben` are the group that is asked about changes of a task of `sam`; `cy` sees the task and is not asked.
 * Everything goes through the API and the workflows that follow.
 */
export class ApprovalTeam {
  readonly world: World;
  readonly ground: ApprovalGround;
  readonly owner: Colleague;
  readonly ann: Colleague;
  readonly ben: Colleague;
  readonly cy: Colleague;
  readonly sam: Colleague;
  readonly groupId: string;
  readonly taskId: string;

  private constructor(
    ground: ApprovalGround,
    people: Readonly<Record<(typeof names)[number], Colleague>>,
    { groupId, taskId }: { readonly groupId: string; readonly taskId: string },
  ) {
    this.world = ground.world;
    this.ground = ground;
    const { owner, ann, ben, cy, sam } = people;
    [this.owner, this.ann, this.ben, this.cy, this.sam] = [owner, ann, ben, cy, sam];
    this.groupId = groupId;
    this.taskId = taskId;
  }

  static async open(world: World): Promise<ApprovalTeam> {
    const owner = await buildPerson(world);
    const people: Partial<Record<(typeof names)[number], Colleague>> = {};
    for (const name of names) {
      const person =
        name === 'owner' ? owner : await buildPerson(world, { organization: owner.organization, role: 'member' });
      people[name] = { ...person, client: await signedIn(world, person) };
    }
    const all = people as Record<(typeof names)[number], Colleague>;
    const ground = new ApprovalGround(world, owner);
    const groupId = await ground.group(all.ann, all.ben);
    const made = await all.sam.client.post('/v1/tasks', { title: 'Rotate the keys', assignee_id: all.sam.user.id });
    const taskId = made.body.id as string;
    for (const viewers of [groupId, await ground.group(all.cy)]) await ground.show(taskId, viewers);
    return new ApprovalTeam(ground, all, { groupId, taskId });
  }

  get group() {
    return { type: 'GROUP', id: this.groupId } as const;
  }

  user({ user }: Person) {
    return { type: 'USER', id: user.id } as const;
  }

  /** Publishes a definition that asks the group before the status of a task changes, and runs other actions later. */
  async publish(
    params: Params = {},
    changes: Partial<DefinitionDocument> = {},
    later: readonly Action[] = [],
  ): Promise<Published> {
    const { actions, ...rest } = this.#document(params, changes);
    const given = { name: 'Four eyes', record_kind: 'task', document: { ...rest, actions: [...actions, ...later] } };
    const { status, body } = await this.owner.client.post('/v1/workflow-definitions', given);
    expect(status, JSON.stringify(body)).toBe(201);
    await this.#publish(body.id);
    return { definitionId: body.id };
  }

  /** Publishes another version of a definition. */
  async republish({ definitionId }: Published, params: Params): Promise<void> {
    const payload = { document: this.#document(params, {}) };
    const url = `/v1/workflow-definitions/${definitionId}`;
    const { status, body } = await this.owner.client.mutate({ method: 'PATCH', url, payload });
    expect(status, JSON.stringify(body)).toBe(200);
    await this.#publish(definitionId);
  }

  async #publish(id: string): Promise<void> {
    const { status, body } = await this.owner.client.post(`/v1/workflow-definitions/${id}/publish`);
    expect(status, JSON.stringify(body)).toBe(200);
  }

  #document(params: Params, document: Partial<DefinitionDocument>): DefinitionDocument {
    const given = { fields: ['status'], targets: [this.group], required_count: 2, ...params };
    return {
      schemaType: 'task',
      triggers: [{ operation: 'UPDATE', fields: ['status'] }],
      actions: [{ key: 'agree', type: 'REQUEST_APPROVAL', params: given }],
      ...document,
    };
  }

  change(payload: object = { status: 'completed' }, client = this.sam.client): Promise<TestAnswer> {
    return client.mutate({ method: 'PATCH', url: `/v1/tasks/${this.taskId}`, payload });
  }

  /** A change that is held. @returns its proposal */
  async held(payload?: object, client = this.sam.client): Promise<Row> {
    const answer = await this.change(payload, client);
    expect([answer.status, answer.body.held], JSON.stringify(answer.body)).toMatchObject([202, [{ field: 'status' }]]);
    return this.proposal();
  }

  /** The newest proposal about the task. */
  async proposal(): Promise<Row> {
    const { body } = await this.owner.client.get(`/v1/task-proposals?task_id=${this.taskId}`);
    return body.data.at(-1);
  }

  async task(): Promise<Row> {
    return (await this.owner.client.get(`/v1/tasks/${this.taskId}`)).body;
  }

  /** Actor of the last change of the task. */
  async writer(): Promise<string> {
    return (await this.ground.asServer(({ data }) => data.get(task, this.taskId))).updatedBy;
  }

  async giveRole({ user }: Person, role: string): Promise<void> {
    const { client } = this.owner;
    const { body } = await client.get(`/v1/memberships?user_id=${user.id}`);
    const url = `/v1/memberships/${body.data[0].id}`;
    const { status, body: changed } = await client.mutate({ method: 'PATCH', url, payload: { role } });
    expect(status, JSON.stringify(changed)).toBe(200);
  }

  /** The instance of a definition, as soon as it is in a status. */
  instance({ definitionId }: Published, status: string): Promise<Row> {
    return eventually(async () => {
      const { body } = await this.owner.client.get(`/v1/workflow-instances?definition_id=${definitionId}`);
      return (body.data as Row[]).find((one) => one['status'] === status);
    });
  }

  /** Assignment of a person, as soon as they are asked. @param before ids of former ones */
  asked({ client }: Colleague, before: readonly string[] = []): Promise<Row> {
    return eventually(async () => {
      const { body } = await client.get('/v1/workflow-assignments/mine');
      return (body.data as Row[]).find(({ id }) => !before.includes(id));
    });
  }

  async isAsked({ client }: Colleague): Promise<boolean> {
    return (await client.get('/v1/workflow-assignments/mine')).body.data.length > 0;
  }

  decide({ client }: Colleague, id: string, verb: string, body: object = {}): Promise<TestAnswer> {
    return client.post(`/v1/workflow-assignments/${id}/${verb}`, body);
  }

  async approve(...people: readonly Colleague[]): Promise<void> {
    for (const person of people) {
      const answer = await this.decide(person, (await this.asked(person))['id'], 'approve');
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    }
  }

  /** Assignments of a person, the oldest first, by the rows. */
  async assignmentsOf(instanceId: string, { user }: Person) {
    return (await this.ground.assignments(instanceId)).filter(({ userId }) => userId === user.id);
  }

  /** Sorts of the entries of the journal, in their order. */
  async journal(instanceId: string): Promise<string[]> {
    const { body } = await this.owner.client.get(`/v1/workflow-events?instance_id=${instanceId}&first=100`);
    return (body.data as Row[]).map(({ type }) => type);
  }

  /** Topics of the notifications of a person. */
  async topics({ client }: Colleague): Promise<string[]> {
    return (await client.get('/v1/notifications/inbox')).body.data.map(({ topic }: Row) => topic);
  }

  /** The workflow of an instance, as Temporal has it. */
  run(instanceId: string) {
    return this.world.runtime.temporal.client.workflow.getHandle(`${this.world.name}/workflow/${instanceId}`);
  }

  /** Events of all runs of the workflow of an instance. An update that comes after the last step begins another run. */
  async history(instanceId: string) {
    const { workflow } = this.world.runtime.temporal.client;
    const query = `WorkflowId = '${this.run(instanceId).workflowId}'`;
    const histories = [];
    for await (const { workflowId, runId } of workflow.list({ query }))
      histories.push(...((await workflow.getHandle(workflowId, runId).fetchHistory()).events ?? []));
    return histories;
  }

  /** Names of the updates that the workflow of an instance has got, in any order. */
  async updates(instanceId: string): Promise<string[]> {
    const names: string[] = [];
    for (const { workflowExecutionUpdateAcceptedEventAttributes: accepted } of await this.history(instanceId)) {
      const name = accepted?.acceptedRequest?.input?.name;
      if (name) names.push(name);
    }
    return names;
  }
}
