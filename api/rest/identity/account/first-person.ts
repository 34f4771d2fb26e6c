import type { FastifyRequest } from 'fastify';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { AccessClaims } from '../../../auth/access-token.ts';
import type { DefaultCaller } from '../../../http/default-caller.ts';
import { workOf } from '../../../http/request-context.ts';
import { noSignOn } from '#entities/kit/access/single-sign-on.ts';
import { homeOrganization } from './home-organization.ts';

/** While authentication is off, requests without credentials run for the active user who signed up first. */
export class FirstPerson implements DefaultCaller {
  readonly #database: Database;
  #claims: AccessClaims | undefined;
  /** All that were ever found: requests under way may have those of a person that was forgotten since. */
  readonly #found = new WeakSet<object>();

  constructor(database: Database) {
    this.#database = database;
  }

  async find({ core }: FastifyRequest): Promise<AccessClaims | undefined> {
    this.#claims ??= await this.#database.transact(
      { ...workOf(core, systemCaller('authentication is off')), readOnly: true },
      async (unit) => {
        const [person] = await unit.data.find(user, {
          where: { status: { eq: 'active' } },
          orderBy: [{ field: 'createdAt', direction: 'asc' }],
          limit: 1,
        });
        if (!person) return undefined;
        const home = await homeOrganization({ unit }, { person, ...noSignOn });
        const organizationId = home?.organizationId ?? null;
        return { tokenId: '', userId: person.id, organizationId, sessionId: '', expiresAt: new Date(8.64e15) };
      },
    );
    if (this.#claims) this.#found.add(this.#claims);
    return this.#claims;
  }

  is(token: object): boolean {
    return this.#found.has(token);
  }

  forget(): void {
    this.#claims = undefined;
  }
}
