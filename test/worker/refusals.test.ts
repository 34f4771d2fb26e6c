// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalogue, type ErrorCategory, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, notingListener, storedDeliveries } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Attempts of the activity that a failing delivery has in its own workflow (`MaxAttempts`). */
const maxAttempts = 3;

/** A code of each category; none of those for which the delivery waits without counting. */
const codes = {
  invalid: 'invalid_input',
  unauthenticated: 'unauthenticated',
  denied: 'permission_denied',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  not_acceptable: 'not_acceptable',
  too_large: 'body_too_large',
  precondition_failed: 'precondition_failed',
  unsupported_media_type: 'unsupported_media_type',
  range_not_satisfiable: 'range_not_satisfiable',
  unprocessable: 'limit_exceeded',
  headers_too_large: 'headers_too_large',
  timeout: 'request_timeout',
  conflict: 'stale_record',
  limited: 'too_many_requests',
  internal: 'internal',
  unavailable: 'authorization_unavailable',
} as const satisfies Record<ErrorCategory, ErrorCode>;

const retryable: ReadonlySet<ErrorCategory> = new Set(['timeout', 'conflict', 'limited', 'internal', 'unavailable']);
const categories = Object.keys(codes) as ErrorCategory[];

const attempts = new Map<string, number>();
let isMended = false;
const refusing = notingListener('refusing', ['refused.happened'], ({ event }) => {
  const { category } = event.payload as { readonly category: ErrorCategory };
  attempts.set(category, (attempts.get(category) ?? 0) + 1);
  if (!isMended) throw new AppError(codes[category], `refused as ${category}`);
});

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [refusing],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '2',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: String(maxAttempts),
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '10',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterAll(() => world.close());

describe('an activity that fails with an error of ours', () => {
  test.each(categories)('%s: the code of this test is one of that category', (category) => {
    expect(errorCatalogue[codes[category]].category).toBe(category);
  });

  test('is tried again when that can help, and waits for an operator at once when it is a refusal', async () => {
    await announce(
      world,
      categories.map((category) => ({ topic: 'refused.happened', entityId: newId(), payload: { category } })),
    );
    const { client } = world.runtime.temporal;
    const failing = await eventually(async () => {
      const rows = await storedDeliveries(world, 'refusing');
      return rows.length === categories.length && rows;
    }, 30_000);
    const handles = failing.map(({ eventId }) =>
      client.workflow.getHandle(`${world.name}/event/${eventId}/${refusing.name}`),
    );
    for (const handle of handles)
      await eventually(async () => {
        const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
        return currentDetails?.includes('Waiting for an operator');
      }, 30_000);
    const told = await Promise.all(
      handles.map(async (handle) => {
        const { events } = await handle.fetchHistory();
        const failed = events?.flatMap(({ activityTaskFailedEventAttributes: failure }) => (failure ? [failure] : []));
        return failed?.map(({ failure, retryState }) => ({
          isFinal: failure?.applicationFailureInfo?.nonRetryable,
          type: failure?.applicationFailureInfo?.type,
          retryState,
        }));
      }),
    );
    expect(new Set(told.flatMap((failures) => failures?.map(({ type }) => type)))).toEqual(
      new Set(Object.values(codes)),
    );
    for (const category of categories) {
      const canHelp = retryable.has(category);
      const [failure] = told.flatMap((failures) => failures?.filter(({ type }) => type === codes[category]) ?? []);
      expect(failure?.isFinal, category).toBe(!canHelp);
      // First where it is delivered with others; a refusal is not tried there again. Then in a workflow of its own.
      expect(attempts.get(category), category).toBe(canHelp ? 2 + maxAttempts : 1 + 1);
    }
    isMended = true;
    for (const handle of handles) await handle.signal('retryDelivery');
    for (const handle of handles) expect(await handle.result()).toBe('done');
  });
});
