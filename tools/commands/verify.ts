import { areaComparisons } from '#entities/area-comparisons.ts';
import { declaredDueWork } from '#entities/declared-due-work.ts';
import { overdueLines } from '#entities/kit/due-work/due-rows.ts';
import { isOwnTuple } from '#entities/kit/model/authorization-model.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ComparedPage, Comparison, ExpectedWork, PageRequest } from '#entities/kit/outbox/comparison.ts';
import { settledPage, unexpectedAmong } from '#entities/kit/outbox/tuple-repair.ts';
import { comparisonsOf, nameOf } from '#entities/kit/write/comparison/inconsistencies.ts';
import { reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { runIntegrationOperationContract } from '#workflows/integrations/run-integration-operation.contract.ts';
import { runWorkflowInstanceContract } from '#workflows/automation/run-workflow-instance.contract.ts';
import { emailWorkflowId } from '#workflows/email/send-email.contract.ts';
import { deliveryWorkflowId } from '#workflows/events/deliver-event.contract.ts';
import { probingWorkflowId } from '#workflows/events/probe-listener.contract.ts';
import { remindDueTasksSweep } from '#activities/sweeps/notifications/remind-due-tasks.sweep.ts';
import { sweepContract } from '#workflows/kit/sweep-contract.ts';
import { sendDueNotificationsContract } from '#workflows/notifications/send-due-notifications.contract.ts';
import { deliverToEndpointContract } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import { openLanesOf } from '#runtime/open-lanes.ts';
import { verifyObjects } from './verify-objects.ts';

interface VerifyOptions {
  /** The installation is at rest, so everything pending is reported; otherwise work younger than a minute is left out. */
  readonly isQuiet: boolean;
  /** Rows that are compared in one transaction. */
  readonly pageSize?: number;
  /** Comparisons of areas; default: all. */
  readonly areas?: readonly Comparison[];
  /** Called after each page with what was read and how many rows of it so far. */
  readonly onProgress?: (name: string, count: number) => void;
}

type Store = NonNullable<CoreRuntime['store']>;

/**
 * Compares what different parts of the installation say about the same things: rows with history, events with deliveries, messages to
 * endpoints with events and attempts, notifications with digests and e-mails, desired tuples with the authorization store, rows of
 * continuing work with its workflows, due work with the time, stored objects with their providers, and all that the hook of the database compares. It reads in pages, each in a transaction of its own, so that it works at any size; only the names of the stored tuples are kept, about 100 bytes
 * each.
 * @returns one line per disagreement; none when all agree
 */
export async function verifyInstallation(
  { database, store, temporal, storage }: CoreRuntime,
  { isQuiet, pageSize = 1_000, areas = areaComparisons, onProgress = () => {} }: VerifyOptions,
): Promise<string[]> {
  const { registry, recordHistory } = database.options;
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact({ caller: systemCaller('verify'), requestId: `verify-${newId()}`, readOnly: true }, work);
  const graceMs = isQuiet ? 0 : 60_000;
  const lines: string[] = [];
  const expected = new Map<string, ExpectedRun>();
  for (const comparison of [...comparisonsOf(registry, recordHistory), ...areas]) {
    let count = 0;
    for (let after: readonly string[] | undefined = comparison.first; after;) {
      const request: PageRequest = { after, limit: pageSize, graceMs };
      const page: ComparedPage = await transact((unit) => comparison.page(unit, request));
      lines.push(...page.lines);
      for (const { eventId, occurredAt, listener } of page.failing ?? [])
        expected.set(deliveryWorkflowId({ eventId, listener }), {
          claim: `delivery of event ${eventId} (${occurredAt.toISOString()}) to ${listener} is failing`,
        });
      for (const { of, key, claim } of page.expected ?? [])
        expected.set(workflowOf[of](key), { claim, isSchedule: of === 'channel' || of === 'reminder' });
      count += page.read;
      onProgress(comparison.name, count);
      after = page.next;
    }
  }
  for (const work of declaredDueWork) {
    const open = openLanesOf(work, { storage });
    lines.push(...(await transact((unit) => overdueLines(unit, work, open))));
  }
  for (const [id, run] of expected) lines.push(...(await compareRun(id, run, temporal)));
  lines.push(
    ...(await verifyObjects({
      storage,
      transact,
      pageSize,
      onProgress: (count) => onProgress('objects at their providers', count),
    })),
  );
  const { hook } = database.options;
  if (hook) lines.push(...(await hook.compare({ pageSize, isQuiet, onProgress })));
  if (!store) return lines;

  const stored = new Set<string>();
  let read = 0;
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page: Awaited<ReturnType<Store['tuplePage']>> = await store.tuplePage(after);
    const own = page.tuples.filter((tuple) => isOwnTuple(registry, tuple));
    for (const tuple of own) stored.add(nameOf(tuple));
    const { removed, unknown } = await transact((unit) => unexpectedAmong(unit, own));
    // Rows that have been deleted since the page was read no longer exist.
    for (const tuple of removed)
      if (await store.find(tuple))
        lines.push(`tuple "${nameOf(tuple)}" was revoked and applied, but is still in the authorization store`);
    for (const tuple of unknown)
      if (await store.find(tuple))
        lines.push(`tuple "${nameOf(tuple)}" is in the authorization store, but no record grants it`);
    read += page.tuples.length;
    onProgress('tuples of the authorization store', read);
    after = page.next;
  }
  for (let after: Tuple | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const request: { after: Tuple | null; limit: number } = { after, limit: pageSize };
    const page: Awaited<ReturnType<typeof settledPage>> = await transact((unit) => settledPage(unit, request));
    for (const tuple of page.rows)
      // It may have been written since the store was read.
      if (!stored.has(nameOf(tuple)) && !(await store.find(tuple)))
        lines.push(`tuple "${nameOf(tuple)}" is desired and applied, but not in the authorization store`);
    after = page.last;
  }
  return lines;
}

