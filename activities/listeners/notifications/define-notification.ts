import type { Locale } from '#entities/kit/base/localized.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { topicOf, type EventSource, type PayloadOf, type VerbOf } from '#entities/kit/model/events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SentChannelName } from './channels.ts';

/** An event and its record, as they are at the notification. */
export interface NotificationContext<Kind = EntityModule, Payload = unknown> {
  readonly record: RowOf<Kind>;
  readonly payload: Payload;
  /** Caller who caused the event, as in history. */
  readonly actor: string;
  /** The same as people read it: a name. */
  readonly actorName: string;
  readonly unit: UnitOfWork;
}

type Values<Name extends string> = Readonly<Record<Name, string>>;

/** Recipients of a notification, and its time. */
export interface Reader {
  readonly userId: string;
  readonly timeZone: string;
  readonly now: Date;
}

/** Its text, with variables as `{{name}}`. */
export interface NotificationText {
  readonly title: string;
  /** A line is left out where one of its variables is empty. */
  readonly body: readonly string[];
  /** Text about several at once, with the variable `{{count}}`. */
  readonly many: string;
}

interface Definition<Kind, Payload, Name extends string> {
  /** Name of the listener: kebab-case, unique; it is part of keys and ids and never changes. */
  readonly listener: string;
  /** Ids of the possible recipients. People who cannot view the record, are not members, or have acted are left out afterwards. */
  readonly audience: (told: NotificationContext<Kind, Payload>) => readonly string[] | Promise<readonly string[]>;
  /** Whether the person who acted is notified as well: they wait for what the server does for them. */
  readonly tellsActor?: true;
  readonly text: NotificationText;
  /** Values of the variables, in the way in which one of the recipients reads dates and numbers. Empty: there is none. */
  readonly values: (
    told: NotificationContext<Kind, Payload>,
  ) => ((locale: Locale) => Values<NoInfer<Name>>) | Promise<(locale: Locale) => Values<NoInfer<Name>>>;
  /** Whether it is still to be sent to a recipient, of the record as it is now; always when left out. */
  readonly stillApplies?: (record: RowOf<Kind>, reader: Reader) => boolean;
  /** Values as they could be, for previews. */
  readonly sample: Values<Name>;
  /** Path of the page of the record, below `ormconfig.notifications.consoleurl`. */
  readonly link: (record: { readonly id: string }) => string;
  /** Channels besides the list in the app for people without a preference. */
  readonly channels: readonly SentChannelName[];
  /** Messages about it go before others. */
  readonly isUrgent?: true;
}

/** Notification of one event. */
export interface NotificationKind extends Definition<EntityModule, unknown, string> {
  readonly topic: string;
  /** The kind of the event's record, which the notification is about. */
  readonly about: EntityModule;
}

/** A notification of an event that the kind declares. */
export function defineNotification<
  Kind extends EntityModule & EventSource,
  const Verb extends VerbOf<Kind>,
  const Name extends string,
>(about: Kind, verb: Verb, definition: Definition<Kind, PayloadOf<Kind, Verb>, Name>): NotificationKind {
  return {
    // It is made for events of this topic only, whose payloads are written under the same declaration.
    ...(definition as unknown as Definition<EntityModule, unknown, string>),
    topic: topicOf(about, verb),
    about,
  };
}
