import { GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { notification } from '#entities/notifications/notification.ts';
import type { PlacedChange } from '../../subscriptions/record-subscription.ts';
import { idsOfPage, inboxFilter, type PageOfIds } from '../../people/notification-inbox.ts';
import type { Types } from '../hand-written-field.ts';
import type { FieldConfig } from '../passthrough-field.ts';
import { ChangeStream } from './change-stream.ts';
import { afterDescription } from './record-changed-field.ts';
import { streaming, type StreamContext, type StreamSource } from './stream-field.ts';
import { selectionsOf, type SelectionsByName } from './visible-changes.ts';
import { asFound } from '../nodes.ts';

/** Notifications of one page while the earlier ones are sent. */
const pageSize = 50;

interface Message {
  readonly records: ReadonlyMap<string, unknown>;
  readonly cursor: string | null;
}

/** Hand-written, because it begins with what is in the inbox (`server.notificationlookbackdays`). */
export function notificationAddedField(types: Types): FieldConfig {
  return {
    type: new GraphQLNonNull(
      new GraphQLObjectType<Message>({
        name: 'NotificationAdded',
        description: 'A notification of the caller.',
        fields: {
          notification: {
            type: types.objectOf(notification),
            description:
              'The notification; null in the message after the earlier ones, and when only the cursor is new. One whose record the caller can no longer view is not sent.',
            resolve: ({ records }, _args, _context, info) => records.get(String(info.path.key)) ?? null,
          },
          cursor: {
            type: GraphQLString,
            description:
              'Cursor from which to continue after this message: `after` of a later subscription. Null while the earlier notifications are sent: a client that loses the connection then starts again.',
          },
        },
      }),
    ),
    description:
      'Notifications of the caller in the current organization. The earlier ones come first, in the order of their creation: all that are unread, and those that were read within the days of server.notificationlookbackdays. New ones follow as they are created.',
    args: { after: { type: GraphQLString, description: afterDescription } },
    extensions: streaming(async ({ after }, context): Promise<StreamSource> => {
      const selections = selectionsOf(context, 'notification', [notification]);
      const subscription = await context.hub.subscribe(
        context.connection,
        { kinds: [notification.topic], operations: new Set(['created'] as const) },
        after as string | null | undefined,
      );
      const earlier = after == null ? new EarlierNotifications(context, selections) : undefined;
      const stream = new ChangeStream({
        subscription,
        context,
        registry: types.registry,
        selections,
        isWanted: ({ change }: PlacedChange) => !earlier?.has(change.recordId),
        message: ({ records }, cursor): Message => ({ records, cursor }),
        positionMessage: (cursor): Message => ({ records: new Map(), cursor }),
      });
      if (!earlier) return stream;
      let isOver = false;
      return {
        next: async () => {
          const message = await earlier.next();
          if (message) return message;
          if (!isOver) {
            isOver = true;
            // So that the first cursor is behind the earlier ones that are new.
            await context.hub.told();
            subscription.passOver(({ recordId }) => earlier.has(recordId));
          }
          return stream.next();
        },
        close: (reason) => {
          earlier.close();
          stream.close(reason);
        },
      };
    }),
  };
}

/** Inbox at the start of a subscription. New ones are collected meanwhile, and those of them that were in it are not sent again. */
class EarlierNotifications {
  readonly #context: StreamContext;
  readonly #selections: SelectionsByName;
  readonly #sent = new Set<string>();
  readonly #waiting: Message[] = [];
  #after: string | undefined;
  #isDone = false;

  constructor(context: StreamContext, selections: SelectionsByName) {
    this.#context = context;
    this.#selections = selections;
  }

  has(id: string): boolean {
    return this.#sent.has(id);
  }

  /** @returns undefined when all were sent */
  async next(): Promise<Message | undefined> {
    while (this.#waiting.length === 0 && !this.#isDone) await this.#readPage();
    return this.#waiting.shift();
  }

  close(): void {
    this.#isDone = true;
    this.#waiting.length = 0;
  }

  async #readPage(): Promise<void> {
    const { read } = this.#context;
    const { ids, hasNextPage, endCursor } = await this.#ids();
    for (const id of ids) this.#sent.add(id);
    const found = new Map<string, Map<string, unknown>>();
    if (ids.length > 0)
      for (const [as, records] of this.#selections) {
        const nodes = await read((unit) =>
          unit.data.answers.singleStatementNodes(
            records,
            ids,
            ids.map(() => notification.topic),
          ),
        );
        for (const [index, node] of nodes.entries()) {
          const id = ids[index] ?? '';
          if (node) found.set(id, (found.get(id) ?? new Map<string, unknown>()).set(as, asFound(node)));
        }
      }
    for (const id of ids) {
      const records = found.get(id);
      if (records) this.#waiting.push({ records, cursor: null });
    }
    this.#after = endCursor ?? undefined;
    this.#isDone ||= !hasNextPage;
  }

  async #ids(): Promise<{ ids: readonly string[]; hasNextPage: boolean; endCursor: string | null }> {
    const { services, read } = this.#context;
    const { notificationlookbackdays } = services.config.current.server;
    const after = this.#after;
    const text = await read((unit) =>
      unit.data.answers.singleStatementPage({
        module: notification,
        filter: inboxFilter(notificationlookbackdays, services.clock.now()),
        orderBy: [{ field: 'createdAt', direction: 'asc' }],
        size: pageSize,
        from: 'first',
        ...(after === undefined ? {} : { after }),
        parts: idsOfPage,
      }),
    );
    const { records, pageInfo } = JSON.parse(text) as PageOfIds;
    return { ids: records.map(({ id }) => id), ...pageInfo };
  }
}
