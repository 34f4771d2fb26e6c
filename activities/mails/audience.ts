import { personIn, type Role } from '#entities/kit/model/caller.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { membership } from '#entities/organizations/membership.ts';
import { managerRoles } from '#entities/presets/roles.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { StartInput } from '#workflows/kit/contract.ts';

/** An event, for the decision who is notified of it. */
export interface Occasion<Payload = EventRow['payload']> {
  readonly event: Omit<EventRow, 'payload'> & { readonly payload: Payload };
  /** Scoped to the organization of the event. */
  readonly unit: UnitOfWork;
  /** Identifies the delivery of the event to a listener, the same at every attempt: `<event>/<listener>`. */
  readonly key: string;
}

/** A recipient of a mail, with the records that it is about. */
export type Addressee = Omit<StartInput<SendEmailInput>, 'key' | 'template' | 'priority'> & {
  /** Key that several events share which cause one mail; that of the delivery when left out. */
  readonly key?: string;
};

/** A recipient who has an account. */
export type Person = Addressee & { readonly userId: string };

export type Audience<Payload> = (occasion: Occasion<Payload>) => readonly Addressee[] | Promise<readonly Addressee[]>;

export function actor({ event }: Occasion<unknown>): Person[] {
  return personIn(event.actor).map((userId) => ({ userId }));
}

export function personOfRecord({ event }: Occasion<unknown>): Person[] {
  return [{ userId: event.entityId }];
}

export function personOfPayload({ event }: Occasion<{ readonly userId: string }>): Person[] {
  return [{ userId: event.payload.userId }];
}

export function peopleOfPayload({ event }: Occasion<{ readonly userIds: readonly string[] }>): Person[] {
  return event.payload.userIds.map((userId) => ({ userId }));
}

/** Nobody by name: the record of the event has the address (`to`). */
export function addressOfRecord({ event }: Occasion<unknown>): Addressee[] {
  return [{ about: { id: event.entityId, round: 1 } }];
}

const maxOwners = 20;

/** Maximum number of people of whom one has to act. */
export const maxManagers = 100;

export function owners({ unit }: Pick<Occasion, 'unit'>): Promise<Person[]> {
  return membersWith(unit, ['owner'], maxOwners);
}

/** The people who manage the whole organization. */
export function managers({ unit }: Pick<Occasion, 'unit'>): Promise<Person[]> {
  return membersWith(unit, managerRoles, maxManagers);
}

/**
 * The owners of the organization of an event, and the person who acted: they notice what they did not expect.
 * @param recordId of the record that the mail is about; that of the event when left out
 */
export async function peopleInCharge(occasion: Occasion<unknown>, recordId?: string): Promise<Person[]> {
  const people = [...(await owners(occasion)), ...actor(occasion)];
  return [...new Set(people.map(({ userId }) => userId))].map((userId) => aboutRecord(occasion, userId, recordId));
}

/** A person who gets a mail of the organization about a record: that of the event, unless another is named. */
export function aboutRecord(
  { event: { entityId, organizationId }, key }: Occasion<unknown>,
  userId: string,
  recordId = entityId,
): Person {
  return {
    key: `${key}/${userId}`,
    userId,
    about: { id: recordId, round: 1 },
    ...(organizationId === null ? {} : { organizationId }),
  };
}

export async function membersWith({ data }: UnitOfWork, roles: readonly Role[], limit: number): Promise<Person[]> {
  const found = await data.find(membership, { where: { role: { in: [...roles] } }, limit });
  return found.map(({ userId }) => ({ userId }));
}
