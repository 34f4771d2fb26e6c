import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';

type Row = TestAnswer['body'];

/** An action on an assignment or an instance: its result, or the code of its refusal. */
export interface WorkflowActs {
  /** @param verb such as `approve` @returns id of the assignment, or the code */
  readonly onAssignment: (client: TestClient, id: string, verb: Verb, input?: object) => Promise<string>;
  /** @returns `ended`, or the code */
  readonly onInstance: (client: TestClient, id: string, verb: EndingVerb, input: object) => Promise<string>;
  /** @returns for each id `ended`, or the code */
  readonly onInstances: (
    client: TestClient,
    ids: readonly string[],
    verb: EndingVerb,
    input: object,
  ) => Promise<readonly string[]>;
}

type Verb = 'approve' | 'reject' | 'requestChanges' | 'delegate' | 'reassign';
type EndingVerb = 'cancel' | 'forceComplete';

const dashed = (verb: string) => snakeCase(verb).replaceAll('_', '-');
const snake = (input: object) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [snakeCase(name), value]));

const results = (data: Row[]) => data.map(({ code }) => (code as string | null) ?? 'ended');

const rest: WorkflowActs = {
  onAssignment: async (client, id, verb, input = {}) => {
    const { body } = await client.post(`/v1/workflow-assignments/${id}/${dashed(verb)}`, snake(input));
    return body.code ?? body.id;
  },
  onInstance: async (client, id, verb, input) => {
    const { body } = await client.post(`/v1/workflow-instances/${id}/${dashed(verb)}`, snake(input));
    return body.code ?? 'ended';
  },
  onInstances: async (client, ids, verb, input) => {
    const { body } = await client.post(`/v1/workflow-instances/${dashed(verb)}`, { ids, ...snake(input) });
    return results(body.data);
  },
};

const types: Readonly<Record<string, string>> = {
  ids: '[ID!]!',
  note: 'String',
  reason: 'String!',
  isApplied: 'Boolean',
};

/** Calls a mutation with its arguments as variables. */
function mutation(client: TestClient, field: string, given: object, selection: string) {
  const declared = Object.keys(given).map((name) => `$${name}: ${types[name] ?? 'ID!'}`);
  const passed = Object.keys(given).map((name) => `${name}: $${name}`);
  return client.graphql(`mutation (${declared.join(', ')}) { ${field}(${passed.join(', ')}) { ${selection} } }`, given);
}

const graphql: WorkflowActs = {
  onAssignment: async (client, id, verb, input = {}) => {
    const field = `${verb}WorkflowAssignment`;
    const { data, errors } = await mutation(client, field, { id, ...input }, 'workflowAssignment { id }');
    return errors ? errors[0].extensions.code : data[field].workflowAssignment.id;
  },
  onInstance: async (client, id, verb, input) => {
    const field = `${verb}WorkflowInstance`;
    const { data, errors } = await mutation(client, field, { id, ...input }, 'workflowInstance { endedAt }');
    return errors ? errors[0].extensions.code : data[field].workflowInstance.endedAt && 'ended';
  },
  onInstances: async (client, ids, verb, input) => {
    const field = `${verb}WorkflowInstances`;
    const { data, errors } = await mutation(client, field, { ids, ...input }, 'id code message');
    if (errors) throw new Error(JSON.stringify(errors));
    return results(data[field]);
  },
};

/** The actions of people on workflows, by REST and by GraphQL. */
export const workflowActs: readonly (readonly [string, WorkflowActs])[] = [
  ['REST', rest],
  ['GraphQL', graphql],
];
