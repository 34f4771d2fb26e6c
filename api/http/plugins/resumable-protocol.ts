import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Services } from '../services.ts';

/** The version of the protocol tus (https://tus.io/protocols/resumable-upload). */
export const tusVersion = '1.0.0';

/** Where resumable uploads begin. */
export const resumablePath = '/v1/uploads/resumable';

/**
 * Routes of resumable uploads name the version of their protocol in every answer, refusals included, and refuse other versions. OPTIONS says
 * what the server can do.
 */
export function resumableProtocol(app: FastifyInstance, { fileReceiver }: Pick<Services, 'fileReceiver'>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { tus } = request.routeOptions.config;
    if (request.method === 'OPTIONS' && request.url.split('?', 1)[0] === resumablePath)
      return reply
        .headers({
          'tus-resumable': tusVersion,
          'tus-version': tusVersion,
          'tus-extension': 'creation,expiration,termination',
          'tus-max-size': String(fileReceiver.maxBytes),
        })
        .code(204)
        .send();
    if (tus === undefined) return done();
    void reply.header('tus-resumable', tusVersion);
    const sent = request.headers['tus-resumable'];
    if (sent === tusVersion || (sent === undefined && tus === 'optional')) return done();
    void reply.header('tus-version', tusVersion);
    return done(
      new AppError(
        'protocol_version_unsupported',
        `The header Tus-Resumable ${sent === undefined ? 'is missing' : `has "${String(sent)}"`}; send ${tusVersion}.`,
      ),
    );
  });
}
