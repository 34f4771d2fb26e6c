import type { Listener } from '#activities/listeners/listener.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import { asOwner } from '../as-owner.ts';
import type { World } from '../world.ts';

export interface Announcement {
  readonly topic: string;
  readonly entityId?: string;
  readonly recordVersion?: number;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export interface AnnounceOptions {
  readonly requestId?: string;
  readonly traceparent?: string;
}

/**
 * Records events in one transaction, as a request does that announces something.
 * @returns the id of the request
 */
export async function announce(
  { runtime: { database } }: { readonly runtime: { readonly database: Database } },
  events: readonly Announcement[],
  { requestId = newId(), traceparent }: AnnounceOptions = {},
): Promise<string> {
  const context = { caller: systemCaller('test'), requestId, ...(traceparent ? { traceparent } : {}) };
  await database.transact(context, async (unit) => {
    for (const event of events) {
      unit.emit({
        entityKind: event.topic.slice(0, event.topic.indexOf('.')),
        entityId: newId(),
        recordVersion: 1,
        organizationId: null,
        ...event,
      });
    }
  });
  return requestId;
}

/** A listener that notes what it was given, in order. */
export interface NotingListener extends Listener {
  readonly seen: EventRow[];
}

/** @param deliver runs before an event is noted; throwing keeps it from being noted */
export function notingListener(
  name: string,
  topics: readonly string[],
  deliver: Listener['deliver'] = () => {},
): NotingListener {
  const seen: EventRow[] = [];
  return {
    name,
    topics,
    seen,
    deliver: async (delivery) => {
      await deliver(delivery);
      seen.push(delivery.event);
    },
  };
}

export interface StoredEvent {
  readonly id: string;
  readonly topic: string;
  readonly entityId: string;
  readonly organizationId: string | null;
  readonly requestId: string;
  readonly pending: boolean;
  readonly batchId: string | null;
  readonly isSettled: boolean;
}

/** Stored events, oldest first. */
export function storedEvents(world: Pick<World, 'databaseUrl'>, topic = '%'): Promise<StoredEvent[]> {
  return asOwner<StoredEvent>(
    world,
    `select id, topic, entity_id as "entityId", organization_id as "organizationId", request_id as "requestId", pending,
       batch_id as "batchId", settled_at is not null as "isSettled"
     from events where topic like $1 order by occurred_at, id`,
    [topic],
  );
}

export interface StoredDelivery {
  readonly eventId: string;
  readonly listener: string;
  readonly state: string;
  readonly error: string | null;
}

/** The delivery rows of one listener, of one record or of all, in the order of their events. */
export function storedDeliveries(
  world: Pick<World, 'databaseUrl'>,
  listener: string,
  entityId = '%',
): Promise<StoredDelivery[]> {
  return asOwner<StoredDelivery>(
    world,
    `select d.event_id as "eventId", d.listener, d.state, d.error from event_deliveries d
     left join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.listener = $1 and d.entity_id like $2 order by d.entity_id, e.record_version, d.event_id`,
    [listener, entityId],
  );
}

/** Whether every event somebody wants has been delivered or given to a workflow of its own. */
export async function isSettled(world: Pick<World, 'databaseUrl'>): Promise<boolean> {
  const open = await asOwner(world, 'select 1 from events where pending and settled_at is null limit 1');
  return open.length === 0;
}
