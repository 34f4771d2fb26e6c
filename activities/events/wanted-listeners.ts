import type { Config } from '#config/objects/root.ts';
import { chatTarget } from '../clients/chat/chat-target.ts';
import type { Listener } from '../listeners/listener.ts';

/** The listeners that are given events with these settings. */
export function wantedListeners(listeners: readonly Listener[], config: Config): readonly Listener[] {
  const settings = { hasChat: chatTarget(config, {}) !== undefined, hasBilling: config.subscription.enabled };
  return listeners.filter(({ isWanted }) => isWanted?.(settings) ?? true);
}
