import { Type, type TProperties } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import {
  actionTypes,
  approvalSubmissionModes,
  documentOperations,
  documentTimings,
  dueOutcomes,
  durationForm,
  targetTypes,
  workflowKinds,
  type ActionType,
} from './definition-document.ts';

/** A part of a document: the form of its own keys. Parts in it are checked by themselves, so that each problem has its own code. */
export interface DocumentPart {
  readonly validator: Validator;
  /** Names of its keys. */
  readonly keys: readonly string[];
  /** Codes of problems with a key: where it is missing, and where its value is wrong; `missing_key` and `invalid_value` for the others. */
  readonly codes: Readonly<Record<string, { readonly missing?: string; readonly wrong?: string }>>;
}

type Codes = DocumentPart['codes'];

function part(properties: TProperties, codes: Codes = {}): DocumentPart {
  const schema = Type.Object(properties, { additionalProperties: false });
  return { validator: Compile(schema), keys: Object.keys(properties), codes };
}

const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>({ type: 'string', enum: words });
const line = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const lines = Type.String({ maxLength: 2_000 });
const expression = Type.String({ minLength: 1, maxLength: 1_000_000 });
const names = (maxItems: number) => Type.Array(line(100), { maxItems });
const someParts = (maxItems: number) => Type.Array(Type.Unknown(), { minItems: 1, maxItems });
const object = Type.Object({});
const duration = Type.String({ pattern: durationForm.source });
const optional = Type.Optional;

export const rootPart = part(
  {
    $schema: optional(lines),
    name: optional(line(160)),
    description: optional(lines),
    schemaType: line(64),
    workflowKind: optional(oneOf(workflowKinds)),
    approvalSubmissionMode: optional(oneOf(approvalSubmissionModes)),
    approvalTiming: optional(oneOf(documentTimings)),
    version: optional(line(64)),
    targets: optional(object),
    triggers: someParts(20),
    conditions: optional(Type.Array(Type.Unknown(), { maxItems: 20 })),
    actions: someParts(50),
    metadata: optional(object),
  },
  {
    schemaType: { missing: 'invalid_workflow_schema', wrong: 'invalid_workflow_schema' },
    workflowKind: { wrong: 'workflow_kind_invalid' },
    approvalSubmissionMode: { wrong: 'approval_submission_mode_invalid' },
    approvalTiming: { wrong: 'approval_timing_invalid' },
    triggers: { missing: 'no_triggers', wrong: 'no_triggers' },
    actions: { missing: 'no_actions', wrong: 'no_actions' },
  },
);

export const selectorPart = part({
  objectTypes: optional(names(20)),
  tagIds: optional(names(100)),
  groupIds: optional(names(100)),
});

export const triggerPart = part(
  {
    operation: oneOf(documentOperations),
    objectType: optional(line(64)),
    fields: optional(names(100)),
    edges: optional(names(20)),
    selector: optional(object),
    expression: optional(expression),
    description: optional(lines),
  },
  {
    operation: { missing: 'trigger_missing_operation', wrong: 'trigger_unsupported_operation' },
    objectType: { wrong: 'trigger_object_type_mismatch' },
    fields: { wrong: 'trigger_empty_field_name' },
    edges: { wrong: 'trigger_empty_edge_name' },
    expression: { wrong: 'expression_invalid' },
  },
);

export const conditionPart = part(
  { expression, description: optional(lines) },
  { expression: { missing: 'condition_missing_expression', wrong: 'expression_invalid' } },
);

/** Types of the reference that no action of this server has, with the way out. */
export const unavailableActions: Readonly<Record<string, string>> = {
  REASSIGN_APPROVAL: 'the person who is asked, or an administrator, reassigns an approval by its own operation',
};

