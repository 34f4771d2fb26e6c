import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { fileName } from '#entities/kit/base/file-name.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { missingUpload } from '#entities/kit/objects/upload-problems.ts';
import type { UploadProgress } from '#entities/kit/objects/upload-rows.ts';
import { resumablePath, tusVersion } from '../../http/plugins/resumable-protocol.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { beginUpload } from '../../http/streams/begin-upload.ts';
import { findUpload } from './find-upload.ts';
import { withUploadLock } from './upload-lock.ts';
import { purposeIn, purposeQuery, uploadErrors, uploadLifetimeMs } from './upload-answer.ts';
import { idSchema } from '../../http/request-schemas.ts';

const params = Type.Object({ id: idSchema('Id of the upload.') });

const tusHeaders = { 'tus-resumable': Type.Literal(tusVersion, { description: 'Version of the protocol tus.' }) };
const byteCount = '^(0|[1-9][0-9]{0,14})$';
const bytes = (description: string) => Type.String({ pattern: byteCount, description });

const rules = { tag: 'Files', access: 'required', acceptsTokens: true, acceptsSingleSignOn: true } as const;

const beginResumable = (registry: Registry): Route =>
  defineRoute({
    ...rules,
    method: 'POST',
    url: resumablePath,
    operationId: 'beginResumableUpload',
    tus: 'required',
    summary: 'Begin a resumable upload',
    description:
      'Begins an upload by the protocol tus 1.0 (creation). Its address is in the header Location; its bytes follow with PATCH. When all have arrived they are checked, and a record can take the upload as soon as it is ready.',
    query: purposeQuery(registry),
    headers: Type.Object({
      ...tusHeaders,
      'upload-length': Type.String({
        pattern: byteCount,
        [describedKeyword]: { pattern: '^[1-9][0-9]{0,14}$' },
        description: 'Size of the file in bytes.',
      }),
      'upload-metadata': Type.String({
        maxLength: 4_096,
        [describedKeyword]: { format: 'tus-metadata' },
        examples: ['filename cmVwb3J0LnBkZg=='],
        description:
          'Pairs of a name and a value in base64, separated by commas: filename; optionally filetype, and sha256 (of the content, in hexadecimal digits).',
      }),
    }),
    runsOnce: true,
    sends: ['Location'],
    answers: { 201: Type.Null() },
    errors: ['body_too_large', 'file_type_refused', 'limit_exceeded', 'storage_disabled', 'storage_unavailable'],
    handle: async ({ request, reply, query, services }) => {
      const sizeBytes = Number(request.headers['upload-length']);
      if (sizeBytes === 0) throw new AppError('invalid_input', 'The file is empty; send one with content.');
      const { name, ...declared } = declaredIn(String(request.headers['upload-metadata']));
      const owner = uploadOwnerOf(request.core.caller);
      const upload = {
        route: 'resumable',
        declared: { name, sizeBytes, ...declared },
        purpose: purposeIn(registry, query),
        lifetimeMs: uploadLifetimeMs,
      } as const;
      const { id, expiresAt } = await beginUpload(services, owner, upload);
      reply.headers({ ...progressHeaders(0, expiresAt), location: `/v1/uploads/${id}` });
      return { status: 201, body: undefined };
    },
  });

const continueUpload = defineRoute({
  ...rules,
  method: 'PATCH',
  tus: 'required',
  url: '/v1/uploads/:id',
  operationId: 'sendUploadBytes',
  summary: 'Send bytes of a resumable upload',
  description:
    'Appends the body to the upload, whose size the header Upload-Offset must name. Bytes that arrive before the connection breaks are kept; HEAD returns their number. One request writes at a time.',
  params,
  headers: Type.Object({ ...tusHeaders, 'upload-offset': bytes('Number of bytes that the upload has already.') }),
  receives: ['application/offset+octet-stream'],
  answers: { 204: Type.Null() },
  errors: [...uploadErrors, 'not_found', 'upload_busy', 'upload_complete', 'stale_record'],
  handle: async (call) => {
    const { request, reply, services } = call;
    const { clock, fileReceiver, uploadRows } = services;
    const owner = uploadOwnerOf(request.core.caller);
    const { id, route } = await findUpload(call);
    if (route !== 'resumable') throw missingUpload(id);
    return withUploadLock(services, { id, owner }, request.log, async ({ writer, until, upload }) => {
      if (Number(request.headers['upload-offset']) !== upload.received)
        throw new AppError('stale_record', `The upload has ${upload.received} bytes; send the bytes that follow.`);
      const state = { ...upload, sizeBytes: upload.declared.sizeBytes ?? 0 };
      const save = (progress: UploadProgress) => uploadRows.saveParts(id, owner, writer, progress, until());
      const { isComplete, received } = await fileReceiver.resume(
        request.raw,
        { location: upload.location, owner },
        state,
        save,
      );
      if (isComplete) {
        await uploadRows.arrive(id, owner, clock.now());
        services.wakeRelays();
      }
      reply.headers(progressHeaders(received, upload.expiresAt));
      return { status: 204, body: undefined };
    });
  },
});

