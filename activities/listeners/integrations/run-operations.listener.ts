import { integrationRun } from '#entities/integrations/integration-run.ts';
import { on } from '#entities/kit/model/events.ts';
import { runIntegrationOperationContract } from '#workflows/integrations/run-integration-operation.contract.ts';
import { defineListener } from '../listener.ts';

/** Begins runs that were requested, continues those that were confirmed, and interrupts those that were cancelled. Loops do the runs that they request. */
export const runOperations = defineListener(
  'run-operations',
  [on(integrationRun, 'created'), on(integrationRun, 'confirmed'), on(integrationRun, 'ended')],
  async ({ event: { topic, entityId, payload }, unit, wake }) => {
    const isConfirmed = topic === 'integration_run.confirmed';
    if ('status' in payload && payload.status !== 'cancelled') return;
    const run = await unit.data.findOne(integrationRun, { id: { eq: entityId } });
    if (run && (isConfirmed || run.trigger !== 'schedule')) wake(runIntegrationOperationContract, { runId: run.id });
  },
);
