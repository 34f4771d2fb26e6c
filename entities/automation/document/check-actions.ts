import { didYouMean } from '../../kit/base/did-you-mean.ts';
import { isId } from '../../kit/base/ids.ts';
import { notAnId, oneOf } from '../../kit/base/schema-problem.ts';
import { snakeCase } from '../../kit/base/snake-case.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { isRequired, writableFields } from '../../kit/model/exposure.ts';
import { fieldNamed, gateableFields } from './automated-kinds.ts';
import type { CheckContext } from './check-context.ts';
import { checkPart } from './check-part.ts';
import { checkTargets } from './check-targets.ts';
import { checkData, checkFieldValue, checkText } from './check-values.ts';
import { actionTypes, durationMs, type ActionType } from './definition-document.ts';
import { pointerPart } from './definition-problem.ts';
import { actionPart, paramsParts, unavailableActions } from './document-schema.ts';

type Keys = Readonly<Record<string, unknown>>;

/** Facts about the whole document that decide about its actions. */
export interface ActionSurroundings {
  readonly operations: ReadonlySet<unknown>;
  /** Approvals hold changes. */
  readonly isBeforeCommit: boolean;
}

/** An action whose parameters have the right form. */
export interface CheckedAction {
  readonly type: ActionType;
  readonly params: Keys;
  readonly path: string;
}

export function checkActions(context: CheckContext, given: unknown, around: ActionSurroundings): CheckedAction[] {
  if (!Array.isArray(given)) return [];
  const keys = new Map<unknown, number>();
  return given.flatMap((action, index) => {
    const path = `/actions/${index}`;
    const part = checkPart(actionPart, action, path, context.problems);
    if (!part) return [];
    const first = keys.get(part['key']);
    if (first !== undefined)
      context.problems.add(
        `${path}/key`,
        'action_duplicate_key',
        `is the key of the action ${first} as well: each action needs its own`,
      );
    else if (part['key'] !== undefined) keys.set(part['key'], index);
    if (typeof part['when'] === 'string')
      context.expressions.push({
        path: `${path}/when`,
        expression: part['when'],
        usage: 'action',
        expected: 'bool',
      });
    return checkAction(context, part, path, around) ?? [];
  });
}

function checkAction(
  context: CheckContext,
  { type, params: given }: Keys,
  path: string,
  around: ActionSurroundings,
): CheckedAction | undefined {
  const { problems } = context;
  if (typeof type !== 'string') return undefined;
  const unavailable = unavailableActions[type];
  if (unavailable !== undefined) {
    problems.add(`${path}/type`, 'action_not_available', `${type} is not available: ${unavailable}`);
    return undefined;
  }
  const known = actionTypes.find((word) => word === type);
  if (known === undefined) return undefined;
  const { part, missing } = paramsParts[known];
  if (given === undefined) {
    problems.add(`${path}/params`, missing, `is required: an object with ${part.keys.join(', ')}`);
    return undefined;
  }
  const params = checkPart(part, given, `${path}/params`, problems);
  if (!params) return undefined;
  checks[known](context, params, `${path}/params`, around);
  return { type: known, params, path };
}

type CheckParams = (context: CheckContext, params: Keys, path: string, around: ActionSurroundings) => void;

const checks: Readonly<Record<ActionType, CheckParams>> = {
  REQUEST_APPROVAL: (context, params, path, around) => {
    checkDecision(context, params, path);
    checkGatedFields(context, params, path, around);
    if (params['on_due'] === 'APPROVE')
      context.problems.add(
        `${path}/on_due`,
        'on_due_invalid',
        'time alone never approves a change: ESCALATE or REJECT; APPROVE is for reviews',
      );
  },
  REQUEST_REVIEW: checkDecision,
  NOTIFY: (context, { targets, title, body }, path) => {
    checkTargets(context, targets, `${path}/targets`);
    checkText(context, title, `${path}/title`, 200);
    checkText(context, body, `${path}/body`, 5_000);
  },
  SEND_EMAIL: (context, { targets, subject, body }, path) => {
    checkTargets(context, targets, `${path}/targets`);
    checkText(context, subject, `${path}/subject`, 200);
    checkText(context, body, `${path}/body`, 5_000);
  },
  WEBHOOK: (context, { endpoint_id: id, payload }, path) => {
    if (isId(id))
      context.references.push({
        path: `${path}/endpoint_id`,
        kind: 'webhookEndpoint',
        id,
        code: 'webhook_endpoint_not_found',
      });
    else if (id !== undefined) context.problems.add(`${path}/endpoint_id`, 'webhook_endpoint_required', notAnId(id));
    checkData(context, payload, `${path}/payload`);
  },
  INTEGRATION: (context, { integration_id: id, operation, input }, path) => {
    if (isId(id)) {
      context.references.push({
        path: `${path}/integration_id`,
        kind: 'integration',
        id,
        code: 'integration_not_found',
      });
      if (typeof operation === 'string')
        context.operations.push({ path: `${path}/operation`, integrationId: id, operation });
    } else if (id !== undefined) context.problems.add(`${path}/integration_id`, 'integration_required', notAnId(id));
    checkData(context, input, `${path}/input`);
  },
  UPDATE_FIELD: (context, { updates = {} }, path, { operations }) => {
    if (operations.size === 1 && operations.has('DELETE'))
      context.problems.add(path, 'field_update_of_deleted', 'the record is deleted when the action runs: remove it');
    for (const [name, value] of Object.entries(updates as Keys)) {
      const place = `${path}/updates/${pointerPart(name)}`;
      const field = eligibleField(context, name, place, 'field_not_eligible');
      if (field !== undefined) checkFieldValue(context, { module: context.module, field }, value, place);
    }
  },
  CREATE_OBJECT: checkNewRecord,
};

