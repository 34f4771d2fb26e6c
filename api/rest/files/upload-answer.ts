import { Type } from 'typebox';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { uploadPurposes, type UploadPurpose } from '#entities/kit/model/files/upload-purpose.ts';
import type { Call } from '../../http/route.ts';
import type { ReceivedFile } from '../../http/streams/receive-file.ts';

/** How long a record can take an upload, in milliseconds. */
export const uploadLifetimeMs = 24 * 3_600_000;

/** Errors of whatever receives a file. */
export const uploadErrors: readonly ErrorCode[] = [
  'malformed_body',
  'limit_exceeded',
  'file_type_refused',
  'checksum_mismatch',
  'storage_disabled',
  'storage_unavailable',
];

/** Query parameter of routes that begin uploads. */
export function purposeQuery(registry: Registry) {
  return Type.Object(
    {
      purpose: Type.Optional(
        Type.Enum([...uploadPurposes(registry).keys()], {
          description:
            'Field that the file is meant for. Its limits apply before the first byte then; they apply in any case when a record takes the file.',
        }),
      ),
    },
    { additionalProperties: false },
  );
}

/** The purpose that a request names. */
export function purposeIn(registry: Registry, { purpose }: Call<unknown>['query']): UploadPurpose | undefined {
  return typeof purpose === 'string' ? uploadPurposes(registry).get(purpose) : undefined;
}

export const UploadSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the upload, for the field of the record that takes the file.' }),
    name: Type.String({ description: 'Name under which the file is kept.' }),
    content_type: Type.String({ description: 'Type of the content.' }),
    size_bytes: Type.Integer({ description: 'Size in bytes.' }),
    sha256: Type.String({ description: 'SHA-256 of the content, in hexadecimal digits.' }),
    expires_at: Type.String({
      format: 'date-time',
      description: 'When the upload is removed unless a record has taken it.',
    }),
  },
  { title: 'Upload' },
);

export function uploadAnswer({ id, name, contentType, sizeBytes, sha256, expiresAt }: ReceivedFile) {
  return {
    id,
    name,
    content_type: contentType,
    size_bytes: sizeBytes,
    sha256: sha256.toString('hex'),
    expires_at: expiresAt.toISOString(),
  };
}
