import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { claimedId, expiredToken, invalidToken, type TokenPurpose } from '#entities/kit/base/secrets/one-time-token.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import type { LinkKind } from './link-kinds.ts';
import { checkLink } from './mailed-link.ts';

/** Time within which `guesses` are counted, in milliseconds. */
const windowMs = 15 * 60_000;

/** Why work is done past the rules, by the purpose of the link. */
const reasons = {
  'email-verification': 'confirm address',
  'password-reset': 'reset password',
  'email-change': 'confirm e-mail change',
  reactivation: 'reactivate account',
} as const satisfies Partial<Record<TokenPurpose, string>>;

interface Redemption<M extends EntityModule, Known, Proof> {
  /** Passwords that may be tried with one link within a quarter of an hour; undefined where none is compared. */
  readonly guesses: number | undefined;
  /** Reads what the proof needs. Its transaction ends before `prove` begins. */
  readonly read: (found: RowOf<M>, unit: UnitOfWork) => Known | Promise<Known>;
  /** Compares or hashes passwords, while no connection is held. */
  readonly prove: (known: Known) => Promise<Proof>;
  /** Addresses that no other request confirms or changes from then on. */
  readonly addresses: (known: Known) => readonly string[];
}

interface Redeemed<Known, Proof> {
  readonly known: Known;
  readonly proof: Proof;
  /** Acts for the holder of the link. */
  readonly data: DataClient;
}

/**
 * Redeems a mailed link, up to the changes that it is for: its record is read in a transaction of its own, and the attempt counted; the
 * password is compared or hashed; then the addresses and the record are locked, and the link is checked again, because another request
 * may have used it meanwhile.
 * @throws AppError invalid_token, token_expired, too_many_requests, and what `read` and `prove` throw
 */
export async function redeemLink<M extends EntityModule, Known, Proof>(
  { body: { token }, unit, services, request }: Call<{ readonly token: string }>,
  { purpose, module, stateOf }: LinkKind<M, keyof typeof reasons>,
  { guesses, read, prove, addresses }: Redemption<M, Known, Proof>,
): Promise<Redeemed<Known, Proof>> {
  const id = claimedId(purpose, token);
  const usable = (found: RowOf<M> | undefined): RowOf<M> => {
    const state = found === undefined ? undefined : stateOf(found);
    if (found === undefined || !state) throw invalidToken(purpose);
    checkLink(services, purpose, id, state.round, token);
    if (state.isUsed) throw invalidToken(purpose);
    if (state.expiresAt !== null && state.expiresAt <= services.clock.now()) throw expiredToken(purpose);
    return found;
  };
  const known = await services.database.transact(workOf(request.core, systemCaller(reasons[purpose])), async (own) => {
    const needed = await read(usable(await own.data.findOne(module, { id: { eq: id } })), own);
    if (guesses !== undefined) await countGuess(own, `${purpose}:${id}`, guesses);
    return needed;
  });
  const proof = await prove(known);

  const data = unit.data.privileged(reasons[purpose]);
  // In one order, so that two requests cannot wait for each other.
  for (const address of addresses(known).toSorted()) await lockEmail(unit, address);
  usable(await data.findLocked(module, id));
  return { known, proof, data };
}

/** Counts a password that is tried with a link before it is compared. @throws AppError too_many_requests */
async function countGuess(unit: UnitOfWork, key: string, limit: number): Promise<void> {
  const freeAt = await takeAttempt(unit, [{ key, limit }], windowMs);
  if (freeAt) throw tooManyAttempts('Too many attempts with this link', freeAt, unit.clock.now());
}
