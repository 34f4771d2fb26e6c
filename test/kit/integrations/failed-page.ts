import { expect } from 'vitest';
import type { Envelope } from '#activities/clients/integrations/definition.ts';
import type { FakeProvider } from '../fakes/integrations/fake-provider.ts';
import type { Misbehaviour } from '../fakes/integrations/misbehaviour.ts';
import type { ProviderContexts } from './provider-contexts.ts';

/** A misbehaviour fails the page of a directory with one account once, in one request; a later attempt has the account. */
export async function expectOneFailedPage(
  one: Misbehaviour,
  fake: Pick<FakeProvider, 'next' | 'requests'>,
  contexts: ProviderContexts,
  readAll: () => Promise<readonly Envelope[]>,
): Promise<void> {
  if (one === 'silent') contexts.timeoutMs = 300;
  fake.next.push(one);
  await expect(readAll()).rejects.toMatchObject({
    name: 'ProviderError',
    isPassing: true,
    ...(one === 'limit' ? { code: 'rate_limited', retryAfterMs: 7_000 } : {}),
  });
  expect(fake.requests).toHaveLength(1);
  contexts.timeoutMs = 10_000;
  expect(await readAll()).toHaveLength(1);
}
