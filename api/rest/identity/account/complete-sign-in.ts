import { Type } from 'typebox';
import { externalIdentity } from '#entities/identity/external-identity.ts';
import { passkey } from '#entities/identity/passkey.ts';
import { user } from '#entities/identity/user.ts';
import { firstOrganization } from '#entities/organizations/first-organization-rows.ts';
import { noSignOn, type SignOn } from '#entities/kit/access/single-sign-on.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import {
  challengeLifetimeMs,
  credentialDigest,
  refusedChallenge,
  type Challenge,
  type SignInMethod,
} from '../../../auth/challenge-token.ts';
import type { Call, RouteResponse } from '../../../http/route.ts';
import { confirmedFactor } from '../../../credentials/confirmed-factor.ts';
import { beginSession, sessionsToEnd } from './begin-session.ts';
import { homeInFirst, homeOrganization } from './home-organization.ts';
import { isNewDevice, knownBrowser, rememberBrowser } from './known-browser.ts';
import { SessionSchema } from './session-answer.ts';

type Person = RowOf<typeof user>;

/** Proof that a person has given, and its method. */
export interface ProvenSignIn {
  readonly userId: string;
  readonly method: SignInMethod;
  /** Id of the passkey or the linked identity; null for a password. */
  readonly credentialId: string | null;
  /** The hash that the password was compared with: the user may have set another one since. */
  readonly passwordHash?: string;
  /** The single sign-on, in whose organization alone the session is valid; absent for other ways to sign in. */
  readonly signOn?: SignOn;
  /** Further writes once the person is known to be active. The user is locked then. */
  readonly alongside?: () => Promise<void>;
}

const ChallengeSchema = Type.Object(
  {
    mfa_required: Type.Literal(true, { description: 'The sign-in also needs a second factor.' }),
    challenge_token: Type.String({
      description: 'Send it to /v1/2fa/validate with a code. It is no access token, and nothing else accepts it.',
    }),
    expires_in: Type.Integer({ description: 'Seconds until the challenge expires.' }),
  },
  { title: 'SecondFactorChallenge' },
);

/** Response of a sign-in: a session, or a challenge for people with a second factor. */
export const SignInSchema = Type.Union([SessionSchema, ChallengeSchema], { title: 'SignIn' });

/**
 * Ends every way to sign in, so that what a session requires is decided in one place: an active person, and a code from those who have
 * a second factor, whatever the first was. Locks the user: what changes the credentials at the same moment either is found here, or
 * finds the session that begins here and ends it. A passkey or an identity that was removed meanwhile signs nobody in.
 * @throws AppError invalid_credentials, single_sign_on_required
 */
export async function completeSignIn(
  call: Call<unknown>,
  { userId, method, credentialId, passwordHash, alongside = nothing, signOn = noSignOn }: ProvenSignIn,
): Promise<RouteResponse> {
  // Sent together: all else is read after the lock.
  const [person, factor, found] = await Promise.all([
    lockPerson(call, { userId, method, credentialId }),
    confirmedFactor(call, userId),
    findForBeginning(call, userId, signOn),
  ]);
  if (!person || (passwordHash !== undefined && person.passwordHash !== passwordHash))
    throw method === 'password' ? wrongPassword() : new AppError('invalid_credentials', 'This account cannot sign in.');
  if (!factor) return begin(call, person, signOn, found, alongside);
  const credential = credentialDigest(person.passwordHash);
  const challenge = { userId, method, credentialId, ...signOn, credential };
  const [token] = await Promise.all([call.services.challengeTokens.issue(challenge), alongside()]);
  return {
    status: 200,
    body: {
      mfa_required: true,
      challenge_token: token,
      expires_in: challengeLifetimeMs / 1_000,
    },
  };
}

async function nothing(): Promise<void> {}

/**
 * Begins the session of a person who has answered a challenge. The user is locked from here on.
 * @param answer checks the code of the second factor
 * @throws AppError unauthenticated if the first proof is no longer valid
 */
export async function completeChallenge(
  call: Call<unknown>,
  challenge: Challenge,
  answer: () => Promise<void>,
): Promise<RouteResponse> {
  const person = await lockPerson(call, challenge);
  if (!person || credentialDigest(person.passwordHash) !== challenge.credential) throw refusedChallenge();
  await answer();
  const { singleSignOnId, singleSignOnRevision, singleSignOnMembershipId } = challenge;
  const signOn = { singleSignOnId, singleSignOnRevision, singleSignOnMembershipId };
  return begin(call, person, signOn, await findForBeginning(call, person.id, signOn), nothing);
}

/** The same whether the address is unknown, the password is wrong or the account cannot sign in. */
export function wrongPassword(): AppError {
  return new AppError(
    'invalid_credentials',
    'The e-mail address or the password is wrong, or the address is not confirmed yet; POST /v1/resend sends a new link that confirms it.',
  );
}

/** Records of what people sign in with. A password has none; a challenge keeps a digest of it. */
const credentialKinds = { passkey, provider: externalIdentity, single_sign_on: externalIdentity } as const;

/** The person, if they are active and what they have signed in with is still theirs. */
async function lockPerson(
  { unit }: Call<unknown>,
  { userId, method, credentialId }: Pick<Challenge, 'userId' | 'method' | 'credentialId'>,
): Promise<Person | undefined> {
  const data = unit.data.privileged('complete sign-in');
  const person = await data.findLocked(user, userId);
  if (!person?.emailConfirmedAt || person.status !== 'active') return undefined;
  if (method === 'password') return person;
  // Read after the lock, which unlinking and setting a password take, too.
  const held = await data.findOne(credentialKinds[method], { id: { eq: credentialId ?? '' } });
  return held?.userId === userId ? person : undefined;
}

/** Facts on which a new session depends. */
type Found = Awaited<ReturnType<typeof findForBeginning>>;

async function findForBeginning({ unit }: Call<unknown>, userId: string, { singleSignOnId }: SignOn) {
  const [first, ending] = await Promise.all([
    singleSignOnId === null ? firstOrganization(unit, userId) : undefined,
    sessionsToEnd(unit, { userId, singleSignOnId }),
  ]);
  return { first, ending };
}

/** Only a browser that has signed in completely is known at the next sign-in. */
async function begin(
  call: Call<unknown>,
  person: Person,
  signOn: SignOn,
  { first, ending }: Found,
  alongside: () => Promise<void>,
): Promise<RouteResponse> {
  const { singleSignOnId } = signOn;
  const isNew = isNewDevice(person, knownBrowser(call, person, singleSignOnId), call.services.clock.now());
  rememberBrowser(call, person, singleSignOnId);
  const home = homeInFirst(first) ?? (await homeOrganization(call, { person, ...signOn }, singleSignOnId));
  return beginSession(call, { userId: person.id, home, ending, isNewDevice: isNew, alongside, ...signOn });
}

/**
 * URL at which a browser continues after a sign-in elsewhere. A challenge is in the fragment of the address, which no server sees.
 * @param response of `completeSignIn`
 */
export function addressAfter(response: RouteResponse, target: string): string {
  const { challenge_token: challenge } = ('body' in response ? response.body : {}) as { challenge_token?: string };
  if (challenge === undefined) return target;
  return `${target}${target.includes('#') ? '&' : '#'}mfa_required=true&challenge_token=${challenge}`;
}
