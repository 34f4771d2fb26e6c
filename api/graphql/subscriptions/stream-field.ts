import type { GraphQLField } from 'graphql';
import type { StreamCaller } from '../../http/stream-caller.ts';
import type { Services } from '../../http/services.ts';
import type { SubscriberConnection, SubscriptionHub } from '../../subscriptions/subscription-hub.ts';
import type { SelectionInfo } from '../single-statement-query.ts';
import type { SelectionReader } from '../documents/selection-reader.ts';

/** The values of one subscription, each of which becomes a message. */
export interface StreamSource {
  /**
   * The next value; undefined at the end.
   * @throws AppError for which the subscription ends
   */
  next(): Promise<unknown>;
  /** Ends it, also while `next` waits. */
  close(reason: string): void;
}

/** Services of a subscription. */
export interface StreamContext {
  readonly services: Services;
  readonly hub: SubscriptionHub;
  readonly connection: SubscriberConnection;
  /** Reads as the caller is at that moment, when it is the turn of the organization. */
  readonly read: StreamCaller['read'];
  /** The selection of the field. */
  readonly info: SelectionInfo;
  /** The selected fields below the field, by name; each with the fields of one response name. */
  readonly selected: (name: string) => readonly { readonly as: string; readonly info: SelectionInfo }[];
  readonly readerOf: (info: SelectionInfo) => SelectionReader;
}

type OpenStream = (args: Readonly<Record<string, unknown>>, context: StreamContext) => Promise<StreamSource>;

const openStream = Symbol('open stream');

/** Extension of a field of the subscription type. */
export function streaming(open: OpenStream): { readonly [openStream]: OpenStream } {
  return { [openStream]: open };
}

export function streamOf({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): OpenStream | undefined {
  return (extensions as { readonly [openStream]?: OpenStream })[openStream];
}
