import { sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';
import { mails, notificationKinds } from '../mails/index.ts';
import type { Listener } from './listener.ts';
import { mailListeners } from './mail-listeners.ts';
import { notifyListener } from './notifications/notify.ts';

const modules = await sourceModules('activities/listeners', '.listener.ts');

/**
 * Every listener of the product: those of each `activities/listeners/<area>/<name>.listener.ts`, and those of mails and notifications.
 * Events whose topic none of them names are recorded, but start nothing.
 */
export const listeners: readonly Listener[] = [
  ...mailListeners(mails),
  ...notificationKinds.map(notifyListener),
  ...modules.flatMap(listenersIn),
];

/** @throws TypeError when a file exports no listener */
export function listenersIn({ path, exports }: SourceModule): Listener[] {
  const found = Object.values(exports).filter(isListener);
  if (found.length === 0) throw new TypeError(`${path} must export a listener`);
  return found;
}

function isListener(value: unknown): value is Listener {
  return typeof value === 'object' && value !== null && 'deliver' in value;
}
