import { Type } from 'typebox';
import { fieldNamed } from '#entities/automation/document/automated-kinds.ts';
import { triggerOperations } from '#entities/automation/definition-fields.ts';
import type { ChangeFacts } from '#entities/automation/document/expression-values.ts';
import { tryChange } from '#entities/automation/trials/try-change.ts';
import { maxDryRunDays, workflowDryRun } from '#entities/automation/workflow-dry-run.ts';
import { AppError, type FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { actorOf } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { differences } from '#entities/kit/model/recorded-changes.ts';
import { normalized, problemOf } from '#entities/kit/model/input.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { lockedDefinition, requireEngine, validDocument } from '../../people/saved-definition.ts';
import { oneOf, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

type Values = Readonly<Record<string, unknown>>;

const hourMs = 3_600_000;

export const dryRunWorkflowDefinition = defineAction({
  name: 'dryRunWorkflowDefinition',
  url: '/v1/workflow-definitions/:id/dry-run',
  tag: 'Workflow definitions',
  summary: 'Try a workflow definition over past changes',
  description: `Tries the draft for every change of the last days, up to ${maxDryRunDays}, and writes nothing but the record of the dry run: what would have started, who would have been asked, the cost, and errors. Its counts say how far it is.`,
  acceptsSingleSignOn: true,
  limits: [
    {
      per: 'organization',
      uses: 20,
      windowMs: hourMs,
      exceeded: 'The organization has asked for many dry runs in this hour',
    },
  ],
  input: {
    id: idSchema('Id of the definition.'),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxDryRunDays, description: 'Days of history; default: 30.' }),
    ),
  },
  answer: { workflowDryRun: recordOf(workflowDryRun) },
  status: 202,
  errors: ['not_found', 'permission_denied', 'definition_invalid', 'rule_violated', 'workflows_disabled'],
  run: async (asking, { id, days = 30 }) => {
    requireEngine(asking);
    const { unit } = asking;
    if (!unit.options.recordHistory)
      throw new AppError('rule_violated', 'There is no history to try the definition with: db.enablehistory is off.');
    const held = await lockedDefinition(asking, id);
    await validDocument(asking, held);
    const { id: definitionId, recordKind, document } = held;
    const created = await unit.data.create(workflowDryRun, { definitionId, recordKind, document, days });
    return { workflowDryRun: created.id };
  },
});

const triedAction = Type.Object(
  {
    key: Type.String({ description: 'Key of the action.' }),
    type: Type.String({ description: 'Type of the action, as in the document.' }),
    userIds: Type.Array(Type.String(), { description: 'Ids of the people whom it would ask or notify.' }),
  },
  { title: 'TriedAction', description: 'Action that would run.' },
);

export const tryWorkflowDefinition = defineAction({
  name: 'tryWorkflowDefinition',
  url: '/v1/workflow-definitions/:id/try',
  tag: 'Workflow definitions',
  summary: 'Try a workflow definition with a made-up change',
  description:
    'Says what the draft would do about a change of a record that need not exist. Nothing is stored, and nobody is asked.',
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the definition.'),
    operation: oneOf(triggerOperations, 'Operation on the record.', {
      name: 'TriedOperation',
      description: 'Operation on a record.',
    }),
    before: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values of the record before the change, by the names of REST; default: those of a new record.',
      }),
    ),
    changes: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values that the change sets, or those of the new record.',
      }),
    ),
  },
  answer: {
    starts: Type.Boolean({ description: 'Whether the definition would start.' }),
    holds: Type.Boolean({ description: 'Whether the change would wait for approvals.' }),
    failures: Type.Array(Type.String(), { description: 'Errors of expressions.' }),
    cost: Type.Number({ description: 'Cost of the expressions, in the units of workflows.cel.costlimit.' }),
    actions: Type.Array(triedAction, { description: 'Actions that would run, if each of them succeeds.' }),
  },
  title: 'TriedDefinition',
  errors: ['not_found', 'permission_denied', 'definition_invalid', 'invalid_input', 'workflows_disabled'],
  run: async (asking, { id, operation, before = {}, changes = {} }) => {
    requireEngine(asking);
    const { unit, services } = asking;
    const held = await lockedDefinition(asking, id);
    const { document, module } = await validDocument(asking, held);
    const problems: FieldProblem[] = [];
    const former = valuesIn(module, before, '/before', problems);
    const set = valuesIn(module, changes, '/changes', problems);
    if (problems.length > 0) throw inputError(problems);
    const { organizationId } = held;
    const { caller } = unit.context;
    const recordId = newId();
    const changed = { create: set, update: differences(withDefaults(module, former), set), delete: {} };
    const change: ChangeFacts = {
      operation,
      object: { id: recordId, organizationId, ...former, ...set },
      oldObject: operation === 'create' ? null : { id: recordId, organizationId, ...former },
      userId: caller.kind === 'user' ? caller.subjectId : null,
      changedFields: Object.keys(changed[operation]),
      at: unit.clock.now(),
    };
    const { expressions } = services;
    const data = unit.data.privileged('try workflow definition');
    const trial = { unit, data, expressions, organizationId, definitionId: id, module, document };
    const tried = await tryChange(trial, { recordId, change, actor: actorOf(caller), isPresent: false });
    return {
      ...tried,
      failures: [...tried.failures],
      actions: tried.actions.map((action) => ({ ...action, userIds: [...action.userIds] })),
    };
  },
});

/** Values of a record of which only some are given. */
function withDefaults({ fields }: EntityModule, given: Values): Values {
  const defaults = Object.entries(fields).map(([name, field]) => [name, given[name] ?? field.default ?? null]);
  return Object.fromEntries(defaults);
}

/** Values by the names of fields, given by those of REST. @param problems gets those that the fields do not take */
function valuesIn(
  module: EntityModule,
  given: Readonly<Record<string, unknown>>,
  path: string,
  problems: FieldProblem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = fieldNamed(module, name);
    const field = known === undefined ? undefined : module.fields[known];
    if (known === undefined || !field) {
      problems.push({ path: `${path}/${name}`, message: `is not a field of a ${module.typeName}` });
      continue;
    }
    const stored = value === null ? null : normalized(field, value);
    const problem = stored === null ? undefined : problemOf(field, stored);
    if (problem) problems.push({ path: `${path}/${name}${problem.path}`, message: problem.message });
    else values[known] = stored;
  }
  return values;
}
