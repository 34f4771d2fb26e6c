import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { maxFormFiles as maxFiles } from '#entities/kit/objects/stored-object.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { fileHint, readForm } from '../../http/streams/multipart.ts';
import { giveUpUploads, receiveFile, type ReceivedFile } from '../../http/streams/receive-file.ts';
import {
  purposeIn,
  purposeQuery,
  uploadAnswer,
  uploadErrors,
  uploadLifetimeMs,
  UploadSchema,
} from './upload-answer.ts';

const filesOfField = Type.Array(Type.String({ format: 'binary', [describedKeyword]: { minLength: 1 } }), {
  minItems: 1,
  description: 'Files, each a part of the form with a file name.',
});

/** The names of the fields are those of the configuration. */
const formSchema = Type.Object(
  { uploadFile: Type.Optional(filesOfField) },
  {
    required: ['uploadFile'],
    additionalProperties: false,
    description: 'Form with files in fields that have the names of objectstorage.keys, by default uploadFile alone.',
  },
);

export const uploadFiles = (registry: Registry): Route =>
  defineRoute({
    method: 'POST',
    url: '/v1/uploads',
    operationId: 'uploadFiles',
    tag: 'Files',
    summary: 'Upload files',
    description: `Stores the files of a form, at most ${maxFiles}, each at most as large as objectstorage.maxsizemb. Their fields have the names of objectstorage.keys. The content of a file decides its type, which its name must not contradict. A record takes a file when the id of its upload is written to one of its fields: once, within a day, by the same caller in the same organization.`,
    access: 'required',
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    query: purposeQuery(registry),
    receives: ['multipart/form-data'],
    receivedBody: formSchema,
    answers: {
      201: Type.Object({
        uploads: Type.Array(UploadSchema, { description: 'The uploads, in the order of the form.' }),
      }),
    },
    errors: uploadErrors,
    handle: async ({ request, query, services }) => {
      const { keys } = services.config.current.objectstorage;
      const received: ReceivedFile[] = [];
      const purpose = purposeIn(registry, query);
      const { maxBytes: maxFileBytes } = services.fileReceiver.limitsOf(purpose?.rule);
      const refuseField = (field: string): never => {
        throw new AppError(
          'invalid_input',
          `The form has a field "${shortened(field)}"; files are taken from ${keys.join(', ')}.`,
        );
      };
      try {
        await readForm(
          request.raw,
          { maxFiles, maxFileBytes, maxTexts: 1, maxTextBytes: 1_024 },
          {
            onText: (field) => {
              if (!keys.includes(field)) refuseField(field);
              throw new AppError(
                'invalid_input',
                `The field "${shortened(field)}" has a text and no file. ${fileHint}`,
              );
            },
            onFile: ({ field, ...file }) => {
              if (!keys.includes(field)) refuseField(field);
              return async () => {
                const incoming = { ...file, purpose, lifetimeMs: uploadLifetimeMs };
                received.push(await receiveFile(request, services, incoming));
              };
            },
          },
        );
      } catch (error) {
        await giveUpUploads(request, services, received, error);
        throw error;
      }
      if (received.length === 0)
        throw new AppError('invalid_input', `The form has no file; send one in the field ${keys.join(' or ')}.`);
      return { status: 201, body: { uploads: received.map(uploadAnswer) } };
    },
  });