const readUpload = defineRoute({
  ...rules,
  method: 'GET',
  tus: 'optional',
  url: '/v1/uploads/:id',
  operationId: 'getUpload',
  summary: 'Show an upload',
  description:
    'Returns the status of an upload: whether bytes are missing (receiving), it is being checked (arrived), a record can take it (ready), or it was refused. HEAD returns the size so far in Upload-Offset, as tus has it.',
  params,
  runsOnce: true,
  answers: {
    200: Type.Object({
      id: Type.String({ description: 'Id of the upload.' }),
      status: Type.Enum(['receiving', 'arrived', 'ready', 'refused'], { description: 'Status of the upload.' }),
      name: Type.String({ description: 'Name under which the file is kept.' }),
      received_bytes: Type.Integer({ description: 'Bytes that have arrived.' }),
      expires_at: Type.String({ format: 'date-time', description: 'When it is removed unless a record has taken it.' }),
      problem: Type.Union([Type.String(), Type.Null()], { description: 'Why it was refused.' }),
    }),
  },
  errors: ['not_found'],
  handle: async (call) => {
    const { id, route, state: status, name, declared, expiresAt, problem, ...upload } = await findUpload(call);
    // The last bytes are noted together with the end of the check.
    const hasAll = route === 'resumable' && status !== 'receiving';
    const received = (hasAll && declared.sizeBytes) || upload.received;
    const length = declared.sizeBytes === undefined ? {} : { 'upload-length': String(declared.sizeBytes) };
    call.reply.headers({ ...progressHeaders(received, expiresAt), ...length, 'cache-control': 'no-store' });
    const body = {
      id,
      status,
      name,
      received_bytes: received,
      expires_at: expiresAt.toISOString(),
      problem: problem?.message ?? null,
    };
    return { status: 200, body };
  },
});

const removeUpload = defineRoute({
  ...rules,
  method: 'DELETE',
  tus: 'optional',
  url: '/v1/uploads/:id',
  operationId: 'deleteUpload',
  summary: 'Give up an upload',
  description: 'Removes an upload that no record has taken.',
  params,
  runsOnce: true,
  answers: { 204: Type.Null() },
  errors: ['not_found'],
  handle: async (call) => {
    const { id } = await findUpload(call);
    const reason = new AppError('not_found', 'The upload was given up by its owner.');
    const { services, request } = call;
    await services.uploadRows.refuse(id, uploadOwnerOf(request.core.caller), reason, services.clock.now());
    return { status: 204, body: undefined };
  },
});

export const resumableUploads = (registry: Registry): readonly Route[] => [
  beginResumable(registry),
  readUpload,
  continueUpload,
  removeUpload,
];

function progressHeaders(received: number, expiresAt: Date): Record<string, string> {
  return { 'upload-offset': String(received), 'upload-expires': expiresAt.toUTCString() };
}

/** @throws AppError invalid_input */
function declaredIn(metadata: string): { readonly name: string; readonly type?: string; readonly sha256?: string } {
  const pairs = new Map(
    metadata.split(',').map((pair) => {
      const [key = '', value = ''] = pair.trim().split(' ');
      return [key, decoded(key, value)] as const;
    }),
  );
  const filename = pairs.get('filename');
  if (!filename) throw new AppError('invalid_input', 'Upload-Metadata has no filename; send one, in base64.');
  const sha256 = pairs.get('sha256');
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/iu.test(sha256))
    throw new AppError('invalid_input', 'The value sha256 of Upload-Metadata must have 64 hexadecimal digits.');
  const type = pairs.get('filetype');
  return {
    name: fileName(filename),
    ...(type ? { type: type.slice(0, 255) } : {}),
    ...(sha256 ? { sha256: sha256.toLowerCase() } : {}),
  };
}

/** @throws AppError invalid_input */
function decoded(key: string, value: string): string {
  const bytes = Buffer.from(value, 'base64');
  if (bytes.toString('base64').replace(/=+$/u, '') !== value.replace(/=+$/u, ''))
    throw new AppError('invalid_input', `The value of ${key || 'a pair'} in Upload-Metadata is not base64.`);
  return bytes.toString('utf8');
}
