import { session } from '#entities/identity/session.ts';
import { noteSeen } from '#entities/kit/access/last-seen.ts';
import { surplusSessions } from '#entities/kit/access/surplus-sessions.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import type { Home } from './home-organization.ts';
import { sessionOfRefreshToken } from './sent-refresh-token.ts';
import { sessionAnswer } from './session-answer.ts';
import { issueTokens } from './session-tokens.ts';

/**
 * Sessions of a person that go on beside a new one. A sign-in beyond them ends the one that was used longest ago. Whoever runs a provider
 * of single sign-on does not push out the others.
 */
const limits = { alike: 99, singleSignOns: 399 } as const;

/** Characters of the header User-Agent that are kept. */
const maxUserAgentLength = 256;

/** The single sign-on with which a session began; both are null for other ways to sign in. */
export type SignOn = Pick<RowOf<typeof session>, 'singleSignOnId' | 'singleSignOnRevision'>;

/**
 * Begins a session of a person who has proven who they are, and returns its tokens. It ends the session that this browser had, those that
 * have expired, and those beyond the limits.
 * @param isNewDevice an event says so, and a mail
 */
export async function beginSession(
  call: Call<unknown>,
  userId: string,
  home: Home | null,
  { isNewDevice, singleSignOnId, singleSignOnRevision }: SignOn & { readonly isNewDevice: boolean },
): Promise<RouteResponse> {
  const { unit, request, services } = call;
  const data = unit.data.privileged('sign-in');
  // A new id with each sign-in: nobody can have known it before.
  const sessionId = newId();
  const claims = { userId, sessionId, home };
  const [{ access, refresh, values }, surplus, ofBrowser] = await Promise.all([
    issueTokens(call, claims, { singleSignOnId, createdAt: services.clock.now() }),
    surplusSessions(unit, { userId, singleSignOnId }, limits),
    sessionOfBrowser(call),
  ]);
  const ended = new Set(surplus);
  if (ofBrowser !== undefined) ended.add(ofBrowser);
  if (ended.size > 0) await data.removeAll(session, [...ended]);
  const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentLength) ?? '';
  const creation = data.create(session, {
    id: sessionId,
    userId,
    userAgent: userAgent || null,
    singleSignOnId,
    singleSignOnRevision,
    // Single sign-on proves who somebody is to one organization alone.
    provenAt: singleSignOnId === null ? values.lastSeenAt : null,
    ...values,
  });
  const [begun] = await Promise.all([creation, noteSeen(unit, userId)]);
  if (isNewDevice)
    unit.emit(customEvent(session, 'begun_on_new_device', begun, { userId, userAgent, address: begun.address }));
  return sessionAnswer(call, access, refresh);
}

/** The session that a browser had before, whoever's it was. */
async function sessionOfBrowser(call: Call<unknown>): Promise<string | undefined> {
  const { headers, core } = call.request;
  if (headers.authorization !== undefined) return undefined;
  return core.claims?.sessionId ?? sessionOfRefreshToken(call);
}
