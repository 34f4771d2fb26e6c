import { Errors } from 'typebox/value';
import type { Row } from '#entities/automation/approvals/approval-work.ts';
import type { IntegrationAction } from '#entities/automation/document/definition-document.ts';
import { integration } from '#entities/integrations/integration.ts';
import { openRun, requestRun } from '#entities/integrations/runs/request-run.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { Operation } from '../../clients/integrations/definition.ts';
import { definitionOf, operationOf } from '../../clients/integrations/definitions.ts';
import type { ActionRun } from '../action-run.ts';
import { resolvedObject } from './resolved-object.ts';

/** Requests a run of an operation of an integration that the person who published the version may edit. The run has its progress and result. */
export async function askIntegration(run: ActionRun, { params }: IntegrationAction): Promise<Row> {
  const input = await resolvedObject(run, params.input);
  const held = await connected(run, params.integration_id);
  const operation = declaredOperation(held, params.operation);
  refuseInput(operation, input);
  const { unit, data } = run.work;
  const open = await openRun(data, held.id, operation.name);
  // It does what is asked for already.
  if (open && open.status !== 'waiting') return { integrationId: held.id, runId: open.id };
  const requested = await requestRun(unit, {
    integration: held,
    operation: operation.name,
    isInline: operation.policy === 'inline',
    trigger: 'workflow',
    input,
    instanceId: run.locked.instance.id,
  });
  return { integrationId: held.id, runId: requested.id };
}

/** @throws AppError rule_violated, permission_denied */
async function connected(run: ActionRun, id: string): Promise<RowOf<typeof integration>> {
  const data = await run.asPublisher();
  const held = await data.findOne(integration, { id: { eq: id } });
  if (!held) throw new AppError('rule_violated', `The integration "${id}" does not exist any more.`);
  if (!(await data.decide(integration, 'edit', { ...held })).isAllowed)
    throw new AppError(
      'permission_denied',
      `The person who published the version may not use the integration "${held.name}". Let somebody publish the definition who may, or have the action skipped.`,
    );
  if (held.status !== 'connected')
    throw new AppError('rule_violated', `The integration "${held.name}" is ${held.status}. Connect it first.`);
  return held;
}

/** @throws AppError rule_violated */
function declaredOperation({ name, definitionId }: RowOf<typeof integration>, wanted: string): Operation {
  const definition = definitionOf(definitionId);
  if (!definition) throw new AppError('rule_violated', `The integration "${name}" has no definition any more.`);
  try {
    return operationOf(definition, wanted);
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw new AppError('rule_violated', error.message, { cause: error });
  }
}

/** @throws AppError rule_violated */
function refuseInput(
  { name, input: schema }: Operation,
  given: unknown,
): asserts given is Readonly<Record<string, unknown>> {
  const [problem] = Errors(schema, given);
  if (problem)
    throw new AppError(
      'rule_violated',
      `The input of the operation "${name}" is refused: ${problem.instancePath || 'it'} ${problem.message}.`,
    );
}
