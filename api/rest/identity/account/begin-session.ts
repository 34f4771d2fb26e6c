import { session } from '#entities/identity/session.ts';
import { noteSeen } from '#entities/identity/last-seen-rows.ts';
import type { SignOn } from '#entities/kit/access/single-sign-on.ts';
import { surplusSessions } from '#entities/identity/surplus-session-rows.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Call, RouteResponse } from '../../../http/route.ts';
import type { Home } from './home-organization.ts';
import { sessionOfRefreshToken } from './sent-refresh-token.ts';
import { sessionAnswer } from './session-answer.ts';
import { issueTokens } from './session-tokens.ts';

/**
 * Sessions of a person that continue beside a new one. A sign-in beyond them ends the one that was used longest ago. The operator of a
 * provider of single sign-on does not push out the others.
 */
const limits = { alike: 99, singleSignOns: 399 } as const;

/** Characters of the header User-Agent that are kept. */
const maxUserAgentLength = 256;

/** A session that begins. */
interface Beginning extends SignOn {
  readonly userId: string;
  readonly home: Home | null;
  /** `sessionsToEnd`. */
  readonly ending: readonly string[];
  /** An event says so, and a mail. */
  readonly isNewDevice: boolean;
  /** Further writes in the same transaction. */
  readonly alongside: () => Promise<void>;
}

/** The sessions of a person that end when another begins: those that have expired, and those beyond the limits. */
export function sessionsToEnd(
  unit: UnitOfWork,
  begun: { readonly userId: string; readonly singleSignOnId: string | null },
): Promise<string[]> {
  return surplusSessions(unit, begun, limits);
}

/**
 * Begins a session of a person who has proven who they are, and returns its tokens. It ends the session that this browser had, and those of
 * `ending`.
 */
export async function beginSession(
  call: Call<unknown>,
  { userId, home, ending, isNewDevice, alongside, ...signOn }: Beginning,
): Promise<RouteResponse> {
  const { unit, request, services } = call;
  const { singleSignOnId } = signOn;
  const data = unit.data.privileged('sign-in');
  // A new id with each sign-in: nobody can have known it before.
  const sessionId = newId();
  const claims = { userId, sessionId, home };
  const [{ access, refresh, values }, ofBrowser] = await Promise.all([
    issueTokens(call, claims, { singleSignOnId, createdAt: services.clock.now() }),
    sessionOfBrowser(call),
  ]);
  const ended = new Set(ending);
  if (ofBrowser !== undefined) ended.add(ofBrowser);
  if (ended.size > 0) await data.removeAll(session, [...ended]);
  const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentLength) ?? '';
  const create = async () => {
    // The others wait for what is buffered, so nothing is buffered here before they run.
    await unit.flush();
    const begun = await data.create(session, {
      id: sessionId,
      userId,
      userAgent: userAgent || null,
      ...signOn,
      // Single sign-on proves who somebody is to one organization alone.
      provenAt: singleSignOnId === null ? values.lastSeenAt : null,
      ...values,
    });
    if (isNewDevice)
      unit.emit(customEvent(session, 'begun_on_new_device', begun, { userId, userAgent, address: begun.address }));
    // Sent together with the statements of the others.
    await unit.flush();
  };
  await Promise.all([noteSeen(unit, userId, home?.organizationId ?? null), alongside(), create()]);
  return sessionAnswer(call, access, refresh);
}

/** The session that a browser had before, whoever's it was. */
async function sessionOfBrowser(call: Call<unknown>): Promise<string | undefined> {
  const { headers, core } = call.request;
  if (headers.authorization !== undefined) return undefined;
  return core.claims?.sessionId ?? sessionOfRefreshToken(call);
}
