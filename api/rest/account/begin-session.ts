import { session } from '#entities/identity/session.ts';
import { noteSeen } from '#entities/kit/access/last-seen.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { sessionOfRefreshToken } from './sent-refresh-token.ts';
import { sessionAnswer } from './session-answer.ts';
import { issueTokens } from './session-tokens.ts';

/**
 * Maximum number of sessions of a person with one single sign-on, or without any; a sign-in beyond it ends the one that was used longest
 * ago. Whoever runs a provider does not push out the others.
 */
const maxSessions = 100;

/** Maximum number of sessions of a person with all single sign-ons together. One operation can end no more than a thousand records. */
const maxSingleSignOns = 400;

/** Characters of the header User-Agent that are kept. */
const maxUserAgentLength = 256;

/** The single sign-on with which a session began; both are null for other ways to sign in. */
export type SignOn = Pick<RowOf<typeof session>, 'singleSignOnId' | 'singleSignOnRevision'>;

/**
 * Begins a session of a person who has proven who they are, and returns its tokens.
 * @param isNewDevice an event says so, and a mail
 */
export async function beginSession(
  call: Call<unknown>,
  userId: string,
  organizationId: string | null,
  { isNewDevice, singleSignOnId, singleSignOnRevision }: SignOn & { readonly isNewDevice: boolean },
): Promise<RouteResponse> {
  const { unit, request, services } = call;
  const data = unit.data.privileged('sign-in');
  // A new id with each sign-in: nobody can have known it before.
  const sessionId = newId();
  const { access, refresh, values } = await issueTokens(
    call,
    { userId, organizationId, sessionId },
    { singleSignOnId, createdAt: services.clock.now() },
  );
  await endEarlier(data, call, values.lastSeenAt, { userId, singleSignOnId });
  const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentLength) ?? '';
  const begun = await data.create(session, {
    id: sessionId,
    userId,
    userAgent: userAgent || null,
    singleSignOnId,
    singleSignOnRevision,
    // Single sign-on proves who somebody is to one organization alone.
    provenAt: singleSignOnId === null ? values.lastSeenAt : null,
    ...values,
  });
  await noteSeen(unit, userId);
  if (isNewDevice)
    unit.emit(customEvent(session, 'begun_on_new_device', begun, { userId, userAgent, address: begun.address }));
  return sessionAnswer(call, access, refresh);
}

/** Ends the session that this browser had, whoever's it was, those that have expired, and those beyond the maximum. */
async function endEarlier(
  data: DataClient,
  call: Call<unknown>,
  now: Date,
  { userId, singleSignOnId }: Pick<RowOf<typeof session>, 'userId' | 'singleSignOnId'>,
): Promise<void> {
  const held = await data.find(session, {
    where: { userId: { eq: userId } },
    orderBy: [{ field: 'lastSeenAt', direction: 'desc' }],
    limit: 1_000,
  });
  const surplus = [
    ...held.filter(({ expiresAt }) => expiresAt <= now),
    ...held.filter((one) => one.singleSignOnId === singleSignOnId).slice(maxSessions - 1),
    ...held.filter((one) => one.singleSignOnId !== null).slice(maxSingleSignOns - 1),
  ];
  const before = await sessionOfBrowser(call);
  const ids = new Set([...surplus.map(({ id }) => id), ...(before === undefined ? [] : [before])]);
  if (ids.size > 0) await data.removeAll(session, [...ids]);
}

/** The session of the cookies of a request. */
async function sessionOfBrowser(call: Call<unknown>): Promise<string | undefined> {
  const { headers, core } = call.request;
  if (headers.authorization !== undefined) return undefined;
  return core.claims?.sessionId ?? sessionOfRefreshToken(call);
}
