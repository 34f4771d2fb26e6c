// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { expect, test } from 'vitest';
import { StoreAuthorizer } from '#relay/authorization/store-authorizer.ts';

const question = { object: 'task:1', relation: 'can_edit', subject: 'user:1', context: [] };

test.each<[string, boolean]>([
  ['rights that are behind are refused', true],
  ['a right that is on its way is left out', false],
])('a decision waits no longer than its patience for the relay: %s', async (_about, isStale) => {
  const { promise: applying, reject: fail } = Promise.withResolvers<number>();
  const authorizer = new StoreAuthorizer({
    store: { check: () => Promise.resolve(false) },
    // Others keep the one relay of the process at work.
    tuples: { apply: () => applying },
    allows: { has: () => Promise.resolve(false), add: () => Promise.resolve() },
  });
  const decided = authorizer.decide(question, () =>
    Promise.resolve({ organizations: [], revisions: '', isStale, hasPending: true }),
  );
  if (isStale) await expect(decided).rejects.toMatchObject({ code: 'authorization_unavailable' });
  else await expect(decided).resolves.toMatchObject({ isAllowed: false });
  // Vitest fails on what nobody handles.
  fail(new Error('the store is away'));
});
