import { session } from '#entities/identity/session.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/**
 * Ends the sessions of a person. A sign-in leaves at most five hundred of them.
 * @param kept id of the session that continues
 * @param singleSignOnId ends only those that began with the single sign-on of this organization
 * @returns how many have ended
 */
export async function endSessions(
  data: DataClient,
  userId: string,
  kept?: string,
  singleSignOnId: string | null = null,
): Promise<number> {
  const where = {
    userId: { eq: userId },
    ...(singleSignOnId === null ? {} : { singleSignOnId: { eq: singleSignOnId } }),
  };
  const held = await data.find(session, { where, limit: 1_000 });
  const ending = held.map(({ id }) => id).filter((id) => id !== kept);
  if (ending.length > 0) await data.removeAll(session, ending);
  return ending.length;
}