/** Ids of the workflows that do the work that rows describe as continuing. */
const workflowOf: Readonly<Record<ExpectedWork['of'], (key: string) => string>> = {
  listener: (listener) => probingWorkflowId({ listener }),
  endpoint: (endpointId) => deliverToEndpointContract.workflowId({ endpointId, organizationId: '' }),
  email: (key) => emailWorkflowId({ key }),
  channel: () => sendDueNotificationsContract.workflowId({}),
  reminder: () => sweepContract(remindDueTasksSweep).workflowId({}),
  instance: (instanceId) => runWorkflowInstanceContract.workflowId({ instanceId, organizationId: '' }),
  loop: (key) => {
    const [integrationId = '', operation = ''] = key.split('/');
    return reconcileIntegrationContract.workflowId({ integrationId, operation, organizationId: '' });
  },
  run: (runId) => runIntegrationOperationContract.workflowId({ runId }),
};

interface ExpectedRun {
  readonly claim: string;
  /** A schedule does the work, which has the id. */
  readonly isSchedule?: boolean;
}

async function compareRun(
  id: string,
  { claim, isSchedule = false }: ExpectedRun,
  temporal: CoreRuntime['temporal'],
): Promise<string[]> {
  const name = `${temporal.settings.prefix}/${id}`;
  if (isSchedule) {
    const state = await temporal.client.schedule
      .getHandle(name)
      .describe()
      .then(
        (schedule) => (schedule.state.paused ? 'PAUSED' : 'RUNNING'),
        () => 'MISSING',
      );
    return state === 'RUNNING' ? [] : [`${claim}, but the schedule ${name} is ${state}`];
  }
  // For tests, each run has an id that nobody can foresee.
  if (temporal.settings.hasRandomIds) return [];
  const status = await statusOf(name, temporal);
  return status === 'RUNNING' ? [] : [`${claim}, but its workflow ${name} is ${status}`];
}

function statusOf(workflowId: string, temporal: CoreRuntime['temporal']): Promise<string> {
  return temporal.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      (run) => run.status.name,
      () => 'MISSING',
    );
}
