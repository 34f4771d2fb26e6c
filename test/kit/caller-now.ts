import { callerIn, readPrincipalState } from '#entities/kit/access/principal-state.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';

/** The caller that a person is for the API in an organization, with the current rows and settings. */
export async function callerNow(
  { database, contextOfCallers }: Pick<CoreRuntime, 'database' | 'contextOfCallers'>,
  userId: string,
  organizationId: string,
): Promise<Caller> {
  const named = { userId, sessionId: newId(), organizationId };
  const { state } = await readPrincipalState(database, named, { deadline: Date.now() + 30_000, traceparent: '' });
  return callerIn(userId, organizationId, state, await contextOfCallers());
}