export const actionPart = part(
  {
    key: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    type: oneOf([...actionTypes, ...Object.keys(unavailableActions)]),
    params: optional(object),
    when: optional(expression),
    description: optional(lines),
  },
  {
    key: { missing: 'action_missing_key', wrong: 'action_missing_key' },
    type: { missing: 'action_missing_type', wrong: 'action_unsupported_type' },
    params: { wrong: 'action_invalid_params' },
    when: { wrong: 'expression_invalid' },
  },
);

const decision = {
  targets: someParts(50),
  required: optional(Type.Boolean()),
  label: optional(line(200)),
  required_count: optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
  remind_after: optional(duration),
  due_in: optional(duration),
  on_due: optional(oneOf(dueOutcomes)),
  escalate_to: optional(someParts(50)),
};
const decisionCodes = {
  required: { wrong: 'required_invalid' },
  required_count: { wrong: 'required_count_negative' },
  remind_after: { wrong: 'duration_invalid' },
  due_in: { wrong: 'duration_invalid' },
  on_due: { wrong: 'on_due_invalid' },
  escalate_to: { wrong: 'escalation_targets_required' },
};
const targetsCode = (code: string) => ({ targets: { missing: code, wrong: code } });
const values = Type.Object({}, { minProperties: 1 });
const value = Type.Unknown();

/** Parameters of the actions of each type, and the code for an action without any. */
export const paramsParts: Readonly<Record<ActionType, { readonly part: DocumentPart; readonly missing: string }>> = {
  REQUEST_APPROVAL: {
    part: part(
      { ...decision, fields: optional(names(100)) },
      {
        ...decisionCodes,
        ...targetsCode('approval_targets_required'),
        fields: { wrong: 'approval_field_required' },
        edges: { wrong: 'approval_edges_not_supported' },
      },
    ),
    missing: 'approval_params_required',
  },
  REQUEST_REVIEW: {
    part: part(decision, { ...decisionCodes, ...targetsCode('review_targets_required') }),
    missing: 'review_params_required',
  },
  NOTIFY: {
    part: part(
      { targets: someParts(50), title: value, body: optional(value) },
      { ...targetsCode('notify_targets_required'), title: { missing: 'notify_title_required' } },
    ),
    missing: 'notify_params_required',
  },
  SEND_EMAIL: {
    part: part(
      { targets: someParts(50), subject: value, body: value },
      {
        ...targetsCode('email_targets_required'),
        subject: { missing: 'email_subject_required' },
        body: { missing: 'email_body_required' },
      },
    ),
    missing: 'email_params_required',
  },
  WEBHOOK: {
    part: part(
      { endpoint_id: line(26), payload: optional(object) },
      {
        endpoint_id: { missing: 'webhook_endpoint_required', wrong: 'webhook_endpoint_required' },
        payload: { wrong: 'webhook_payload_invalid' },
        url: { wrong: 'webhook_url_unsupported' },
      },
    ),
    missing: 'webhook_params_required',
  },
  INTEGRATION: {
    part: part(
      { integration_id: line(26), operation: line(64), input: optional(object) },
      {
        integration_id: { missing: 'integration_required', wrong: 'integration_required' },
        operation: { missing: 'integration_operation_required', wrong: 'integration_operation_required' },
        input: { wrong: 'integration_input_invalid' },
      },
    ),
    missing: 'integration_params_required',
  },
  UPDATE_FIELD: {
    part: part(
      { updates: values },
      { updates: { missing: 'field_update_updates_required', wrong: 'field_update_updates_required' } },
    ),
    missing: 'field_update_params_required',
  },
  CREATE_OBJECT: {
    part: part(
      { object_type: line(64), fields: Type.Object({}) },
      {
        object_type: { missing: 'create_object_type_required', wrong: 'create_object_type_required' },
        fields: { missing: 'create_object_fields_required', wrong: 'create_object_fields_required' },
      },
    ),
    missing: 'create_object_params_required',
  },
};

export const targetPart = part(
  { type: oneOf(targetTypes), id: optional(Type.String()), resolver_key: optional(Type.String()) },
  { type: { missing: 'target_invalid_type', wrong: 'target_invalid_type' } },
);