function checkDecision(context: CheckContext, params: Keys, path: string): void {
  checkTargets(context, params['targets'], `${path}/targets`);
  checkTargets(context, params['escalate_to'], `${path}/escalate_to`);
  const [due, remind] = [params['due_in'], params['remind_after']].map((text) =>
    typeof text === 'string' ? durationMs(text) : undefined,
  );
  if (due !== undefined && remind !== undefined && remind >= due)
    context.problems.add(`${path}/remind_after`, 'duration_invalid', 'must be shorter than due_in');
  // A malformed due_in is not among the params, and has its problem already.
  const isDueMalformed = context.problems.found.some((problem) => problem.path === `${path}/due_in`);
  if (params['on_due'] !== undefined && params['due_in'] === undefined && !isDueMalformed)
    context.problems.add(`${path}/due_in`, 'duration_invalid', 'is required with on_due');
  const count = params['required_count'];
  if (params['required'] === false && typeof count === 'number' && count > 1)
    context.problems.add(
      `${path}/required_count`,
      'required_count_invalid',
      'must be absent or 1 where "required" is false: one approval is enough',
    );
}

function checkGatedFields(context: CheckContext, params: Keys, path: string, around: ActionSurroundings): void {
  const { problems, module } = context;
  const fields = Array.isArray(params['fields']) ? (params['fields'] as string[]) : undefined;
  const holdsUpdates = around.isBeforeCommit && around.operations.has('UPDATE');
  if (holdsUpdates && params['fields'] === undefined)
    problems.add(
      `${path}/fields`,
      'approval_field_required',
      `is required: fields whose changes wait for the approval, of ${eligibleNames(module)}`,
    );
  else if (holdsUpdates && fields?.length === 0)
    problems.add(
      `${path}/fields`,
      'approval_field_required',
      `must name a field at least, of ${eligibleNames(module)}`,
    );
  for (const [index, name] of (fields ?? []).entries())
    eligibleField(context, name, `${path}/fields/${index}`, 'approval_field_not_eligible');
}

function eligibleNames(module: EntityModule): string {
  return (gateableFields(module) ?? []).map(snakeCase).join(', ');
}

/** The field with a name that definitions can hold and set; undefined after a problem. */
function eligibleField({ module, problems }: CheckContext, name: string, path: string, code: string) {
  const field = fieldNamed(module, name);
  const eligible = gateableFields(module) ?? [];
  if (field !== undefined && eligible.includes(field)) return field;
  const near = didYouMean(name, eligible.map(snakeCase));
  const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
  problems.add(
    path,
    code,
    `is not a field of a ${module.typeName} that workflows can hold or set${hint}: one of ${eligibleNames(module)}`,
  );
  return undefined;
}

/** Whether a workflow can create records of a kind: one that callers create, without a further proof or a secret in the answer. */
function isCreatable({ mutate = [], tenancy, needsSession, needsProof, closedToDelegates }: EntityModule): boolean {
  return mutate.includes('create') && tenancy === 'organization' && !needsSession && !needsProof && !closedToDelegates;
}

function checkNewRecord(context: CheckContext, { object_type: name, fields = {} }: Keys, path: string): void {
  const { registry, problems } = context;
  if (typeof name !== 'string') return;
  const creatable = registry.modules.filter(isCreatable);
  const module = creatable.find(({ kind, typeName }) => name === kind || name === typeName);
  if (!module) {
    const names = creatable.map(({ typeName }) => typeName);
    const near = didYouMean(name, names);
    problems.add(
      `${path}/object_type`,
      'create_object_type_unknown',
      `is not a kind whose records workflows create${near === undefined ? '' : ` (did you mean "${near}"?)`}: ${oneOf(names)}`,
    );
    return;
  }
  const writable = new Map(writableFields(module).map(([field]) => [snakeCase(field), field]));
  for (const [given, value] of Object.entries(fields as Keys)) {
    const place = `${path}/fields/${pointerPart(given)}`;
    const field = writable.get(given);
    if (field !== undefined) {
      checkFieldValue(context, { module, field }, value, place);
      continue;
    }
    const near = didYouMean(given, writable.keys());
    const remedy = near === undefined ? `one of ${[...writable.keys()].join(', ')}` : `did you mean "${near}"?`;
    problems.add(place, 'create_object_field_unknown', `is not a field of a new ${module.typeName}: ${remedy}`);
  }
  for (const [field, declared] of writableFields(module))
    if (isRequired(declared) && !Object.hasOwn(fields as Keys, snakeCase(field)))
      problems.add(
        `${path}/fields/${snakeCase(field)}`,
        'create_object_fields_required',
        `is required for a new ${module.typeName}`,
      );
}
