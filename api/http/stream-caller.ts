import type { FastifyRequest } from 'fastify';
import { AssumedPrincipal, readWatchedPrincipal } from '#entities/kit/access/assumed-principal.ts';
import type { PrincipalSnapshot } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { anonymousCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { signInFirst } from './plugins/sign-in-first.ts';
import { acceptState, isExpired, secondFactorRequired } from './request-caller.ts';
import { workOf } from './request-context.ts';
import type { Services } from './services.ts';

/** Attempts at one read: the caller may change between two of them. */
const maxAttempts = 3;

/**
 * On whose behalf a stream runs that outlives its request. Each read is one unit of work of its own, for the caller as they are at that
 * moment, and what they depend on is known, so that the stream can end when they lose the access.
 */
export class StreamCaller {
  readonly #request: FastifyRequest;
  readonly #services: Services;
  #snapshot: PrincipalSnapshot | undefined;
  #scopes: ReadonlySet<string> = new Set();

  constructor(request: FastifyRequest, services: Services) {
    this.#request = request;
    this.#services = services;
  }

  get current(): Caller {
    return this.#request.core.caller;
  }

  /** Whether the caller depends on one of these ids, given as hashes (`caller_changes`). */
  dependsOn(changed: ReadonlySet<string>): boolean {
    return !this.#scopes.isDisjointFrom(changed);
  }

  /** Whether the token has expired since it was accepted. */
  get hasExpired(): boolean {
    const { token } = this.#request.core;
    if (token && 'expiresAt' in token && token.expiresAt <= this.#services.clock.now()) return true;
    return this.#snapshot !== undefined && isExpired(this.#snapshot.state, this.#services);
  }

  /** Reads who the caller is now. @throws AppError unauthenticated, second_factor_required, subscription_inactive, and those of the database */
  async recheck(): Promise<void> {
    const { core } = this.#request;
    const { token } = core;
    if (!token) throw signInFirst();
    if (this.hasExpired) throw ended();
    const { snapshot, scopes } = await readWatchedPrincipal(this.#services.database, token, this.#deadline);
    // Reads under way continue with the caller as it was until the new one is known.
    const judged = { ...core, assumption: undefined, lacksSecondFactor: false, caller: anonymousCaller };
    const request = Object.create(this.#request, { core: { value: judged } }) as FastifyRequest;
    await acceptState(request, this.#services, token, snapshot);
    if (judged.caller === anonymousCaller) throw signInFirst();
    if (judged.lacksSecondFactor) throw secondFactorRequired();
    core.assumption = undefined;
    core.caller = judged.caller;
    this.#snapshot = snapshot;
    this.#scopes = new Set(scopes);
  }

  /**
   * Reads in a read-only unit of work of its own, as the caller is at this moment.
   * @throws AppError unauthenticated when the access has ended, and whatever the read throws
   */
  async read<T>(read: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const { core } = this.#request;
    for (let attempt = 1; ; attempt++) {
      if (this.hasExpired) throw ended();
      const { token } = core;
      const snapshot = this.#snapshot;
      if (!token || !snapshot) throw signInFirst();
      const assumption = new AssumedPrincipal(token, snapshot, this.#services.database);
      const unit = this.#services.database.unitOfWork({
        ...workOf({ ...core, requestId: newId(), deadline: this.#deadline, assumption }),
        readOnly: true,
        isFresh: true,
      });
      try {
        const result = await read(unit);
        if (unit.state === 'open') await unit.commit();
        return result;
      } catch (error) {
        await unit.rollback();
        if (assumption.outcome !== 'refuted' || attempt === maxAttempts) throw error;
        await this.recheck();
      }
    }
  }

  get #deadline(): number {
    return Date.now() + this.#services.config.current.server.writetimeout;
  }
}

function ended(): AppError {
  return new AppError(
    'unauthenticated',
    'The token of this subscription has expired; sign in again, then subscribe again.',
  );
}
