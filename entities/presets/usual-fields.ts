import { json, member, text } from '../kit/model/fields.ts';

/** The person who creates the record, which stays when they leave. */
export const creatorField = (description: string) =>
  member(description, {
    optional: true,
    immutable: true,
    onLeave: 'keep',
    creator: true,
    exposed: 'read',
    lists: ['filter'],
  });

/** Some lines about the record, which searches read. */
export const descriptionField = (description: string) =>
  text(description, { max: 2_000, lines: true, optional: true, exposed: 'read-write', lists: ['search'] });

export const customData = json('Custom data of API clients, as JSON. The server stores it and does not interpret it.', {
  maxBytes: 16_384,
  optional: true,
  exposed: 'read-write',
});
