import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { RecordSelection } from '#entities/kit/read/selection.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { shortened } from '#entities/kit/base/shortened.ts';

/** Follows the version in the entity tag of a record about which a proposal is open. */
export const openSuffix = '-proposal';

/** Version in an entity tag of ours. */
const versionTag = new RegExp(`^([1-9]\\d{0,9})(?:${openSuffix})?$`);

/** An element of a list of entity tags (RFC 9110, section 8.8.3) and what separates it from the next one. */
const element = /[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)/y;

/** Values of an answer that its entity tag names. */
interface Tagged {
  readonly record_version?: unknown;
  /** A proposal opens and ends without a new version of the record. */
  readonly has_open_proposal?: unknown;
}

/** Sends the entity tag of a record: its version, and whether a proposal about it is open. */
export function sendEntityTag(reply: FastifyReply, { record_version: version, has_open_proposal }: Tagged): string {
  const etag = `"${String(version)}${has_open_proposal === true ? openSuffix : ''}"`;
  void reply.header('etag', etag);
  return etag;
}

export const notModified = Type.Null({
  description: 'The answer would be the one with the entity tag in `If-None-Match`.',
});

/** Noted with each use, without a new version of the record (`last-seen-rows.ts`, `last-event-rows.ts`, `token-use.ts`). */
const notedFields: ReadonlySet<string> = new Set([
  'last_event_at',
  'last_event_error',
  'last_event_id',
  'last_event_status',
  'last_organization_id',
  'last_seen_at',
  'last_used_at',
]);

/** Whether everything in the answer follows from its entity tag, so that who has it needs no other one. */
export function hasWholeVersion({ parts }: RecordSelection): boolean {
  return parts.every(({ is, as }) => is === 'openProposal' || (is === 'value' && !notedFields.has(as)));
}

/** Values in the JSON text of a record that its entity tag names. Only ids and times stand before them, so the first match is the record's own. */
export function taggedIn(json: string): Tagged {
  const [, version, isOpen] = /"record_version":\s?(\d+)(?:,"has_open_proposal":\s?(true|false))?/.exec(json) ?? [];
  return { record_version: version, has_open_proposal: isOpen === 'true' };
}

interface Accepted {
  readonly versions: readonly number[];
  /** The first weak entity tag of a version, which would match if it were a strong one. */
  readonly weak?: string;
}

/**
 * The versions that the header If-Match accepts, whether a proposal is open or not; undefined: any. Weak entity tags match none (RFC 9110, section 13.1.1).
 * @throws AppError malformed_request
 */
function acceptedVersions(header: string): Accepted | undefined {
  if (header.trim() === '*') return undefined;
  const versions: number[] = [];
  let firstWeak: string | undefined;
  element.lastIndex = 0;
  do {
    const [found, weak, tag = ''] = element.exec(header) ?? [];
    if (found === undefined)
      throw new AppError(
        'malformed_request',
        `The header If-Match must be * or entity tags in double quotes, such as "3"; it is ${shortened(header)}.${quotedHint(header)}`,
      );
    const [, version] = versionTag.exec(tag) ?? [];
    if (version === undefined) continue;
    if (weak === undefined) versions.push(Number(version));
    else firstWeak ??= tag;
  } while (element.lastIndex < header.length);
  return { versions, ...(firstWeak === undefined ? {} : { weak: firstWeak }) };
}

/** For a header with versions that are not in double quotes: the header that was meant; else empty. */
function quotedHint(header: string): string {
  const versions = header.split(',').map((part) => /^\s*["']?(\d{1,10})["']?\s*$/.exec(part)?.[1]);
  return versions.includes(undefined) ? '' : ` Send ${versions.map((version) => `"${version}"`).join(', ')}.`;
}

/**
 * Makes a change that is based on the version in the header If-Match, and on the one in the input if there is one.
 * @param change gets the versions that it may be based on; undefined: any
 * @throws AppError precondition_failed when the record has another version than the header says
 */
export async function matching<T>(
  header: string | undefined,
  given: number | undefined,
  change: (versions: number | readonly number[] | undefined) => Promise<T>,
): Promise<T> {
  const accepted = header === undefined ? undefined : acceptedVersions(header);
  if (accepted === undefined) return change(given);
  const { versions, weak } = accepted;
  try {
    return await change(given === undefined ? versions : versions.filter((version) => version === given));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'stale_record') throw error;
    const hint = weak === undefined ? '' : ` The weak entity tag W/"${weak}" never matches: send "${weak}".`;
    throw new AppError('precondition_failed', `${error.message}${hint}`, { cause: error });
  }
}
