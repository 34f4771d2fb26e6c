import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { keepAnswer, reserveRequest } from '#entities/kit/access/request-keys.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { answerRights, hasAnswerRights, type AnswerRights } from './response/answer-rights.ts';
import type { Services } from './services.ts';

/** Header with which a client says that requests are the same one (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyHeader = 'idempotency-key';

/** Header of an answer that was kept. */
const replayedHeader = 'idempotency-replayed';

/** Time for which an answer is kept, in milliseconds. */
const lifetimeMs = 86_400_000;

/** Visible characters of ASCII; the draft encloses the key in quotation marks, which most clients leave out. */
const keyPattern = /^"?([\x21\x23-\x7e]{1,255})"?$/;

/** Schema of the header. Another key is refused where it is read, in words of its own. */
export const keySchema = { [describedKeyword]: { pattern: keyPattern.source } };

/** Headers that belong to an answer. */
const keptHeaders = ['content-type', 'etag', 'location'] as const;

/** The answer to a request, as it was sent. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A request whose answer is kept when its changes are committed. */
export interface KeyedRequest {
  readonly key: Buffer;
  readonly fingerprint: string;
}

/**
 * Reserves the key of a request until its transaction ends, so that it has its effect once.
 * @param operation what the key is for, besides its caller: method and route
 * @param input everything that the request asks for
 * @returns the answer that an earlier request with the key got; undefined if there is none, or no key
 * @throws AppError idempotency_key_in_use, idempotency_key_reused, idempotency_answer_withheld
 */
export async function earlierAnswer(
  request: FastifyRequest,
  { config }: Services,
  unit: UnitOfWork,
  { operation, input }: { readonly operation: string; readonly input: unknown },
): Promise<KeptAnswer | undefined> {
  const { core } = request;
  core.keyed = undefined;
  const sent = keyIn(request);
  if (sent === undefined) return undefined;
  const { kind, subjectId, organizationId, limits, tokenId, delegation, singleSignOnId } = core.caller;
  // A token with limits of its own must not get what its person was answered.
  const credential = limits === null ? null : tokenId;
  const scope = [kind, subjectId, organizationId, credential, delegation?.id ?? null, singleSignOnId, operation, sent];
  const key = hash('sha256', JSON.stringify(scope), 'buffer');
  const fingerprint = hash('sha256', JSON.stringify([request.url, input ?? null]), 'base64url');
  const earlier = await reserveRequest(unit, key);
  if (earlier.state === 'busy')
    throw new AppError(
      'idempotency_key_in_use',
      `Another request with the ${headerName} "${sent}" is under way; send this one again when it has been answered.`,
      { details: { retryAfterSeconds: 1 } },
    );
  if (earlier.state === 'new') {
    core.keyed = { key, fingerprint };
    unit.counters.listWritten();
    return undefined;
  }
  const { secret } = await openSecret(earlier.answer, sealing(config.current.sessions.encryptionkey, key));
  const kept = JSON.parse(secret) as KeptDocument;
  if (kept.fingerprint !== fingerprint)
    throw new AppError(
      'idempotency_key_reused',
      `The ${headerName} "${sent}" was sent with another request before; use a new key for each request.`,
    );
  if (!(await hasAnswerRights(unit, kept.rights)))
    throw new AppError(
      'idempotency_answer_withheld',
      `The request with the ${headerName} "${sent}" has had its effect. Its answer is not sent again: since then your rights have changed, or a record of it was deleted or is no longer visible to you.`,
    );
  return kept;
}

/** Stored and sealed content. */
interface KeptDocument extends KeptAnswer, Pick<KeyedRequest, 'fingerprint'> {
  readonly rights: AnswerRights;
}

const headerName = 'Idempotency-Key';

/** The refusal of a key where no answer is kept: the client would believe that it can send its request again. */
export function refusedKey(reason: string): AppError {
  const message = `cannot be sent here: ${reason}, so the answer is not kept. Leave the header out`;
  return inputError([{ path: `/${headerName}`, message }]);
}

/** @throws AppError invalid_input */
function keyIn({ headers }: FastifyRequest): string | undefined {
  const header = headers[idempotencyHeader];
  if (header === undefined) return undefined;
  const [, key] = keyPattern.exec(String(header)) ?? [];
  if (key !== undefined) return key;
  const message = 'must have 1 to 255 visible characters of ASCII, such as a random UUID, for each request';
  throw inputError([{ path: `/${headerName}`, message }]);
}

function sealing(secrets: string, key: Buffer) {
  return { secrets, purpose: 'idempotent-answer', subject: key.toString('hex') } as const;
}

/** Keeps the answer of a keyed request in its transaction, which is committed next. Errors are never kept. */
export async function keep(
  unit: UnitOfWork,
  { key, fingerprint }: KeyedRequest,
  answer: KeptAnswer,
  { config }: Services,
): Promise<void> {
  const document: KeptDocument = { fingerprint, rights: await answerRights(unit), ...answer };
  const sealed = await sealSecret(JSON.stringify(document), sealing(config.current.sessions.encryptionkey, key));
  await keepAnswer(unit, key, sealed, lifetimeMs);
}

/** The answer of a route as it is sent. */
export function sentAnswer(reply: FastifyReply, text: string): KeptAnswer {
  const headers = keptHeaders.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status: reply.statusCode, headers: Object.fromEntries(headers), text };
}

/** Sets the headers of an answer that was kept. */
export function replayHeaders(reply: FastifyReply, { headers }: KeptAnswer): void {
  void reply.headers({ ...headers, [replayedHeader]: 'true' });
}
