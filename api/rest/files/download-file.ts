import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { listFieldsOf } from '#entities/kit/model/behaviour.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { pascalCase } from '#entities/kit/base/snake-case.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { refuseBeyondLimits } from '#entities/kit/model/module-gate.ts';
import { isWithheld } from '#entities/kit/model/files/stored-file.ts';
import { providerNames, type OwnedObject } from '#entities/kit/objects/stored-object.ts';
import { WantedObject } from '#entities/kit/objects/wanted-object.ts';
import type { DownloadBases } from '#entities/kit/read/file-selection.ts';
import type { SidecarStatement } from '#entities/kit/unit/answer-work.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { StartError } from '#runtime/start-error.ts';
import type { DownloadLink } from '../../auth/download-link.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { findCallerAgain, secondFactorRequired } from '../../http/request-caller.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { redirectTo } from '../../http/response/download-link-to.ts';
import { fileAnswer } from '../../http/streams/file-answer.ts';
import type { StreamResponse } from '../../http/streams/stream-response.ts';
import { idSchema } from '../../http/request-schemas.ts';

/** The links that requests have shown. */
const links = new WeakMap<RequestContext, DownloadLink>();

const download = {
  method: 'GET',
  tag: 'Files',
  summary: 'Download a file',
  description:
    'The bytes of a file, or one range of them. Callers need the right to view the record of the file, or a link (`downloadUrl` in GraphQL), whose `token` is the only credential then: each use checks again whether the creator of the link may view the record. The document of an export also needs the scope to read the kind of its records. Files are offered for download; a link with disposition `INLINE` shows PDF, PNG, JPEG, GIF and WebP in the browser. `Range`, `If-Range` and `If-None-Match` work as in RFC 9110, `Repr-Digest` has the SHA-256.',
  access: 'public',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  params: Type.Object({ id: idSchema('Id of the file.') }),
  query: Type.Object(
    {
      token: Type.Optional(
        Type.String({ description: 'Token of a link. Other credentials are ignored then.', maxLength: 4_096 }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.String({ description: 'The whole file.' }),
    206: Type.String({ description: 'The requested range.' }),
    302: Type.Null({ description: 'The provider of the object storage has the bytes, at the address in `Location`.' }),
    304: Type.Null({ description: 'The file has the entity tag of `If-None-Match`.' }),
  },
  produces: 'application/octet-stream',
  errors: [
    'not_found',
    'unauthenticated',
    'second_factor_required',
    'permission_denied',
    'file_withheld',
    'range_not_satisfiable',
    'storage_unavailable',
    'storage_disabled',
  ],
  prepare: readLink,
  handle: answerDownload,
} as const satisfies Omit<Route, 'url' | 'operationId'>;

export const downloadFile = defineRoute({ ...download, url: '/v1/files/:id/download', operationId: 'downloadFile' });

/** Bases of the URLs of files, by provider. */
export function downloadBases({ storage }: Services): DownloadBases {
  return Object.fromEntries(providerNames.map((name) => [name, storage.baseUrl(name)]));
}

/** A path without characters that have a meaning in routes. */
const plainPath = /^(\/[\w.~-]+)*$/;

/**
 * The same route at the other paths of links to this server: those of each `baseurl` in `objectstorage.providers`.
 * @throws StartError for a path that this server answers otherwise, or cannot answer
 */
export function configuredDownloads(services: Services, isTaken: (path: string) => boolean): Route[] {
  const bases = Object.values(downloadBases(services));
  const paths = new Set(bases.map((base) => new URL(base).pathname.replace(/\/+$/, '')));
  return [...paths].flatMap((path) => {
    const url = `${path}/:id/download`;
    if (url === downloadFile.url) return [];
    if (!plainPath.test(path) || isTaken(url))
      throw new StartError(
        `objectstorage.providers has a baseurl with the path ${path}, ${isTaken(url) ? 'which has another purpose' : 'which is not plain'}: choose another one, such as /v1/files.`,
      );
    return [defineRoute({ ...download, url, operationId: `downloadFileAt${pascalCase(path)}` })];
  });
}

/** A link in the URL replaces all other credentials. A token that is no link of this server for this file identifies nobody. */
function readLink({ core, params, query }: FastifyRequest, { downloadLinks, defaultCaller }: Services): void {
  const { id } = params as { readonly id: string };
  const { token, ...others } = query as { readonly token?: unknown };
  // The validation refuses other parameters.
  if (!isId(id) || Object.keys(others).length > 0) return;
  if (token === undefined) {
    core.wanted = new WantedObject(id, { isLinked: false });
    return;
  }
  const link = typeof token === 'string' ? downloadLinks.open(id, token) : undefined;
  // While authentication is off there is no session that a link could name.
  if (!link || !core.token || !defaultCaller?.is(core.token)) core.token = link?.principal;
  if (!link) return;
  links.set(core, link);
  core.wanted = new WantedObject(id, { isLinked: true });
}

async function answerDownload(call: Call<unknown>) {
  const { request, reply, services, query } = call;
  const { storage } = services;
  const { core } = request;
  const isLinked = query['token'] !== undefined;
  // The caller is certain before anything is opened: what is opened is sent at once.
  const object = (await visibleOfKnown(call)) ?? (await visibleObject(call, isLinked));
  if (isWithheld(object.availability, core.caller, services.database.options.registry)) throw withheldFile(object);
  const link = links.get(core);
  // Conditional requests are about the entity tag of this server.
  const isPlain = request.method === 'GET' && request.headers['if-none-match'] === undefined;
  const location = link && isPlain ? await redirectTo(object, link, services) : undefined;
  if (location !== undefined) return redirection(location);
  return fileAnswer(request, object, link?.disposition ?? 'attachment', async (range) => {
    const content =
      (range && (await storage.readShort(object, range))) ??
      (await storage.openForRead(object, { signal: endOf(reply), ...(range ? { range } : {}) }));
    await useUp(link, content, request, services);
    return content;
  });
}

type Owner = Pick<OwnedObject, 'ownerKind' | 'ownerField' | 'ownerId'>;

/** Maximum number of objects whose owner is remembered. */
const maxKnown = 10_000;

/** The records that owned objects at their last download. */
const knownOwners = new LRUCache<string, Owner>({ max: maxKnown });

/**
 * The object if the caller is who is assumed, and may view the record that owned it at its last download, and that still owns it: all of it
 * in one round trip. Clients fetch large files range by range.
 */
async function visibleOfKnown({ request: { core }, unit }: Call<unknown>): Promise<OwnedObject | undefined> {
  const { wanted } = core;
  const owner = wanted && core.assumption && knownOwners.get(wanted.objectId);
  if (!owner) return undefined;
  const isOwner = await isHeldBy(wanted.objectId, owner, unit, {
    statement: wanted.statement,
    take: ([row]) => wanted.take(row?.[0] ?? null),
  });
  const { object } = wanted;
  const isSame =
    object?.ownerKind === owner.ownerKind && object.ownerField === owner.ownerField && object.ownerId === owner.ownerId;
  if (isOwner && isSame) return object;
  // It is read anew, in a unit of work of its own.
  await unit.rollback();
  core.unit = undefined;
  wanted.row = undefined;
  return undefined;
}

/** @throws AppError not_found, unauthenticated, second_factor_required */
async function visibleObject(call: Call<unknown>, isLinked: boolean): Promise<OwnedObject> {
  const { request, services } = call;
  const { core } = request;
  if (core.assumption) await findCallerAgain(request, services);
  if (!isLinked && core.caller === anonymousCaller) throw signInFirst();
  if (!isLinked && core.lacksSecondFactor) throw secondFactorRequired();
  const object = core.caller === anonymousCaller ? undefined : core.wanted?.object;
  if (!object || !(await isHeldBy(object.id, object, call.unit))) throw missingFile();
  knownOwners.set(object.id, object);
  return object;
}

/** Bytes are about to be sent: whatever was answered without bytes, such as HEAD, did not use the link. */
async function useUp(
  link: DownloadLink | undefined,
  content: Readable | Buffer,
  { core }: FastifyRequest,
  { database }: Services,
): Promise<void> {
  if (!link?.nonce) return;
  const { nonce, expiresAt } = link;
  try {
    if (!(await database.useLink({ nonce, expiresAt }, core.deadline))) throw missingFile();
  } catch (error) {
    if (!Buffer.isBuffer(content)) content.destroy();
    throw error;
  }
}

/**
 * Whether the caller may view the record now, and it has this object.
 * @throws AppError permission_denied for a document with records that are beyond the limits of the credential
 */
async function isHeldBy(
  objectId: string,
  { ownerKind, ownerField, ownerId }: Owner,
  unit: UnitOfWork,
  sidecar?: SidecarStatement,
): Promise<boolean> {
  const module = unit.registry.modules.find(({ topic }) => topic === ownerKind);
  if (!module) return false;
  const listed = listFieldsOf(module)?.kind;
  const parts = [{ as: 'held', field: ownerField }, ...(listed === undefined ? [] : [{ as: 'listed', field: listed }])];
  const selection = { module, parts: parts.map((part) => ({ is: 'value', ...part }) as const) };
  let json: string;
  try {
    json = await unit.data.answers.singleStatementRecord(selection, ownerId, sidecar);
  } catch (error) {
    if (isAppError(error) && (error.category === 'not_found' || error.category === 'denied')) return false;
    throw error;
  }
  const owner = JSON.parse(json) as { readonly held: string | null; readonly listed?: string };
  if (owner.held !== objectId) return false;
  const listedModule = unit.registry.modules.find(({ kind, topic }) => [kind, topic].includes(owner.listed ?? ''));
  if (listedModule) refuseBeyondLimits(listedModule, 'view', unit.context.caller);
  return true;
}

function redirection(location: string): StreamResponse {
  const headers = { location, 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' };
  return { status: 302, headers, length: 0 };
}

function withheldFile({ availability }: OwnedObject): AppError {
  const reason =
    availability === 'infected'
      ? 'A scanner has found the file infected.'
      : 'The organization withholds files until a scanner has found them clean; try again later.';
  return new AppError('file_withheld', reason);
}

/** The same for every reason: a file that does not exist, one of others, and a link that is no longer valid. */
function missingFile(): AppError {
  return new AppError(
    'not_found',
    'There is no such file (the address of each is in its url), or you may not download it, or the link has expired, was used, or has lost its right.',
  );
}

/** Aborted when the response has ended before its last byte. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const ended = new AbortController();
  if (raw.destroyed) ended.abort();
  else
    raw.once('close', () => {
      if (!raw.writableFinished) ended.abort();
    });
  return ended.signal;
}
