import type { Locale } from '#entities/kit/base/localized.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import { topicOf, type EventSource, type PayloadOf, type VerbOf } from '#entities/kit/model/events.ts';
import type { Occasion, Person } from './audience.ts';
import type { SentChannelName } from './channels.ts';

/** An event and its record, as they are at the notification. */
export interface NotificationContext<Kind = EntityModule, Payload = unknown> extends Occasion<Payload> {
  readonly record: RowOf<Kind>;
  readonly actorName: string;
}

/** A record of one of the kinds that notifications can be about (entities/notifications/notification.ts). */
export interface NotificationTarget {
  readonly module: EntityModule;
  readonly id: string;
}

type Values<Name extends string> = Readonly<Record<Name, string>>;

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
  /** Recipients and event, for the documentation. */
  readonly description: string;
  /** Possible recipients. People who cannot view the record, are not members, or have acted are left out afterwards. */
  readonly audience: (context: NotificationContext<Kind, Payload>) => readonly Person[] | Promise<readonly Person[]>;
  /** Whether the person who acted is notified as well: they wait for what the server does for them. */
  readonly tellsActor?: true;
  readonly text: NotificationText;
  /** Values of the variables, in the way in which one of the recipients reads dates and numbers. Empty: there is none. */
  readonly values: (
    context: NotificationContext<Kind, Payload>,
  ) => ((locale: Locale) => Values<NoInfer<Name>>) | Promise<(locale: Locale) => Values<NoInfer<Name>>>;
  /** Whether it is still to be sent to a recipient, of the record as it is now; always when left out. */
  readonly stillApplies?: (record: RowOf<Kind>, reader: Reader) => boolean;
  /** Values as they could be, for previews. Its names are the variables of texts of organizations. */
  readonly sample: Values<Name>;
  /** The record that it is about, if it is not that of the event: people who may not view it are not notified. */
  readonly target?: (context: NotificationContext<Kind, Payload>) => NotificationTarget;
  /** Path of the page of the record, below `ormconfig.notifications.consoleurl`. */
  readonly link: (record: NotificationTarget) => string;
  /** Such notifications, for the sentence “no more e-mails about …”: the link to unsubscribe of its e-mails ends them. */
  readonly unsubscribesFrom: string;
  /** Channels besides the list in the app for people without a preference; e-mail when left out. */
  readonly channels?: readonly SentChannelName[];
  /** Messages about it go before others. */
  readonly isUrgent?: true;
}

/** Notification of one event: a mail that people can choose, with an entry in the list of the app. */
export interface NotificationKind extends Definition<EntityModule, unknown, string> {
  readonly topic: string;
  /** The kind of the event's record, which the notification is about. */
  readonly about: EntityModule;
  readonly channels: readonly SentChannelName[];
}

/** A notification of an event that the kind declares. Its file is named after the topic, as in `task-assigned.mail.ts`. */
export function defineNotification<
  Kind extends EntityModule & EventSource,
  const Verb extends VerbOf<Kind>,
  const Name extends string,
>(about: Kind, verb: Verb, definition: Definition<Kind, PayloadOf<Kind, Verb>, Name>): NotificationKind {
  return {
    channels: ['email'],
    // It is made for events of this topic only, whose payloads are written under the same declaration.
    ...(definition as unknown as Definition<EntityModule, unknown, string>),
    topic: topicOf(about, verb),
    about,
  };
}
