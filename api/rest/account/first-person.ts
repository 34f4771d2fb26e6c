import type { FastifyRequest } from 'fastify';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import type { DefaultCaller } from '../../http/default-caller.ts';
import { workOf } from '../../http/request-context.ts';
import { homeOrganization } from './home-organization.ts';

/** While authentication is off, requests without credentials run for the active user who signed up first. */
export class FirstPerson implements DefaultCaller {
  readonly #database: Database;
  #claims: AccessClaims | undefined;

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
        const organizationId = await homeOrganization(unit, person.id);
        return { tokenId: '', userId: person.id, organizationId, sessionId: '', expiresAt: new Date(8.64e15) };
      },
    );
    return this.#claims;
  }

  is(claims: AccessClaims): boolean {
    return claims === this.#claims;
  }

  forget(): void {
    this.#claims = undefined;
  }
}
