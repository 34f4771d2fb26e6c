import { Type, type TObject } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { idSchema } from '../../../http/request-schemas.ts';
import { defineRoute, type Call, type Route, type RouteResponse } from '../../../http/route.ts';
import { ScimError, scimErrorAnswer, ScimErrorSchema, scimPath, scimType } from './scim-error.ts';
import { inDirectory, type ScimDirectory } from './scim-sender.ts';

const base = `${scimPath}:endpointID/v2`;

export type Resource = Record<string, unknown>;
type Params = Readonly<Record<string, string>>;

const endpointParams = { endpointID: idSchema('Id of the integration webhook.') };

interface ScimRoute {
  readonly method: Route['method'];
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject['properties'];
  readonly query?: TObject['properties'];
  readonly hasBody?: true;
  readonly status?: 201 | 204;
  readonly errors?: readonly ErrorCode[];
  /** @returns undefined for an answer without content */
  readonly handle: (
    directory: ScimDirectory,
    call: {
      readonly params: Params;
      readonly query: Call<unknown>['query'];
      readonly body: unknown;
      readonly ifMatch: string | undefined;
    },
  ) => Promise<Resource | undefined>;
}

/** A route of a directory: in one transaction, with documents of SCIM as requests, answers and errors. */
export function defineScimRoute(route: ScimRoute): Route {
  const { method, path, status = 200, hasBody, handle, params, query = {}, ...described } = route;
  return defineRoute({
    operationId: described.operationId,
    summary: described.summary,
    description: `${described.description} Protocol: SCIM 2.0 (RFC 7644), with the secret of the integration webhook as the bearer token. Errors are SCIM documents.`,
    method,
    url: base + path,
    tag: 'SCIM',
    access: 'anonymous',
    verifiesSignature: true,
    // Some clients send a type of content without content.
    ...(method === 'GET' ? {} : { rawBodyLimit: mebibyte }),
    params: Type.Object({ ...endpointParams, ...params }),
    // Identity providers add parameters that turn on variants of their own.
    query: Type.Object(query, { additionalProperties: true }),
    answers: { [status]: status === 204 ? Type.Null() : Type.String() },
    produces: scimType,
    sends: method === 'DELETE' ? [] : ['ETag'],
    // It has a transaction of its own.
    runsOnce: true,
    errorAnswer: scimErrorAnswer,
    errorDocument: { type: scimType, schema: ScimErrorSchema },
    errors: ['not_found', 'unauthenticated', 'permission_denied', ...(described.errors ?? [])],
    handle: async (call): Promise<RouteResponse> => {
      const { request, reply, services } = call;
      const root = publicApiUrl(services.config.current);
      const baseUrl = (endpointId: string) => `${root}${base.replace(':endpointID', endpointId)}`;
      const body = hasBody ? documentOf(call.body) : undefined;
      const resource = await inDirectory(
        call,
        { baseUrl, isWriting: method !== 'GET' && hasEffect(path) },
        (directory) =>
          handle(directory, {
            params: call.params,
            query: call.query,
            body,
            ifMatch: request.headers['if-match'],
          }),
      );
      if (resource === undefined) return { status: 204, body: undefined };
      const { version, location } = (resource['meta'] ?? {}) as {
        readonly version?: string;
        readonly location?: string;
      };
      if (version !== undefined) void reply.header('etag', version);
      if (status === 201 && location !== undefined) void reply.header('location', location);
      return { status, json: JSON.stringify(resource) };
    },
  });
}

/** Searches read, although they are sent with POST. */
function hasEffect(path: string): boolean {
  return !path.endsWith('/.search');
}

/** @throws ScimError invalidSyntax */
function documentOf(body: unknown): unknown {
  const bytes = body instanceof Buffer ? body : Buffer.alloc(0);
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof JsonRefusal)
      throw new ScimError('invalidSyntax', `The body is not accepted: ${error.message}.`);
    if (error instanceof TypeError) throw new ScimError('invalidSyntax', 'The body is not UTF-8.');
    throw error;
  }
}
