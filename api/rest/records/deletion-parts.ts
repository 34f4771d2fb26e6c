import { Type, type TObject, type TSchema } from 'typebox';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { dayOrInstant, versionSchema } from '../../http/request-schemas.ts';
import { laterDeletions, maxAnnouncedDays } from '../../people/announced-deletion.ts';
import { heldDeletionSchema } from './held-fields.ts';
import { ifMatch } from './if-match.ts';
import { matching } from './record-version.ts';

const notBefore = Type.Optional(
  dayOrInstant(
    `Announces the deletion instead: a day, which begins in UTC, or an instant (RFC 3339), at most ${maxAnnouncedDays} days from now. The response is 202, and POST /v1/organizations/{id}/keep takes it back.`,
  ),
);

const AnnouncedSchema = Type.Object(
  { deletion_not_before: Type.String({ format: 'date-time', description: 'When the organization is deleted.' }) },
  { description: 'The deletion is announced.' },
);

/** Query, responses and further errors of a deletion; some kinds can be deleted later. */
export function deletionParts({ kind, automation }: EntityModule): {
  readonly query: TObject;
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly errors: readonly ErrorCode[];
} {
  const isLater = laterDeletions[kind] !== undefined;
  const accepted = isLater ? AnnouncedSchema : automation && heldDeletionSchema;
  const parts = { record_version: versionSchema, ...(isLater ? { not_before: notBefore } : {}) };
  return {
    query: Type.Object(parts, { additionalProperties: false }),
    answers: accepted ? { 202: accepted, 204: Type.Null() } : { 204: Type.Null() },
    errors: isLater ? ['rule_violated'] : [],
  };
}

/** Announces a deletion if the request names a time. @returns undefined for a request that deletes now */
export async function announcedInstead(
  call: Call<unknown>,
  { kind }: EntityModule,
  id: string,
): Promise<RouteResponse | undefined> {
  const { record_version: version, not_before: at } = call.query as {
    readonly record_version?: number;
    readonly not_before?: string;
  };
  const announce = laterDeletions[kind];
  if (!announce || at === undefined) return undefined;
  const deletionNotBefore = await matching(ifMatch(call), version, (versions) =>
    announce(call, id, at, '/not_before', versions),
  );
  return { status: 202, body: { deletion_not_before: deletionNotBefore } };
}
