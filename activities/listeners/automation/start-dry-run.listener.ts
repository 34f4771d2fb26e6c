import { workflowDryRun } from '#entities/automation/workflow-dry-run.ts';
import { on } from '#entities/kit/model/events.ts';
import { dryRunDefinitionContract } from '#workflows/automation/dry-run-definition.contract.ts';
import { defineListener } from '../listener.ts';

export const startDryRun = defineListener('start-dry-run', [on(workflowDryRun, 'created')], ({ event, start }) =>
  start(dryRunDefinitionContract, { dryRunId: event.entityId }),
);
