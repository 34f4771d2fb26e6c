import type { FastifyInstance } from 'fastify';
import type { Delegation } from '#entities/kit/model/caller.ts';

/** The header of each type of delegation. */
const headers = { support: 'support-access', impersonation: 'impersonation' } as const satisfies Record<
  Delegation['type'],
  string
>;

/**
 * Marks each response to somebody who acts as somebody else, so that pages show a banner: a dictionary (RFC 8941, section 3.2) with the
 * record of the access, the name of who acts, percent-encoded, and when it ends.
 */
export function delegationBanner(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // Requests that are refused at once have no context.
    const delegation = (request.core as typeof request.core | undefined)?.caller.delegation;
    if (delegation) {
      const { id, type, actorName, expiresAt } = delegation;
      const until = new Date(expiresAt).toISOString();
      reply.header(headers[type], `id="${id}", actor="${encodeURIComponent(actorName)}", until="${until}"`);
    }
    done(null, payload);
  });
}
