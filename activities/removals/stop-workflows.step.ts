import { setTimeout as pause } from 'node:timers/promises';
import { isUnknownWorkflow } from '../clients/temporal/temporal-client.ts';
import { isScheduled, kindsOfWorkflows } from '../kit/work-kind.ts';
import type { WorkKind } from '#entities/kit/outbox/failing-work.ts';
import { defineRemovalStep } from './define-removal-step.ts';

/**
 * Work that the deletion needs, or whose rows decide: announced events are delivered, bytes are removed, and an endpoint of a deleted
 * organization forgets its messages.
 */
const continued: ReadonlySet<WorkKind> = new Set(['delivery', 'email', 'notification', 'file', 'schedule', 'message']);

/** The removal itself, its undo, the workflow that has begun it, and the one that ends what it has begun at the payment provider. */
const continuedTypes: ReadonlySet<string> = new Set([
  'removeOrganization',
  'restoreOrganization',
  'deleteAnnounced',
  'reconcileEntitlements',
]);

/** Time that cancelled workflows have to end, in milliseconds; a worker handles their cancellation at once. */
const endsWithinMs = 10_000;

interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

export const stopWorkflowsStep = defineRemovalStep({
  name: 'stopWorkflows',
  description:
    'Cancels the workflows of the organization, such as exports and imports, and terminates those that continue.',
  after: [],
  async run({ temporal, logger }, { removedOrganizationId }) {
    const stop = async (runs: readonly Run[], how: 'cancel' | 'terminate') => {
      for (const { workflowId, runId } of runs) {
        const handle = temporal.client.workflow.getHandle(workflowId, runId);
        const end = async () => {
          await (how === 'cancel' ? handle.cancel() : handle.terminate('its organization was deleted'));
        };
        await temporal.call(`${how} a workflow`, end).catch((error: unknown) => {
          if (!isUnknownWorkflow(error)) throw error;
        });
      }
    };
    const running = async () => {
      const found: Run[] = [];
      const query = `ExecutionStatus = "Running" AND OrganizationId = "${removedOrganizationId}"`;
      for await (const { workflowId, runId, type } of temporal.client.workflow.list({ query }))
        if (!isContinued(workflowId, type)) found.push({ workflowId, runId });
      return found;
    };
    const cancelled = await running();
    await stop(cancelled, 'cancel');
    const endsAt = Date.now() + endsWithinMs;
    let left = cancelled.length > 0 ? await running() : [];
    while (left.length > 0 && Date.now() < endsAt) {
      await pause(500);
      left = await running();
    }
    await stop(left, 'terminate');
    if (cancelled.length > 0)
      logger.info(
        { organization_id: removedOrganizationId, cancelled: cancelled.length, terminated: left.length },
        'workflows of a deleted organization were stopped',
      );
  },
});

function isContinued(workflowId: string, type: string): boolean {
  const kind = isScheduled(workflowId) ? 'schedule' : (kindsOfWorkflows[type] ?? 'other');
  return continued.has(kind) || continuedTypes.has(type);
}
