import { basename } from 'node:path';
import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';
import type { Mail } from './define-mail.ts';
import type { NotificationKind } from './define-notification.ts';

const suffix = '.mail.ts';

/** Every mail and notification of the product: each `activities/mails/<area>/<name>.mail.ts`. */
const declared = declaredIn(await sourceModules('activities/mails', suffix));

/** All notifications: mails that people can choose. */
export const notificationKinds: readonly NotificationKind[] = declared.filter(isNotification);

/** All other mails. */
export const mails: readonly Mail[] = declared.filter((one): one is Mail => !isNotification(one));

const byName = new Map(mails.map((mail) => [mail.name, mail]));

/** The mail with this name; undefined for one that this release does not have. */
export function mailNamed(name: string): Mail | undefined {
  return byName.get(name);
}

/** @throws TypeError when a file declares no mail or several, or has another name than its mail */
export function declaredIn(modules: readonly SourceModule[]): readonly (Mail | NotificationKind)[] {
  return soleExports(modules, 'mail or notification', isDeclared).map(({ path, value: mail }) => {
    const name = isNotification(mail) ? mail.topic.replaceAll(/[._]/g, '-') : mail.name;
    if (basename(path, suffix) !== name) throw new TypeError(`${path} must be named ${name}${suffix}`);
    return mail;
  });
}

function isDeclared(value: unknown): value is Mail | NotificationKind {
  return typeof value === 'object' && value !== null && 'listener' in value && 'text' in value;
}

function isNotification(declared: Mail | NotificationKind): declared is NotificationKind {
  return 'topic' in declared;
}
