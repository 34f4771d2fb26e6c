import type { FastifyInstance, preValidationHookHandler } from 'fastify';
import { Type, type TObject, type TSchema } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { AppError } from '#entities/kit/base/errors.ts';

/** Settings of a route for its body (route.ts). */
interface WithBody {
  readonly receives?: readonly string[];
  readonly receivedBody?: TSchema;
}

/** Maximum size of a form that is ignored, in bytes. */
const maxIgnoredBytes = 10_000;

/** Reads forms as an empty document. */
export function acceptForms(scope: FastifyInstance): void {
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
  scope.addContentTypeParser(types, { parseAs: 'buffer', bodyLimit: maxIgnoredBytes }, (_request, _body, done) =>
    done(null, {}),
  );
}

/** Hands bodies of any type to handlers as bytes. */
export function acceptBytes(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
}

/** Hands bodies of these types to handlers unread; all others are refused. */
export function acceptStreams(scope: FastifyInstance, types: readonly string[]): void {
  scope.removeAllContentTypeParsers();
  for (const type of types) scope.addContentTypeParser(type, (_request, _body, done) => done(null));
}

/** Adds the body that the handler reads itself to the description of its route: a schema of the route would be checked. */
export function describesBody({ receives = [], receivedBody = bytesSchema }: WithBody) {
  const consumes = receives.map((type) => (type === '*' ? '*/*' : type));
  return ({ schema, url }: { readonly schema: object; readonly url: string }) => ({
    schema: { ...schema, body: receivedBody, consumes },
    url,
  });
}

const bytesSchema = Type.String({ format: 'binary', description: 'The bytes.' });

/** Whether nothing of a body is required: it can be left out. */
export function isOptional(body: TObject): boolean {
  const { [describedKeyword]: described, ...checked } = body as BodyShape;
  const { required = [], minProperties = 0 } = { ...checked, ...described };
  return required.length === 0 && minProperties === 0;
}

interface BodyShape {
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly [describedKeyword]?: BodyShape;
}

export const completesBody: preValidationHookHandler = (request, _reply, done) => {
  if (request.body === undefined) request.body = {};
  done();
};

/** Rejects bodies of routes that declare none. */
export function refuseBody(body: unknown): void {
  const isEmpty = body === undefined || (isObject(body) && Object.keys(body).length === 0);
  if (!isEmpty) throw new AppError('invalid_input', 'This request must not have a body.');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
