import { describedKeyword } from '../kit/model/described-schema.ts';
import { choice, json, text } from '../kit/model/fields.ts';
import type { DefinitionDocument } from './document/definition-document.ts';

/** Bytes that a definition document can have at most, whatever `ormconfig.maxschemaimportsize` allows. */
const maxDocumentBytes = 1_000_000;

/** A valid document, for the description of the API. */
const exampleDocument: DefinitionDocument = {
  schemaType: 'Task',
  workflowKind: 'NOTIFICATION',
  triggers: [{ operation: 'UPDATE', fields: ['status'] }],
  conditions: [{ expression: 'object.priority >= 50' }],
  actions: [
    {
      key: 'notify_assignee',
      type: 'NOTIFY',
      params: {
        targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }],
        title: { expr: "object.title + ' is ' + object.status" },
      },
    },
  ],
};

/** Keywords of a document that is checked without being saved, for the description of the API: it can be anything. */
export const anyDocument = { [describedKeyword]: { examples: [exampleDocument] } } as const;

/** The document of a workflow definition (docs/workflows.md), as draft or as published. */
export const documentField = (description: string) => {
  const { examples } = anyDocument[describedKeyword];
  const field = json(description, { maxBytes: maxDocumentBytes, exposed: 'read-write', examples });
  return { ...field, schema: { ...field.schema, [describedKeyword]: { type: 'object', examples } } };
};

/** Operations on records that start workflows, as documents name them. */
export const triggerOperations = ['create', 'update', 'delete'] as const;
export type TriggerOperation = (typeof triggerOperations)[number];

/** When approvals take place: before a change is written, so that it is held, or afterwards, as reviews. */
export const approvalTimings = ['pre_commit', 'post_commit'] as const;

export const timingField = choice(
  'When approvals take place: pre_commit holds the change until it is approved; post_commit reviews a change that is written.',
  approvalTimings,
  { default: 'pre_commit', exposed: 'read', lists: ['filter'] },
);

/** Kind of the records that a workflow is about. */
export const recordKindField = {
  ...text('Kind of the records, such as `task`.', { max: 64, immutable: true, exposed: 'read', lists: ['filter'] }),
  naming: 'kind',
} as const;
