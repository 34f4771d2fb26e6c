import { Type } from 'typebox';
import { contextOf } from '#activities/clients/integrations/definition.ts';
import { definitionOf, operationOf } from '#activities/clients/integrations/definitions.ts';
import { notConnected } from '#activities/clients/integrations/not-connected.ts';
import { requestRun } from '#entities/integrations/runs/request-run.ts';
import { integration } from '#entities/integrations/integration.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { checkedOperationInput } from '../../integrations/checked-settings.ts';
import { requireRight } from '../../integrations/changeable-installation.ts';
import { asking as askingProvider } from '../../integrations/provider-refusals.ts';
import { idOf, oneOf, orNull, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const runIntegrationOperation = defineAction({
  name: 'runIntegrationOperation',
  url: '/v1/integrations/:id/operations/run',
  tag: 'Integrations',
  summary: 'Run an operation of an integration',
  description:
    'An operation that the definition calls inline answers in `result`. Others are queued as an integration run, which reports its progress.',
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the record.'),
    operation: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the operation.' }),
    input: Type.Optional(Type.Unknown({ description: 'Input of the operation, as the definition describes it.' })),
  },
  answer: {
    integration: recordOf(integration),
    operation: Type.String({ description: 'Name of the operation.' }),
    status: oneOf(['ok', 'queued'], 'Whether it has answered, or runs now.', {
      name: 'IntegrationOperationStatus',
      description: 'Status of an operation of an integration.',
    }),
    result: Type.Unknown({ description: 'Answer of an inline operation; null for others.' }),
    runId: orNull(idOf('Id of the integration run; null for an inline operation.')),
  },
  title: 'RunIntegrationOperation',
  errors: [
    'invalid_input',
    'not_found',
    'permission_denied',
    'too_many_requests',
    'rule_violated',
    'integration_not_connected',
    'integration_refused',
    'integration_unavailable',
  ],
  outside: {
    prepare: async ({ unit }, { id: wanted, operation: name, input = {} }) => {
      const held = await unit.data.findOne(integration, { id: { eq: existingId(integration, wanted) } });
      if (!held) throw missingRecord(integration, wanted);
      await requireRight(unit, 'edit', held);
      const definition = definitionOf(held.definitionId);
      if (!definition || held.status !== 'connected') throw notConnected(held);
      const operation = operationOf(definition, name);
      const given = checkedOperationInput(operation.input, input);
      if (operation.limit) {
        const { uses, windowMs } = operation.limit;
        const key = `integration-operation:${definition.id}/${name}/${held.organizationId}`;
        const freeAt = await takeAttempt(unit, [{ key, limit: uses }], windowMs);
        if (freeAt) throw tooManyAttempts(`The operation "${name}" was started too often`, freeAt, unit.clock.now());
      }
      return { held, operation, input: given };
    },
    call: async ({ integrations }, plan) => {
      const { held, operation, input } = plan;
      if (operation.policy === 'run') return { ...plan, result: null };
      const result = await askingProvider(() =>
        integrations.use(held.id, (context) => operation.run(contextOf(context, operation), input)),
      );
      return { ...plan, result };
    },
  },
  run: async ({ unit }, _input, { held, operation, input, result }) => {
    const { name: operationName } = operation;
    const of = { integration: held.id, operation: operationName };
    if (operation.policy === 'inline') return { ...of, status: 'ok' as const, result, runId: null };
    const run = await requestRun(unit, { integration: held, operation: operationName, trigger: 'person', input });
    return { ...of, status: 'queued' as const, result: null, runId: run.id };
  },
});
