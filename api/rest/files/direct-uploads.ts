import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { fileName } from '#entities/kit/base/file-name.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { uploadOwnerOf, type UploadOwner } from '#entities/kit/objects/upload-owner.ts';
import { missingUpload } from '#entities/kit/objects/upload-problems.ts';
import { uploadLinkMs } from '#entities/kit/objects/upload-rows.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { beginUpload } from '../../http/streams/begin-upload.ts';
import { findUpload } from './find-upload.ts';
import { purposeIn, purposeQuery, uploadErrors, uploadLifetimeMs } from './upload-answer.ts';
import { withUploadLock } from './upload-lock.ts';
import { idSchema } from '../../http/request-schemas.ts';

const params = Type.Object({ id: idSchema('Id of the upload.') });

const beginDirect = (registry: Registry): Route =>
  defineRoute({
    method: 'POST',
    url: '/v1/uploads/direct',
    operationId: 'beginDirectUpload',
    tag: 'Files',
    summary: 'Begin a direct upload',
    description:
      'Returns a link to which the bytes of one file are sent with PUT, without further credentials: at the provider of the object storage if it has such links, else at this server. After the bytes, call /v1/uploads/{id}/complete.',
    access: 'required',
    answersCredential: true,
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    runsOnce: true,
    query: purposeQuery(registry),
    body: Type.Object(
      {
        name: Type.String({
          minLength: 1,
          maxLength: 1_000,
          [describedKeyword]: { format: 'file-name' },
          description: 'Name of the file.',
        }),
        size_bytes: Type.Integer({ minimum: 1, description: 'Size of the file in bytes.' }),
        type: Type.Optional(Type.String({ maxLength: 255, description: 'Media type of the file.' })),
        sha256: Type.Optional(
          Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the content, in hexadecimal digits.' }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: {
      201: Type.Object({
        id: Type.String({ description: 'Id of the upload.' }),
        url: Type.String({ description: 'URL to which the bytes are sent with PUT.' }),
        headers: Type.Record(Type.String(), Type.String(), { description: 'Headers that the PUT must have.' }),
        expires_at: Type.String({ format: 'date-time', description: 'When the link ends.' }),
      }),
    },
    errors: ['body_too_large', 'file_type_refused', 'limit_exceeded', 'storage_disabled', 'storage_unavailable'],
    handle: async ({ request, body, query, services }) => {
      const { config, fileReceiver, signedLinks } = services;
      const { size_bytes: sizeBytes, type, sha256 } = body;
      const name = fileName(body.name);
      const owner = uploadOwnerOf(request.core.caller);
      const declared = { name, sizeBytes, ...(type ? { type } : {}), ...(sha256 ? { sha256 } : {}) };
      const upload = {
        route: 'direct',
        declared,
        purpose: purposeIn(registry, query),
        lifetimeMs: uploadLifetimeMs,
      } as const;
      const begun = await beginUpload(services, owner, upload);
      const { id, location, at } = begun;
      const expiresAt = new Date(at.getTime() + uploadLinkMs);
      const link = await fileReceiver.linkToStore(location, {
        sizeBytes,
        type,
        expiresInSeconds: uploadLinkMs / 1_000,
      });
      const token = () => signedLinks.issue('upload', [id, owner.actor, owner.organizationId, expiresAt.getTime()]);
      const { url, headers } = link ?? {
        url: `${publicApiUrl(config.current)}/v1/uploads/${id}/content?token=${token()}`,
        headers: {},
      };
      return { status: 201, body: { id, url, headers, expires_at: expiresAt.toISOString() } };
    },
  });

const storeContent = defineRoute({
  method: 'PUT',
  url: '/v1/uploads/:id/content',
  operationId: 'sendUploadContent',
  tag: 'Files',
  summary: 'Send the bytes of a direct upload',
  description:
    'Stores the body as the bytes of the upload. The token of the link is the only credential; the rights are checked when a record takes the upload. It works once.',
  access: 'anonymous',
  verifiesSignature: true,
  params,
  query: Type.Object(
    { token: Type.String({ maxLength: 2_048, description: 'Token of the link.' }) },
    { additionalProperties: false },
  ),
  receives: ['*'],
  answers: { 204: Type.Null() },
  errors: [...uploadErrors, 'not_found', 'upload_busy', 'upload_complete'],
  handle: async ({ params, query, request, services }) => {
    const { clock, fileReceiver, signedLinks, uploadRows } = services;
    const id = params['id'] ?? '';
    const owner = ownerIn(signedLinks.open('upload', String(query['token'])), id, clock.now());
    const upload = owner && (await uploadRows.find(id, owner, clock.now()));
    if (!owner || upload?.route !== 'direct') throw missingUpload(id);
    const { sizeBytes = 0 } = upload.declared;
    const length = request.headers['content-length'];
    if (length !== undefined && Number(length) > sizeBytes)
      throw new AppError('body_too_large', `The body has more than the ${sizeBytes} bytes that were announced.`);
    await withUploadLock(services, { id, owner }, request.log, async () => {
      await fileReceiver.receiveIncoming(request.raw, { location: upload.location, owner }, upload.declared);
      await uploadRows.arrive(id, owner, clock.now());
    });
    services.wakeRelays();
    return { status: 204, body: undefined };
  },
});

/** For whom a token was issued; undefined for one of another upload, or one that has ended. */
function ownerIn(content: readonly unknown[] | undefined, id: string, now: Date): UploadOwner | undefined {
  const [uploadId, actor, organizationId, expiresAt] = content ?? [];
  if (uploadId !== id || typeof actor !== 'string' || Number(expiresAt) <= now.getTime()) return undefined;
  return { actor, organizationId: typeof organizationId === 'string' ? organizationId : null };
}

const completeUpload = defineRoute({
  method: 'POST',
  url: '/v1/uploads/:id/complete',
  operationId: 'completeDirectUpload',
  tag: 'Files',
  summary: 'Complete a direct upload',
  description:
    'Reports that all bytes have been sent. They are checked next; /v1/uploads/{id} says when a record can take the upload.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  runsOnce: true,
  params,
  answers: { 204: Type.Null() },
  errors: ['not_found', 'rule_violated'],
  handle: async (call) => {
    const { services, request } = call;
    const { id, route } = await findUpload(call);
    if (route !== 'direct')
      throw new AppError(
        'rule_violated',
        `The upload "${id}" did not begin with /v1/uploads/direct, so it is complete once its last byte has arrived; GET /v1/uploads/${id} returns its status.`,
      );
    await services.uploadRows.arrive(id, uploadOwnerOf(request.core.caller), services.clock.now());
    services.wakeRelays();
    return { status: 204, body: undefined };
  },
});

export const directUploads = (registry: Registry): readonly Route[] => [
  beginDirect(registry),
  storeContent,
  completeUpload,
];
