/**
 * The document of a workflow definition, as administrators write it (docs/workflows.md). Its keys and its words in capitals are those of the
 * document; names of fields are in snake_case, as in expressions.
 */
export interface DefinitionDocument {
  /** For editors that check the document by its schema. */
  readonly $schema?: string;
  readonly name?: string;
  readonly description?: string;
  /** Kind of the records: `Task` or `task`. */
  readonly schemaType: string;
  /** Sort of the workflow, for lists: it changes nothing about how the workflow runs. */
  readonly workflowKind?: WorkflowKind;
  /** Default: AUTO_SUBMIT. MANUAL_SUBMIT: a held change is a draft until somebody submits it. */
  readonly approvalSubmissionMode?: ApprovalSubmissionMode;
  /** Default: PRE_COMMIT, which holds a change until it is approved. POST_COMMIT: approvals are reviews of a change that is written. */
  readonly approvalTiming?: ApprovalTiming;
  /** Free text; versions that are in force have numbers. */
  readonly version?: string;
  /** Records that the workflow is about; each trigger narrows it further. */
  readonly targets?: Selector;
  /** The definition starts when one of them matches. */
  readonly triggers: readonly Trigger[];
  /** All of them must be true. */
  readonly conditions?: readonly Condition[];
  /** In the order in which they run. */
  readonly actions: readonly Action[];
  /** For programs of customers. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const workflowKinds = ['APPROVAL', 'LIFECYCLE', 'NOTIFICATION'] as const;
export type WorkflowKind = (typeof workflowKinds)[number];

export const approvalSubmissionModes = ['AUTO_SUBMIT', 'MANUAL_SUBMIT'] as const;
export type ApprovalSubmissionMode = (typeof approvalSubmissionModes)[number];

export const documentTimings = ['PRE_COMMIT', 'POST_COMMIT'] as const;
export type ApprovalTiming = (typeof documentTimings)[number];

export const documentOperations = ['CREATE', 'UPDATE', 'DELETE'] as const;
export type DocumentOperation = (typeof documentOperations)[number];

/** All parts that it has must match; in one part, one of the values is enough. An absent or empty part matches every record. */
export interface Selector {
  readonly objectTypes?: readonly string[];
  /** Ids of tags; the record has their names among its search tags. */
  readonly tagIds?: readonly string[];
  /** Ids of groups with which the record is shared or from which it is blocked. */
  readonly groupIds?: readonly string[];
}

/** A change matches if all parts match. `fields` and `edges` together are one part: one changed name is enough. */
export interface Trigger {
  readonly operation: DocumentOperation;
  /** Kind of the records: that of the document. */
  readonly objectType?: string;
  readonly fields?: readonly string[];
  /** Names of links to other kinds, such as `groups`. */
  readonly edges?: readonly string[];
  readonly selector?: Selector;
  /** CEL with a bool. */
  readonly expression?: string;
  readonly description?: string;
}

export interface Condition {
  /** CEL with a bool. */
  readonly expression: string;
  readonly description?: string;
}

interface ActionBase {
  /** Unique in the document. */
  readonly key: string;
  /** CEL with a bool: false skips the action. */
  readonly when?: string;
  readonly description?: string;
}

export interface ApprovalAction extends ActionBase {
  readonly type: 'REQUEST_APPROVAL';
  readonly params: ApprovalParams;
}
export interface ReviewAction extends ActionBase {
  readonly type: 'REQUEST_REVIEW';
  readonly params: ReviewParams;
}
export interface NotifyAction extends ActionBase {
  readonly type: 'NOTIFY';
  readonly params: NotifyParams;
}
export interface EmailAction extends ActionBase {
  readonly type: 'SEND_EMAIL';
  readonly params: EmailParams;
}
export interface WebhookAction extends ActionBase {
  readonly type: 'WEBHOOK';
  readonly params: WebhookParams;
}
export interface IntegrationAction extends ActionBase {
  readonly type: 'INTEGRATION';
  readonly params: IntegrationParams;
}
export interface UpdateFieldAction extends ActionBase {
  readonly type: 'UPDATE_FIELD';
  readonly params: UpdateFieldParams;
}
export interface CreateObjectAction extends ActionBase {
  readonly type: 'CREATE_OBJECT';
  readonly params: CreateObjectParams;
}

export type Action =
  | ApprovalAction
  | ReviewAction
  | NotifyAction
  | EmailAction
  | WebhookAction
  | IntegrationAction
  | UpdateFieldAction
  | CreateObjectAction;

export const actionTypes = [
  'REQUEST_APPROVAL',
  'REQUEST_REVIEW',
  'NOTIFY',
  'SEND_EMAIL',
  'WEBHOOK',
  'INTEGRATION',
  'UPDATE_FIELD',
  'CREATE_OBJECT',
] as const satisfies readonly Action['type'][];
export type ActionType = (typeof actionTypes)[number];

/** Time from the request for a decision: a whole number with `d`, `h`, `m` or `s`. */
export type DocumentDuration = string;

export const dueOutcomes = ['ESCALATE', 'REJECT', 'APPROVE'] as const;
export type DueOutcome = (typeof dueOutcomes)[number];

interface DecisionParams {
  readonly targets: readonly Target[];
  /** Default: true. false: one approval is enough, and a rejection ends nothing. */
  readonly required?: boolean;
  /** Question in one line. */
  readonly label?: string;
  /** Number of approvals that are needed. Default: 0, which is everybody who is asked. */
  readonly required_count?: number;
  readonly remind_after?: DocumentDuration;
  readonly due_in?: DocumentDuration;
  /** Default: ESCALATE. APPROVE is for reviews only. */
  readonly on_due?: DueOutcome;
  /** Asked when nobody can decide or the decision is overdue; default: owners and administrators. */
  readonly escalate_to?: readonly Target[];
}

export interface ApprovalParams extends DecisionParams {
  /** Fields whose changes are held; absent in a definition whose only trigger is DELETE. */
  readonly fields?: readonly string[];
  readonly on_due?: Exclude<DueOutcome, 'APPROVE'>;
}

export type ReviewParams = DecisionParams;

/** A literal value or an expression. An object with only the key `expr` is an expression. */
export type Value<Literal = unknown> = Literal | { readonly expr: string };

export interface NotifyParams {
  readonly targets: readonly Target[];
  readonly title: Value<string>;
  readonly body?: Value<string>;
}

export interface EmailParams {
  /** People of the organization: workflows send no e-mail to other addresses. */
  readonly targets: readonly Target[];
  readonly subject: Value<string>;
  readonly body: Value<string>;
}

export interface WebhookParams {
  /** Id of a webhook endpoint of the organization. */
  readonly endpoint_id: string;
  readonly payload?: Value<Readonly<Record<string, Value>>>;
}

export interface IntegrationParams {
  /** Id of a connected integration of the organization. */
  readonly integration_id: string;
  /** Name of an operation of its definition, such as messageSend. */
  readonly operation: string;
  readonly input?: Value<Readonly<Record<string, Value>>>;
}

export interface UpdateFieldParams {
  /** New values by the names of the fields. */
  readonly updates: Readonly<Record<string, Value>>;
}

export interface CreateObjectParams {
  readonly object_type: string;
  readonly fields: Readonly<Record<string, Value>>;
}

export const targetTypes = ['USER', 'GROUP', 'ROLE', 'RESOLVER'] as const;

export type Target =
  | { readonly type: 'USER' | 'GROUP'; readonly id: string }
  /** `id` is a role of the organization, such as `admin`. */
  | { readonly type: 'ROLE'; readonly id: string }
  /** `resolver_key`: `OBJECT_CREATOR`, `OWNER`, or a field that names a person, such as `ASSIGNEE`. */
  | { readonly type: 'RESOLVER'; readonly resolver_key: string };

/** Whether a value of a document is an expression. */
export function isExpression(value: unknown): value is { readonly expr: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 1 &&
    typeof (value as { expr?: unknown }).expr === 'string'
  );
}

const unitsMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

export const durationForm = /^([1-9]\d{0,5})([dhms])$/;

/** Milliseconds of a duration of a document; undefined for a text of another form. */
export function durationMs(duration: DocumentDuration): number | undefined {
  const [, count, unit] = durationForm.exec(duration) ?? [];
  return count && unit ? Number(count) * unitsMs[unit as keyof typeof unitsMs] : undefined;
}
