import type { OpeningContext } from '../definition.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { askAsApp, asking } from './app-client.ts';
import { codeHostEvents } from './code-host-events.ts';

const pageSize = 100;

/** Attempts to deliver an event, after which it is left: what it reports is read with the next pass. */
const maxAttempts = 5;

/** Most pages of deliveries that are read, newest first. */
const maxPages = 100;

/** An attempt of the code host to deliver an event. */
export interface DeliveryAttempt {
  readonly id: string;
  /** Id of the event, which all attempts have in common. */
  readonly guid: string;
  readonly isDelivered: boolean;
  /** `<event>.<action>`. */
  readonly type: string;
}

/** The attempts since a time, newest first. @throws ProviderError */
export async function readDeliveries(context: OpeningContext, since: Date): Promise<DeliveryAttempt[]> {
  const ask = await askAsApp(context);
  const attempts: DeliveryAttempt[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const parameters = { per_page: pageSize, ...(cursor === undefined ? {} : { cursor }) };
    const { data, headers } = await asking(() => ask('GET /app/hook/deliveries', parameters));
    if (!Array.isArray(data)) throw invalidAnswer('its answer is no page of deliveries');
    for (const given of data as readonly unknown[]) {
      const { at, attempt } = attemptOf(given);
      if (at < since.getTime()) return attempts;
      attempts.push(attempt);
    }
    const next = nextCursor(headers.link);
    if (next === undefined) return attempts;
    if (next === cursor) throw invalidAnswer('its page names itself as the next one');
    cursor = next;
  }
  return attempts;
}

/**
 * The newest attempt of each event that is acted on and was never delivered.
 * @param attempts newest first
 * @returns ids, those of the oldest events first: the last one that arrives says how it is now
 */
export function attemptsToRepeat(attempts: readonly DeliveryAttempt[]): readonly string[] {
  const ids = [...Map.groupBy(attempts, ({ guid }) => guid).values()].flatMap((ofEvent) => {
    const [newest] = ofEvent;
    const isLeft =
      !newest ||
      !codeHostEvents.has(newest.type) ||
      ofEvent.length >= maxAttempts ||
      ofEvent.some(({ isDelivered }) => isDelivered);
    return isLeft ? [] : [newest.id];
  });
  return ids.toReversed();
}

/** Has an event delivered again. @throws ProviderError */
export async function repeatDelivery(context: OpeningContext, id: string): Promise<void> {
  const ask = await askAsApp(context);
  // The library types ids as numbers, and writes what it gets into the path.
  const delivery_id = id as unknown as number;
  await asking(() => ask('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id }));
}

function attemptOf(given: unknown): { readonly at: number; readonly attempt: DeliveryAttempt } {
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const { id, guid, delivered_at: deliveredAt, status_code: status, event, action } = values;
  const at = typeof deliveredAt === 'string' ? Date.parse(deliveredAt) : Number.NaN;
  if (typeof id !== 'string' || !/^\d{1,20}$/.test(id) || typeof guid !== 'string' || Number.isNaN(at))
    throw invalidAnswer('a delivery has no id or no time');
  const isDelivered = typeof status === 'number' && status >= 200 && status < 300;
  return { at, attempt: { id, guid, isDelivered, type: `${String(event)}.${String(action)}` } };
}

/** The position in the link to the next page (RFC 8288). Its URL is not used. */
function nextCursor(link = ''): string | undefined {
  const url = URL.parse(/<([^<>]+)>;\s*rel="next"/.exec(link)?.[1] ?? '');
  return url?.searchParams.get('cursor') ?? undefined;
}
