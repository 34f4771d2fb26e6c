import { isOwnTuple } from '#entities/kit/model/authorization-model.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ComparedPage, FailingDelivery, PageRequest } from '#entities/kit/write/comparison.ts';
import { settledPage, unexpectedAmong } from '#entities/kit/outbox/tuple-repair.ts';
import { compareDatabases } from '#entities/kit/storage/compare-databases.ts';
import { comparisonsOf, nameOf } from '#entities/kit/write/inconsistencies.ts';
import { deliveryWorkflowId } from '#workflows/events/deliver-event.contract.ts';
import type { CoreRuntime } from './core-runtime.ts';
import { verifyObjects } from './verify-objects.ts';

export interface VerifyOptions {
  /** The installation is at rest, so everything pending is reported; otherwise work younger than a minute is left out. */
  readonly isQuiet: boolean;
  /** Rows that are compared in one transaction. */
  readonly pageSize?: number;
  /** Called after each page with what was read and how many rows of it so far. */
  readonly onProgress?: (name: string, count: number) => void;
}

type Store = NonNullable<CoreRuntime['store']>;

/**
 * Compares what different parts of the installation say about the same things: rows with history, events with deliveries,
 * desired tuples with the authorization store, failing deliveries with their workflows, stored objects with their providers, the second
 * database with the primary one. It reads in
 * pages, each in a transaction of its own, so that it works at any size; only the names of the stored tuples are kept, about 100 bytes each.
 * @returns one line per disagreement; none when all agree
 */
export async function verifyInstallation(
  { database, store, temporal, storage }: CoreRuntime,
  { isQuiet, pageSize = 1_000, onProgress = () => {} }: VerifyOptions,
): Promise<string[]> {
  const { registry, recordHistory } = database.options;
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact({ caller: systemCaller('verify'), requestId: `verify-${newId()}`, readOnly: true }, work);
  const graceMs = isQuiet ? 0 : 60_000;
  const lines: string[] = [];
  const failing: FailingDelivery[] = [];
  for (const comparison of comparisonsOf(registry, recordHistory)) {
    let count = 0;
    for (let after: readonly string[] | undefined = comparison.first; after;) {
      const request: PageRequest = { after, limit: pageSize, graceMs };
      const page: ComparedPage = await transact((unit) => comparison.page(unit, request));
      lines.push(...page.lines);
      failing.push(...(page.failing ?? []));
      count += page.read;
      onProgress(comparison.name, count);
      after = page.next;
    }
  }
  for (const delivery of failing) lines.push(...(await compareWorkflow(delivery, temporal)));
  lines.push(
    ...(await verifyObjects({
      storage,
      transact,
      pageSize,
      onProgress: (count) => onProgress('objects at their providers', count),
    })),
  );
  const { options } = database;
  const { secondUrl } = options;
  if (secondUrl !== undefined)
    lines.push(...(await compareDatabases({ ...options, secondUrl }, { pageSize, isQuiet, onProgress })));
  if (!store) return lines;

  const stored = new Set<string>();
  let read = 0;
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page: Awaited<ReturnType<Store['tuplePage']>> = await store.tuplePage(after);
    const own = page.tuples.filter((tuple) => isOwnTuple(registry, tuple));
    for (const tuple of own) stored.add(nameOf(tuple));
    const { removed, unknown } = await transact((unit) => unexpectedAmong(unit, own));
    // Those that have been deleted since the page was read are gone by now.
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

async function compareWorkflow(
  { eventId, occurredAt, listener }: FailingDelivery,
  temporal: CoreRuntime['temporal'],
): Promise<string[]> {
  const workflowId = `${temporal.settings.prefix}/${deliveryWorkflowId({ eventId, listener })}`;
  const status = await temporal.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      (run) => run.status.name,
      () => 'MISSING',
    );
  if (status === 'RUNNING') return [];
  return [
    `delivery of event ${eventId} (${occurredAt.toISOString()}) to ${listener} is failing, but its workflow ${workflowId} is ${status}`,
  ];
}
