import type { FastifyInstance } from 'fastify';
import { organizationHeader } from '../request-caller.ts';

/**
 * Names in each response to a personal token the organization in which it acted: a token of a person with several acts in one of them
 * if the request names none, and nothing else in the response would say so.
 */
export function actingOrganization(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // Requests that are refused at once have no context.
    const { token, caller } = (request.core as typeof request.core | undefined) ?? {};
    const isPersonal = token !== undefined && 'sort' in token && token.sort === 'personal';
    if (isPersonal && caller?.organizationId) reply.header(organizationHeader, caller.organizationId);
    done(null, payload);
  });
}
