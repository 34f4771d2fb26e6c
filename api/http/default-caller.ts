import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { AccessClaims } from '../auth/access-token.ts';

/** The person for whom requests without credentials run while `auth.enabled` is off. */
export interface DefaultCaller {
  /** The ids of the person; undefined while nobody has signed up. */
  find(request: FastifyRequest): Promise<AccessClaims | undefined>;
  /** Whether these are ids that `find` returned. */
  is(token: object): boolean;
  /** The person has lost the account or the organization: the next request looks for another one. */
  forget(): void;
}

/**
 * Whether a request was sent to an address or to localhost. A website whose name leads to this machine (DNS rebinding) sends its own
 * name, and so does a reverse proxy.
 */
export function isLocalName({ hostname }: Pick<FastifyRequest, 'hostname'>): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0;
}
