import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { recordNames } from './record-names.ts';

/** Schema of `heldIn`. */
export const heldSchema = Type.Array(
  Type.Object({
    field: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the field; null: the deletion of the record is held.',
    }),
    message: Type.String({ description: 'The reason, as text for people.' }),
  }),
  { description: 'Fields of the change that are held: they keep their values for now. All others are written.' },
);

/** Schema of the response to a deletion that is held. */
export const heldDeletionSchema = Type.Object(
  { held: heldSchema },
  { title: 'HeldDeletion', description: 'The deletion is held: the record is there until people approve it.' },
);

/** Names the proposals that hold parts of changes of these records, in the header Link (RFC 8288). */
export function linkProposals(ids: readonly string[], { data, registry }: UnitOfWork, reply: FastifyReply): void {
  const paths = data.heldOf(ids).flatMap(({ proposal }) => {
    return proposal ? [`${recordNames(registry.byKind(proposal.kind)).path}/${proposal.id}`] : [];
  });
  const links = [...new Set(paths)].map((path) => `<${path}>; rel="related"`);
  const others = [reply.getHeader('link') ?? []].flat().map(String);
  if (links.length > 0) void reply.header('link', [...others, ...links].join(', '));
}

/** Fields of these records that their change has not written. */
export function heldIn(ids: readonly string[], { data }: UnitOfWork) {
  return data.heldOf(ids).map(({ field, message }) => ({ field: field === null ? null : snakeCase(field), message }));
}
