import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import type { UploadPurpose } from '#entities/kit/model/files/upload-purpose.ts';
import { maxFormFiles as maxFiles } from '#entities/kit/objects/stored-object.ts';
import { signInFirst } from '../http/plugins/sign-in-first.ts';
import { recheckCaller } from '../http/request-caller.ts';
import type { Services } from '../http/services.ts';
import { readForm, refuseLongForm } from '../http/streams/multipart.ts';
import { giveUpUploads, receiveFile, type ReceivedFile } from '../http/streams/receive-file.ts';
import { checkValueCount } from '../http/limits/value-limit.ts';
import { variablePurposes, type VariablePurposes } from './documents/variable-purposes.ts';

/** Media type of operations with files (GraphQL multipart request specification). */
export const formType = 'multipart/form-data';

const maxTextBytes = mebibyte;

/** How long a mutation can take a file that came with it, in milliseconds. */
const lifetimeMs = 3_600_000;

/** Uploads that came with a request. */
const received = new WeakMap<FastifyRequest, ReceivedFile[]>();

/** A place among the variables that waits for a file. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  /** The field that the operation gives the file to; undefined where it does not say. */
  readonly purpose: UploadPurpose | undefined;
}

export function isForm({ headers }: FastifyRequest): boolean {
  return /^multipart\/form-data\b/iu.test(headers['content-type'] ?? '');
}

/**
 * Reads an operation with files before it is validated: each file is stored, and its variable gets the id of the upload, so the operation
 * runs as one without files would, also when it is repeated.
 */
export function readsForms(services: Services, schema: GraphQLSchema): preValidationAsyncHookHandler {
  return async (request) => {
    if (!isForm(request)) return;
    await recheckCaller(request, services);
    if (request.core.caller === anonymousCaller) throw signInFirst();
    const form = new OperationForm(schema);
    const limits = { maxFiles, maxFileBytes: services.fileReceiver.maxBytes, maxTexts: 2, maxTextBytes };
    const limitsOf = (place: Place) => services.fileReceiver.limitsOf(place.purpose?.rule);
    const files: ReceivedFile[] = [];
    received.set(request, files);
    try {
      await readForm(request.raw, limits, {
        onText: (field, value) => {
          form.takeText(field, value);
          const known = form.places.map((place) => limitsOf(place).maxBytes);
          if (known.length > 0)
            refuseLongForm(request.raw, { ...limits, maxFiles: known.length, maxFileBytes: Math.max(...known) });
        },
        onFile: ({ field, ...file }) => {
          const place = form.takePlace(field);
          return async () => {
            const one = await receiveFile(request, services, { ...file, purpose: place.purpose, lifetimeMs });
            files.push(one);
            place.holder[place.key] = one.id;
          };
        },
      });
      request.body = form.finish();
    } catch (error) {
      await giveUpUploads(request, services, files, error);
      throw error;
    }
  };
}

/** Frees the files of an operation that has failed. */
export async function releaseForm(request: FastifyRequest, services: Services): Promise<void> {
  const files = received.get(request);
  if (!files || request.core.unit?.state === 'committed') return;
  const reason = new AppError('invalid_input', 'The operation that the file came with has failed; send it again.');
  await giveUpUploads(request, services, files, reason);
}

/** The texts of a form: the operation first, then which of its variables each file is for. */
class OperationForm {
  readonly #schema: GraphQLSchema;
  #operation: Record<string, unknown> | undefined;
  #places: Map<string, Place> | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Places that wait for their files. */
  get places(): readonly Place[] {
    return [...(this.#places?.values() ?? [])];
  }

  takeText(field: string, value: string): void {
    if (field === 'operations' && !this.#operation) {
      const operation = jsonObject(field, value);
      checkValueCount(operation);
      this.#operation = operation;
    } else if (field === 'map' && this.#operation && !this.#places) {
      const purposes = variablePurposes(this.#schema, this.#operation);
      this.#places = placesOf(jsonObject(field, value), this.#operation, purposes);
    } else {
      throw invalid(`The form must begin with "operations" and "map", and then have only files; it has "${field}".`);
    }
  }

  /** The place for the file of a field. */
  takePlace(field: string): Place {
    const place = this.#places?.get(field);
    if (!place)
      throw invalid(
        `The file "${shortened(field)}" came before "map", is not named by it, or came twice. Send "operations" first, then "map", such as {"0":["variables.file"]}, then each file once.`,
      );
    this.#places?.delete(field);
    return place;
  }

  finish(): unknown {
    if (!this.#operation || !this.#places) throw invalid('The form must have "operations" and "map".');
    const [missing] = this.#places.keys();
    if (missing !== undefined) throw invalid(`The form has no file "${missing}", which "map" names.`);
    return this.#operation;
  }
}

function placesOf(
  map: Record<string, unknown>,
  operation: Record<string, unknown>,
  purposes: VariablePurposes,
): Map<string, Place> {
  const entries = Object.entries(map);
  if (entries.length > maxFiles) {
    const message = `names more than ${maxFiles} files`;
    throw limitExceeded(`An operation may have ${maxFiles} files at most.`, { path: '/map', message });
  }
  const taken = new Set<string>();
  return new Map(
    entries.map(([field, paths]) => {
      const path: unknown = Array.isArray(paths) && paths.length === 1 ? paths[0] : undefined;
      if (typeof path !== 'string')
        throw invalid(
          `"map" must give each file the path of one variable, such as ["variables.file"]; see "${field}".`,
        );
      if (taken.has(path)) throw invalid(`"map" gives several files to "${path}".`);
      taken.add(path);
      return [field, placeAt(operation, path, purposes)] as const;
    }),
  );
}

function placeAt(operation: Record<string, unknown>, path: string, purposes: VariablePurposes): Place {
  const keys = path.split('.');
  const key = keys.pop() ?? '';
  let holder: unknown = keys[0] === 'variables' ? operation : undefined;
  for (const each of keys) holder = isHolder(holder) && Object.hasOwn(holder, each) ? holder[each] : undefined;
  if (!isHolder(holder) || !Object.hasOwn(holder, key) || holder[key] !== null)
    throw invalid(`"map" names "${path}", where "operations" has no null to put a file.`);
  return { holder, key, purpose: purposes(path.split('.').slice(1)) };
}

/** Objects and lists; the keys of a list are the numbers of its items. */
function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function jsonObject(field: string, text: string): Record<string, unknown> {
  try {
    const value = parseStrictJson(text);
    if (isHolder(value) && !Array.isArray(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    throw new AppError('malformed_body', `The form field "${field}" is not valid JSON: ${error.message}.`, {
      cause: error,
    });
  }
  throw invalid(`The form field "${field}" must be a JSON object.`);
}

function invalid(message: string): AppError {
  return new AppError('invalid_input', message);
}
